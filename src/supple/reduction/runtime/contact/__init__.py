"""Contact of reduced models with obstacles."""
