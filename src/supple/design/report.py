"""What inverse design found."""

from __future__ import annotations

from dataclasses import dataclass

from supple.damping import ExampleDamping
from supple.design.moments import Moment, worst
from supple.design.targets import Unloading
from supple.design.unloading import UnloadingTest


@dataclass(frozen=True, eq=False)
class TargetResult:
    """A target, and what came of it."""

    target: Unloading
    example: int
    """Number of the example."""
    wanted: float
    """Excitation that should be left after a cycle; of several moments, at the one missed most."""
    reached: float
    """Excitation that is left; NaN where a step of the release fails."""
    before: UnloadingTest
    """The test with the damping that the design began with."""
    after: UnloadingTest
    gamma: float
    """γ of the curve at this target's point."""
    simulations: int
    met: bool
    reason: str
    """Why it was not met."""
    moments: tuple[Moment, ...] = ()
    """All moments that the target speaks of."""

    @property
    def error(self) -> float:
        """(reached − wanted) / wanted."""
        return self.reached / self.wanted - 1

    def left_by(self, test: UnloadingTest) -> float:
        """What a test left at the moment that ``wanted`` is of; NaN where a step failed."""
        if test.is_failed or not self.moments:
            return test.residual
        return test.amplitude(worst(self.moments).aim)

    @property
    def before_text(self) -> str:
        """The same in words."""
        return "a step fails" if self.before.is_failed else f"{self.left_by(self.before):.4g}"

    @property
    def reached_text(self) -> str:
        """What is left, and by how much that is off, in words."""
        if self.after.is_failed:
            return "a step fails"
        return f"{self.reached:.4g} ({100 * self.error:+.2f} %)"


@dataclass(frozen=True, eq=False)
class DesignReport:
    """All targets against what was reached; print it."""

    results: tuple[TargetResult, ...]
    rounds: int
    seconds: float
    tolerance: float
    notes: tuple[str, ...] = ()
    """What was found out before anything was simulated, and on the way."""

    @property
    def met(self) -> bool:
        """Whether all targets were."""
        return all(result.met for result in self.results)

    @property
    def simulations(self) -> int:
        """How many unloading tests it took."""
        return sum(result.simulations for result in self.results)

    def __str__(self) -> str:
        rounds = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        lines = [
            f"{sum(r.met for r in self.results)} of {len(self.results)} targets met within "
            f"{100 * self.tolerance:g} %, {self.simulations} simulations in {rounds}, "
            f"{self.seconds:.1f} s"
        ]
        for result in self.results:
            lines.append(
                f"  {result.target}: wanted {result.wanted:.4g}, before {result.before_text}, now "
                f"{result.reached_text}, γ = {result.gamma:.4g}, {result.simulations} simulations"
            )
            if len(result.moments) > 1:
                lines.append(f"    {'; '.join(map(str, result.moments))}")
            if result.reason:
                lines.append(f"    not met: {result.reason}")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Fit:
    """A designed damping, and how well it does what was asked."""

    damping: ExampleDamping
    report: DesignReport


class DesignInterrupted(KeyboardInterrupt):
    """A design that was interrupted; ``fit`` is the best that was found until then, or None."""

    def __init__(self, fit: Fit | None) -> None:
        super().__init__("the design was interrupted")
        self.fit = fit
