"""Loops over the triangles of a surface that is to be filled."""
