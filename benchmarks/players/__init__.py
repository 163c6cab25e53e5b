"""Enriched characters as other programs read them: ``python -m benchmarks.players soft.glb``."""
