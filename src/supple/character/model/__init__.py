"""Pose-space models: what the runtime needs, and its file."""
