"""Bodies: solids, cloth and springs, with mass, energy, force and stiffness."""
