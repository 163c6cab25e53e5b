"""Characters in motion."""
