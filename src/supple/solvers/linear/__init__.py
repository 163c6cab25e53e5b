"""Linear systems: one interface, several factorizations and preconditioners."""
