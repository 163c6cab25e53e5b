"""Scene files: what they may hold, and the objects that they describe."""
