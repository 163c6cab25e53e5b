"""A page in which a reduced model lives."""
