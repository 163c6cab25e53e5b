"""How a step of a reduced model is solved."""

from __future__ import annotations

from dataclasses import dataclass

from supple.core.checks import number, whole_number


@dataclass(frozen=True, kw_only=True)
class DenseNewton:
    """Newton iterations on the few equations of a reduced model.

    Stops when the corrections still to come are estimated at ``tolerance`` times the largest
    coordinate or less, and fails after ``max_iterations`` of them. With ``max_iterations=1`` it
    takes one iteration and asks no questions: the semi-implicit step of the subspace StVK paper
    (App. C), the fastest.
    """

    max_iterations: int = 20
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        whole_number("max_iterations", self.max_iterations, at_least=1)
        number("tolerance", self.tolerance, above=0, below=1)
