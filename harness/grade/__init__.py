"""Grading: a page where people grade answers and captions, and files to share grades."""
