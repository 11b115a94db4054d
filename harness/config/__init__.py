"""The settings as types, their composition from `conf/`, factors, run names and paths."""
