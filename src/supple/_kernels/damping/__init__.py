"""Dissipation at quadrature points, and the coupling of examples."""
