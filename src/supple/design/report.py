"""What inverse design found."""

from __future__ import annotations

from dataclasses import dataclass

from supple.damping import ExampleDamping
from supple.design.targets import Unloading
from supple.design.unloading import UnloadingTest


@dataclass(frozen=True, eq=False)
class TargetResult:
    """A target, and what came of it."""

    target: Unloading
    example: int
    """Number of the example."""
    wanted: float
    """Excitation that should be left after a cycle."""
    reached: float
    """Excitation that is left."""
    before: UnloadingTest
    """The test with the damping that the design began with."""
    after: UnloadingTest
    gamma: float
    """γ of the curve at this target's point."""
    simulations: int
    met: bool
    reason: str
    """Why it was not met."""

    @property
    def error(self) -> float:
        """(reached − wanted) / wanted."""
        return self.reached / self.wanted - 1


@dataclass(frozen=True, eq=False)
class DesignReport:
    """All targets against what was reached; print it."""

    results: tuple[TargetResult, ...]
    rounds: int
    seconds: float
    tolerance: float

    @property
    def met(self) -> bool:
        """Whether all targets were."""
        return all(result.met for result in self.results)

    @property
    def simulations(self) -> int:
        """How many unloading tests it took."""
        return sum(result.simulations for result in self.results)

    def __str__(self) -> str:
        lines = [
            f"{sum(r.met for r in self.results)} of {len(self.results)} targets met within "
            f"{100 * self.tolerance:g} %, {self.simulations} simulations in {self.rounds} rounds, "
            f"{self.seconds:.1f} s"
        ]
        for result in self.results:
            before = result.before.residual
            lines.append(
                f"  {result.target}: wanted {result.wanted:.4g}, before {before:.4g}, now "
                f"{result.reached:.4g} ({100 * result.error:+.2f} %), γ = {result.gamma:.4g}, "
                f"{result.simulations} simulations"
            )
            if result.reason:
                lines.append(f"    not met: {result.reason}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Fit:
    """A designed damping, and how well it does what was asked."""

    damping: ExampleDamping
    report: DesignReport
