"""Bodies in motion: the problem of a stage, steps, simulations, statics and recordings."""
