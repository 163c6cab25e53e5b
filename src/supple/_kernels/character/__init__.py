"""Rigs, skins and the steps of a character."""
