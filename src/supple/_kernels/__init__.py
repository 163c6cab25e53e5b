"""Compiled loops: arrays in, arrays out. No objects, no checks; callers have done those."""
