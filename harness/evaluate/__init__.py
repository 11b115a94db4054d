"""Stage two: a judge labels the answers, and metrics are computed from the labels."""
