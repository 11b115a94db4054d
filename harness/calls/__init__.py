"""The cache of model calls: its size, pruning it, and recording a study's calls for replay."""
