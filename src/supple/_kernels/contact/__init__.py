"""Distances to obstacles, and contact of vertices and of pairs."""
