class FloatingSimulation: pass
