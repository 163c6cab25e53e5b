"""Measurements of Supple's speed and accuracy; ``python -m benchmarks`` runs them."""
