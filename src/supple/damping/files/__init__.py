"""Damping models in files."""
