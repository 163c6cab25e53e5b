"""What a character keeps from step to step, handed to kernels as one pointer.

Python would have to take the sixty arrays out of their tuples at every call, which takes as long as
a small step.
"""

from typing import Any

from numba import types
from numba.experimental import structref

from supple._kernels.compiling import kernel


@structref.register
class KeptType(types.StructRef):
    """For Numba."""


class Kept(structref.StructRefProxy):
    """PoseArrays, Room, Options, and Examples or None."""


_define: Any = structref.define_proxy
_make: Any = Kept
_define(Kept, KeptType, ["model", "room", "options", "examples"])


@kernel
def keep(model, room, options, examples):
    """All four behind one pointer."""
    return _make(model, room, options, examples)
