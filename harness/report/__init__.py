"""Stage three: set the runs of a study side by side, one factor at a time."""
