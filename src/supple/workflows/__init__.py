"""What the commands do, as Python functions."""
