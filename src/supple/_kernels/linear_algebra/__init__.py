"""Matrices: block-sparse, small and dense, 3 × 3, and levels of a multigrid method."""
