"""What steps cost, in numbers that do not depend on the machine."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Stats:
    """The last step of a simulation; ``total`` counts all of them."""

    stages: int = 0
    """Stages of the integrator that were solved."""
    iterations: int = 0
    """Iterations of the stage solver."""
    factorizations: int = 0
    """Factorizations of the linear solver."""
    substeps: int = 0
    """Parts that the step was taken in."""
    contacts: int = 0
    """Contacts with obstacles that press, and pairs of the body's own surface that are near."""
    residuals: tuple[float, ...] = ()
    """What the last stage left, of the forces at play: of Newton's method the residual, of ADMM the
    primal and the dual one."""
    total: Stats | None = None
    """Sums over all steps; ``contacts`` are the most in one."""

    def after(self, step: Stats) -> Stats:
        """The statistics once ``step`` is the last one."""
        before = self.total or Stats()
        sums = Stats(
            stages=before.stages + step.stages,
            iterations=before.iterations + step.iterations,
            factorizations=before.factorizations + step.factorizations,
            substeps=before.substeps + step.substeps,
            contacts=max(before.contacts, step.contacts),
        )
        return replace(step, total=sums)
