"""USD stages: motions, characters and yarns."""
