"""Stage three: compare the runs of a study, one factor at a time."""
