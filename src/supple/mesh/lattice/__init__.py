"""Filling a surface with the tets of a lattice that it cuts: isosurface stuffing."""
