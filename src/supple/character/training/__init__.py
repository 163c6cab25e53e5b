"""From a rig to a pose-space model."""
