"""ADMM: alternate local minimisations in parallel with one prefactored global solve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.core.errors import InputError, StepFailed
from supple.core.parameters import parameter
from supple.core.types import Floats
from supple.integrators import Stage
from supple.solvers.anderson import Anderson
from supple.solvers.constrained_step import ConstrainedStep
from supple.solvers.global_step import GlobalStep
from supple.solvers.interface import BoundStageSolver, Problem, StageSolver
from supple.solvers.splitting import (
    Dissipation,
    LocalTerms,
    SplitOptions,
    SplitProblem,
    Splitting,
    total_size,
    views,
)
from supple.solvers.turning import rotation

_LOOKS = frozenset((4, 12, 40, 100, 200, 500))  # iterations that see whether weights suffice
_LARGE_TURN = 1e-3  # of the body in an iteration: straight ways swell it by the square of that
_MOST_TURNS = 4  # until it is less
_PATIENCE = 50  # iterations after which
_ENOUGH = 0.8  # of the residual may be left, or else
_BOOST = 2.0  # times the weight is used from then on,
_MOST_BOOST = 16.0  # times at most,
_EASY = 20  # until so many stages have gone without trouble
_ROUNDINGS = 10.0  # what rounding leaves in a force, times as much in a residual
_MOST_ROUNDS = 5  # with contacts that were overlooked before
_DIVERGED = 1e3  # times the best residual so far: where the iteration goes back to it
_BETTER = 0.1  # of the residual that it would go back to: a better place for that
_FINEST = 1e-13  # that rounding lets local variables be found to
_LOCAL_ACCURACY = 0.1  # of the distance between local variables and the body


@dataclass(frozen=True, kw_only=True)
class ADMM(StageSolver):
    """The alternating direction method of multipliers (dissipative optimization, Eqs. 15–17, 40).

    A stage has converged when the primal and the dual residual, as forces, are below ``tolerance``
    times the forces at play.
    """

    tolerance: float = parameter(
        1e-5, "residuals that may be left, as a share of the forces at play", above=0, below=1
    )
    iterations: int | None = parameter(
        None, "take the outcome after so many iterations, converged or not"
    )
    max_iterations: int = parameter(1000, "of one stage")
    acceleration: int = parameter(
        16,
        "iterates that Anderson acceleration looks back on; 0 for the plain iteration",
        at_least=0,
    )
    weight: float = parameter(1.0, "multiplies the weights that the rule gives", above=0)
    dissipation: Dissipation = parameter(
        Dissipation.BALANCE,
        "how dissipation that depends on the shape enters (Eqs. 28–30)",
        kind=Dissipation,
    )

    @property
    def is_best_effort(self) -> bool:
        """Never: too few iterations are cheap, so a step that gains energy by them is cut up."""
        return False

    def bind(self, problem: Problem) -> BoundADMM:
        if not isinstance(problem, SplitProblem):
            raise InputError("ADMM needs a body in full space; use Newton() for this one")
        return BoundADMM(self, problem)


class BoundADMM(BoundStageSolver):
    """ADMM for one problem."""

    def __init__(self, options: ADMM, problem: SplitProblem) -> None:
        self._options, self._problem = options, problem
        self._global = GlobalStep(problem.pattern, problem.free)
        self._index = np.flatnonzero(problem.free)
        self._turns = bool(problem.free.all())
        self._boost, self._easy_stages, self._since_raised = 1.0, 0, 0
        self._terms: list[LocalTerms] = []  # of the last splitting
        self._force = np.inf  # the larger of the two residuals [N]
        self.residuals = (np.inf, np.inf)  # primal and dual

    @property
    def factorizations(self) -> int:
        return self._global.factorizations

    def memory(self) -> Any:
        counts = self._boost, self._easy_stages, self._since_raised
        return counts, self._problem.splitting_memory()

    def recall(self, memory: Any) -> None:
        counts, terms = memory
        self._boost, self._easy_stages, self._since_raised = counts
        self._problem.recall_splitting(terms)

    def solve(self, stage: Stage, starts: Sequence[Floats]) -> Floats:
        if not len(self._index):
            return starts[0]
        with np.errstate(over="ignore", invalid="ignore"):  # it is looked at what came of it
            for _ in range(_MOST_ROUNDS):
                try:
                    u, converged = self._iterate(stage, starts)
                except np.linalg.LinAlgError as error:  # of forces that are no numbers
                    raise self._failed("the iteration left finite numbers", stage) from error
                if not np.isfinite(u).all() or not self._problem.needs_new_contacts(stage, u):
                    break
                starts = [u, u]
        if not np.isfinite(u).all():
            raise self._failed("the iteration left finite numbers", stage)
        if not converged and self._options.iterations is None:
            raise self._failed(
                f"ADMM did not converge in {self._options.max_iterations} iterations", stage
            )
        self._lower_weights(converged=converged)
        return u

    def _lower_weights(self, *, converged: bool) -> None:
        """Take back weight that was given to what is long over."""
        self._easy_stages = self._easy_stages + 1 if converged else 0
        if self._easy_stages >= _EASY and self._boost > 1.0:
            self._boost, self._easy_stages = max(1.0, self._boost / _BOOST), 0
        self._since_raised += 1
        if self._since_raised >= _EASY:
            self._since_raised = 0
            for term in self._terms:
                term.lower_weights()

    def _iterate(self, stage: Stage, starts: Sequence[Floats]) -> tuple[Floats, bool]:
        """Eqs. 16a–16c, in terms of s = D u + ū alone: z = argmin(s) and ū = s − z follow.

        Acceleration extrapolates u too: the outcome where iterations end before convergence.
        """
        options, problem = self._options, self._problem
        split, step = self._split(stage, starts)
        terms = split.terms
        size = total_size(terms)
        s, z, there = (np.zeros(size) for _ in range(3))
        local_s, local_z = views(s, terms), views(z, terms)
        self._start(split, s, z)
        u = starts[0]
        image = np.empty(size + u.size)  # of s, and u
        root = np.sqrt(split.weights())
        window = options.acceleration
        anderson = Anderson(window, size, auxiliary=u.size) if window else None
        split.gather(u, there)
        at_u, at_previous = split.scatter(there), split.scatter(z)
        milestone = best = np.inf
        kept = np.inf, s.copy(), z.copy(), u, root  # a residual, and where it was met
        most = options.iterations or options.max_iterations
        for iteration in range(1, max(most, options.max_iterations) + 1):
            self.iterations = iteration
            for _ in range(_MOST_TURNS):
                outside = problem.outside(stage, u)
                at_z, at_s = split.scatter(z), split.scatter(s)
                u, theta = step.solve(u, 2 * at_z - at_s - at_u - outside.residual, s, z)
                if theta.any():
                    turn = rotation(theta)
                    for place in (*local_s, *local_z):
                        place[:] = turn @ place
                    at_z, at_s = at_z @ turn.T, at_s @ turn.T
                    at_previous = at_previous @ turn.T
                split.gather(u, there)
                at_u = split.scatter(there)
                if not np.abs(theta).max() > _LARGE_TURN:
                    break
                if anderson is not None:
                    anderson.reset()  # what it knows was turned otherwise
            scale = max(outside.scale + self._norm(at_s - at_z), np.finfo(float).tiny)
            changed = max(self._norm(at_z - at_previous), step.force_to_turn(theta))
            primal, dual = self._norm(at_u - at_z) / scale, changed / scale
            at_previous = at_z
            self.residuals = primal, dual
            residual = max(primal, dual)
            enough = max(options.tolerance, _ROUNDINGS * outside.floor / scale)
            converged = residual <= enough and iteration > 1
            np.subtract(there, z, out=image[:size])
            apart = float(np.linalg.norm(image[:size])) / np.sqrt(size)
            image[:size] += s
            image[size:] = u.ravel()
            following = image
            if anderson is not None and not converged:
                following = anderson.next(s, image, root)
            if converged or iteration >= most:
                astray = not residual <= kept[0]  # what went astray is not the outcome
                ends = [kept[3]] if astray else [following[size:].reshape(u.shape), u]
                end = next(filter(problem.is_feasible, ends), None)
                if end is not None:
                    if astray:
                        residual, s[:], z[:] = kept[:3]
                        self.residuals = residual, residual
                    for term, sought, place in zip(terms, local_s, local_z, strict=True):
                        term.finish(sought, place)
                    if split.contacts is not None:
                        split.contacts.finish()
                    self._force = residual * scale
                    return end, residual <= enough
            if residual < _BETTER * kept[0] and iteration > 1:
                kept = residual, s.copy(), z.copy(), u, root
            s[:] = following[:size]
            for term in terms:
                term.accuracy = max(_LOCAL_ACCURACY * apart, _FINEST)
            best = min(best, residual)
            astray = not residual <= _DIVERGED * best
            raised = iteration in _LOOKS and not astray and self._raise_weights(local_z)
            stalled = astray or (iteration % _PATIENCE == 0 and residual > _ENOUGH * milestone)
            boosted = stalled and not raised and self._boost < _MOST_BOOST
            if raised or boosted:
                old = root
                if boosted:  # too little weight, for a term that buckles perhaps
                    self._boost, self._easy_stages = _BOOST * self._boost, 0
                split, step = self._split(stage, starts)
                terms = split.terms
                root = np.sqrt(split.weights())
                if astray:  # its forces are worth nothing
                    best, s[:], z[:], u, old = kept
                    split.gather(u, there)
                s[:] = z + (s - z) * (old / root) ** 2  # the forces w ū stay
                at_u, at_previous = split.scatter(there), split.scatter(z)
                if anderson is not None:
                    anderson.reset()
            if iteration % _PATIENCE == 0 or astray:
                milestone = np.inf if raised or boosted else residual
            for term, sought, place in zip(terms, local_s, local_z, strict=True):
                term.minimise(sought, place)
        self._force = residual * scale
        raise self._failed("ADMM found no shape within the limits of strain", stage)

    def _raise_weights(self, z: Sequence[Floats]) -> bool:
        """Have the terms look whether they need more weight where they are."""
        raised = [term.raise_weights(place) for term, place in zip(self._terms, z, strict=True)]
        if any(raised):
            self._since_raised = 0
        return any(raised)

    def _split(self, stage: Stage, starts: Sequence[Floats]) -> tuple[Splitting, ConstrainedStep]:
        options = self._options
        asked = SplitOptions(options.weight * self._boost, options.dissipation)
        split = self._problem.split(stage, starts, asked)
        self._global.take(split)
        self._terms = split.terms
        return split, ConstrainedStep(self._global, split, turns=self._turns and stage.c_a > 0)

    def _start(self, split: Splitting, s: Floats, z: Floats) -> None:
        """Local variables where the splitting says, with the forces that they have there."""
        places = zip(split.terms, views(s, split.terms), views(z, split.terms), strict=True)
        for (term, sought, place), begin in zip(places, split.start, strict=True):
            place[:] = begin
            term.warm_start(place, sought)

    def _norm(self, force: Floats) -> float:
        return float(np.linalg.norm(force.reshape(-1).take(self._index)))

    def _failed(self, reason: str, stage: Stage) -> StepFailed:
        advice = (
            "Try a smaller dt, more max_iterations, another weight such as "
            f"ADMM(weight={3 * self._options.weight:g}), or Newton()."
        )
        advice = " ".join(filter(None, [advice, self._problem.advice]))
        return StepFailed(reason, time=stage.time, residual=self._force, advice=advice)
