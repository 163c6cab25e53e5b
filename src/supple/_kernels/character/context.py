"""What a character keeps from step to step, handed to kernels as one pointer.

Python would have to take the sixty arrays out of their tuples at every call, which takes as long as
a small step.
"""

from typing import Any

from numba import types
from numba.experimental import structref

from supple._kernels.compiling import kernel


@structref.register
class StepContextType(types.StructRef):
    """For Numba."""


class StepContext(structref.StructRefProxy):
    """PoseArrays, Workspace, Options, and Examples or None."""


_define: Any = structref.define_proxy
_make: Any = StepContext
_define(StepContext, StepContextType, ["model", "workspace", "options", "examples"])


@kernel
def step_context(model, workspace, options, examples):
    """All four behind one pointer."""
    return _make(model, workspace, options, examples)
