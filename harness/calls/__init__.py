"""The cache of model calls: its size, pruning, and recording a study's calls for replay."""
