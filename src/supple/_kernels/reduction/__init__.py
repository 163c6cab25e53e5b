"""Energies in a few coordinates, and the steps of reduced models."""
