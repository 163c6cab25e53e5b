"""Loops over cells, triangles and hinges: energies, forces, stiffness."""
