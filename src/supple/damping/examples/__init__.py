"""Damping by example at work: deformations, the frames they turn with, what is felt of each."""
