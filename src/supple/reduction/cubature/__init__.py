"""Elastic forces from a few cells, chosen and weighted by training."""
