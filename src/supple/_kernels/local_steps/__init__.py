"""The local steps of ADMM, many small problems side by side."""
