"""Obstacles: one file a shape, and how they move."""
