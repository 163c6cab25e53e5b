"""From recordings of a body that was let go to its stiffness and damping."""
