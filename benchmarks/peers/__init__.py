"""Supple beside other engines on one problem: ``python -m benchmarks.peers``."""
