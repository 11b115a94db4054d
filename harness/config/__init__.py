"""What `conf/` may say, as types; how it is composed; factors, run names and paths."""
