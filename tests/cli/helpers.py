"""What the tests of the command line share."""

SCENE = """
title = "Bar"
gravity = [0, 0, -9.81]
[mesh]
box = { size = [1.0, 0.2, 0.2], cells = [3, 1, 1] }
[material]
model = "StVK"
young = 1e5
poisson = 0.3
[[supports]]
x = 0
[time]
duration = 0.1
fps = 60
"""


BODY = """
title = "Bar"
integrator = "Bathe"
[mesh]
box = { size = [1.0, 0.2, 0.1], cells = [4, 1, 1], bricks = true }
[material]
model = "StVK"
young = 1e6
poisson = 0.3
"""
"""Of a scene to design a damping for."""
HELD = "[[supports]]\nx = 0\n"
DAMPING = '[damping]\nmass = 0.5\n[[damping.examples]]\nname = "bend"\nmode = 1\n'
QUICK = "[design]\nsize = 8\nmodes = 5\ncompare_linear = false\n"


def raising(error):
    """A function that does nothing else, whatever it is given."""

    def call(*_, **__):
        raise error

    return call


interrupt = raising(KeyboardInterrupt())
