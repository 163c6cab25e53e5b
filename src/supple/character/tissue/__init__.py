"""The soft tissue of a character: its volume, and what holds it."""
