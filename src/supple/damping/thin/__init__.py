"""Laws of strain rates as dampings of sheets and springs."""
