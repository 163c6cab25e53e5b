"""Reduced models in motion: alone, in crowds, floating."""
