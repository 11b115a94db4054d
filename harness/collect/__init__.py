"""Stage one: run one variant on a study's test set."""
