"""Grading: a page where people say which answers and captions are right, and files to share it."""
