"""Loops over the segments and crossings of woven cloth."""
