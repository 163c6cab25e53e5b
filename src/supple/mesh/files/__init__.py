"""Mesh files: the formats, reading, writing."""
