"""A real object matched: its material from static shapes, and its rest shape from how it hangs."""
