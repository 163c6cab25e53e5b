"""Dampings in few coordinates."""
