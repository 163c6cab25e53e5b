"""How far the motion of a reduced model is from that of its body, told without the latter.

A model leaves forces unbalanced, those that no vector of its basis feels. The shapes K⁻¹ r that the
body would give way in under them are what it misses. With the most important of these the model is
made again, and moved again: where it then goes, and the first one did not, is the error. What the
larger model misses itself is looked at in the same way, until that no longer changes the answer.

A body that buckles escapes all of this. The shape in which it does is soft where the body is, not
at rest; no force that is left unbalanced points there, and larger models agree on a way that the
body leaves at once. So the body itself takes a step from where most is unbalanced on the way of the
largest model. Where it leads away, the error is that against the motion of the body.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np

from supple.bodies.solid import Body
from supple.core.checks import instance, number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats, Progress
from supple.reduction.basis import Basis, in_own_frame
from supple.reduction.errors.frequencies import ModelWarning
from supple.reduction.errors.playing import (
    Force,
    Live,
    Played,
    Scenario,
    body_of,
    mass_products,
)
from supple.reduction.errors.shapes import duals, mass_size, principal_shapes
from supple.reduction.model import ReducedModel
from supple.reduction.modes import (
    SmallVibrations,
    combined,
    mass_times,
    orthonormalized,
    products,
    without,
)
from supple.reduction.reducing import reduce
from supple.reduction.runtime.floating_simulation import FloatingSimulation
from supple.reduction.runtime.simulation import ReducedSimulation

_SAMPLES = 40  # moments at which forces are looked at
_ADDED = 10  # shapes, in each round
_TANGENTS = 4  # shapes on the way whose stiffness is taken
_ROUNDS = 4
_SETTLED = 0.2  # share by which the last round may change the error,
_NEAR = 0.6  # and how far it may lead from where the round before was
_UNSURE = 0.4  # the change above which a person is told
_OMITTED = 0.01  # of what is missed, that may be left out of what is there
_NOTHING = 1e-9  # of the largest: a model that misses less has all it needs
_DEPARTED = 0.4  # how far a step of the body may lead from that round, as a share of the error
_CREDIBLE = 1.4  # times the swing; a larger error is that of a larger model gone astray
_HOPELESS = (0.6, 1.0)  # errors that are told without it: hardly half or twice as large in truth
_SUBSTEPS = (1, 2, 4, 8)  # larger models are stiffer, and may need smaller steps


@dataclass(frozen=True, eq=False, repr=False)
class MotionError:
    """How far a reduced motion is from that of the body.

    ``times`` (T,) [s]; ``errors`` (T,), the root mean square over all mass of the distance to where
    the body is, as a share of the largest displacement in that sense. ``missed`` (m, n, 3) are
    mass-orthonormal shapes that the model lacks, the most important first, and ``amounts`` (m,)
    their largest share in the motion, in the same measure.
    """

    times: Floats
    errors: Floats
    swing: float
    """The largest displacement of a vertex [m]."""
    distance: float
    """The largest distance of a vertex to where it should be, when the error is worst [m]."""
    vertex: int
    """Which vertex that is."""
    unsure: float
    """The share by which the error may change: 0 if it is the true one.

    That by which the last larger model has changed it, or by which the body departs from that.
    """
    missed: Floats
    amounts: Floats

    @property
    def error(self) -> float:
        """The worst of all moments."""
        return float(self.errors.max())

    @property
    def worst_time(self) -> float:
        """When it is worst [s]."""
        return float(self.times[np.argmax(self.errors)])

    def __repr__(self) -> str:
        return (
            f"MotionError({100 * self.error:.2g} % of a swing of {self.swing:.3g} m, at "
            f"{self.worst_time:.3g} s; {self.distance:.2g} m at vertex {self.vertex})"
        )


def motion_error(
    sim: Live,
    duration: float,
    *,
    force: Force = None,
    body: Body | None = None,
    against: Literal["larger model", "body"] | None = None,
    progress: Progress | None = None,
) -> MotionError:
    """How far ``sim`` will be from the full body, were it to move on for ``duration`` [s].

    The simulation stays where it is. ``force`` (n, 3) [N] acts on all vertices during that time; a
    function of time gives that of the step which starts then, as a ``step(force=...)`` would.
    ``body`` is needed for a model from a file. By default an StVK model is compared with larger
    models that hold what this one misses, at a small part of what the body's own motion costs.
    Where a step of the body shows that these miss it too, as where it buckles, and for any other
    material, whose larger models cost as much, it is compared with the body itself; that includes
    the error of a cubature. A ModelWarning tells where the error is not certain.
    """
    if not isinstance(sim, ReducedSimulation | FloatingSimulation):
        instance("sim", sim, ReducedSimulation, "model.simulation(damping=..., dt=...)")
    steps = max(1, round(number("duration", duration, above=0, unit="s") / sim.dt))
    kinds = ("larger model", "body", None)
    if against not in kinds:
        raise InputError(f"against={against!r}: give 'larger model', 'body' or None")
    found = body_of(sim.model, body)
    scenario = Scenario(sim, found, steps, force)
    if against == "body" or (against is None and sim.model.quartic is None):
        return _against_body(scenario, progress)
    if sim.model.quartic is None:
        raise InputError("against='larger model' needs an StVK model, whose energy is a polynomial")
    estimate = _Estimate(scenario, progress)
    told = estimate.found()
    if against is None and estimate.departed:
        return _against_body(scenario, progress)
    _warn_if_unsure(told, stacklevel=3)
    return told


class _Estimate:
    """The rounds in which larger models are made and moved."""

    def __init__(self, scenario: Scenario, progress: Progress | None) -> None:
        self.scenario, self.body, self._progress = scenario, scenario.body, progress
        self.rest = SmallVibrations(self.body, np.zeros_like(self.body.mesh.vertices))
        self._samples = sampled_steps(scenario.steps)
        self.departed = False
        """Whether the body itself goes elsewhere than the largest model."""

    def found(self) -> MotionError:
        """In steps as small as the larger models need, which are stiffer; all take the same."""
        for substeps in _SUBSTEPS[:-1]:
            try:
                return self._rounds(substeps)
            except StepFailed:
                continue
        return self._rounds(_SUBSTEPS[-1])

    def _rounds(self, substeps: int) -> MotionError:
        scenario = self.scenario

        def play(model: ReducedModel) -> Played:
            return scenario.play(model, samples=self._samples, substeps=substeps)

        first = last = play(scenario.live.model)
        errors, growth = np.zeros(scenario.steps + 1), 0.0
        for count in range(_ROUNDS):
            vectors = self._larger_span(last)
            if vectors is None:
                break
            basis = Basis(vectors, np.ones(len(vectors)))
            played = play(reduce(self.body, basis, compare=False))
            before, errors = errors.max(), _distances(self.body, first, played)
            growth = float(errors.max() - before) if count else 0.0
            apart = float(_distances(self.body, last, played).max())
            last = played
            if self._progress is not None:
                self._progress(count + 1, _ROUNDS, "larger models")
            settled = abs(growth) <= _SETTLED * errors.max() and apart <= _NEAR * errors.max()
            if count and settled:
                break
        return self._told(first, last, errors, growth)

    def _larger_span(self, played: Played) -> Floats | None:
        """Vectors of the next model: what a motion uses, and what it misses; None if it is nothing.

        Both are measured by the energy: what is small in displacement may be what keeps a body from
        locking. Vectors that the motion hardly uses are left out, for the work of making a model
        grows with the fourth power of their number.
        """
        given = self._given(played)
        forces = self.rest.times(given)
        energies = np.einsum("kna,kna->k", given, forces)
        level = float(np.sqrt(max(energies.max(), 0.0)))
        model = played.model
        K = model.stiffness(np.zeros(model.size))
        largest = float(np.sqrt(np.einsum("ti,ij,tj->t", played.q, K, played.q).max()))
        if level <= _NOTHING * largest:
            return None
        live = self.scenario.simulation(model)
        always = [live.q, live.v, *map(model.coordinates, self.scenario.damped_shapes)]
        used = used_combinations(played.q, np.stack(always), K, _OMITTED * level)
        missed = principal_shapes(self.rest, given, model.vectors, _ADDED)
        if not len(missed):
            return None
        if not len(used):  # all that the motion has is little beside what it misses
            return missed
        return np.concatenate([orthonormalized(self.body, combined(used, model.vectors)), missed])

    def _given(self, played: Played) -> Floats:
        """K(u)⁻¹ r, in which the body gives way to what a model leaves unbalanced, (s, n, 3).

        The stiffness is that of a few shapes on the way.
        """
        given = played.residuals * self.body.free
        for some in np.array_split(np.arange(len(given)), _TANGENTS):
            if len(some):
                u = _own_shape(played, self._samples[some[len(some) // 2]])
                given[some] = SmallVibrations(self.body, u, definite=True).solve(given[some])
        return without(given, self.rest.rigid, self.rest.rigid_momenta)

    def _departure(self, last: Played) -> float:
        """How far the body goes from the last model in a step [√kg m], where most is unbalanced."""
        sizes = np.linalg.norm(last.residuals.reshape(len(last.residuals), -1), axis=1)
        step = min(self._samples[int(np.argmax(sizes))], self.scenario.steps - 1)
        try:
            u = self.scenario.depart(last, step)
        except StepFailed:
            return float("inf")
        return mass_size(self.body, u - last.displacements(step + 1))

    def _told(self, first: Played, last: Played, errors: Floats, growth: float) -> MotionError:
        size, largest = float(_sizes(last).max()), float(errors.max())
        unsure = growth / largest if largest > 0.0 else 0.0
        away = 0.0
        if largest > 0.0 and not _HOPELESS[0] <= largest / size <= _HOPELESS[1]:
            away = self._departure(last) / largest
        # an error that grew is taken to grow once more, by half as much and half of that
        shares = errors * (1 + max(unsure, 0.0)) / size if size > 0.0 else errors
        if shares.max() > _CREDIBLE:
            away = max(away, float(shares.max()))
        self.departed = away > _DEPARTED
        worst = int(np.argmax(errors))
        apart = np.linalg.norm(first.displacements(worst) - last.displacements(worst), axis=1)
        furthest = int(np.argmax(_sizes(last)))
        shapes = np.stack([_own_shape(last, k) for k in self._samples])
        return MotionError(
            self.scenario.times,
            shares,
            swing=float(np.linalg.norm(_own_shape(last, furthest), axis=1).max()),
            distance=float(apart.max()),
            vertex=int(apart.argmax()),
            unsure=max(abs(unsure), away if self.departed else 0.0),
            **missed_shapes(self.rest, shapes, first.model.vectors, size),
        )


def _warn_if_unsure(told: MotionError, *, stacklevel: int) -> None:
    if told.unsure > _UNSURE:
        warnings.warn(
            ModelWarning(
                f"the error of this motion, about {100 * told.error:.2g} %, is not certain: what "
                "the basis misses is more than can be told from the motion, and may be much more. "
                "Ask for a shorter motion, or against='body'"
            ),
            stacklevel=stacklevel + 1,
        )


def sampled_steps(steps: int) -> list[int]:
    """After which steps forces are looked at."""
    return [int(k) for k in np.unique(np.linspace(0, steps, _SAMPLES).astype(int))]


def used_combinations(q: Floats, always: Floats, K: Floats, least: float) -> Floats:
    """Combinations (k, r) of coordinates that a motion q (T, r) is made of, to within ``least``.

    What is left out stays below ``least`` [√J] in the norm of K (r, r); ``always`` (l, r) are in.
    """
    L = np.linalg.cholesky(K)
    kept = _orthonormal_rows(always @ L)
    rows = q @ L
    rows = rows - rows @ kept.T @ kept
    _, _, turns = np.linalg.svd(rows, full_matrices=False)
    tails = np.sqrt(np.cumsum(((rows @ turns.T) ** 2)[:, ::-1], axis=1).max(axis=0))[::-1]
    kept = np.concatenate([kept, turns[tails > least]])  # tails[k]: all from k on
    return np.asarray(np.linalg.solve(L.T, kept.T).T)


def _orthonormal_rows(rows: Floats) -> Floats:
    _, sizes, turns = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(turns[sizes > 1e-12 * max(sizes[0], 1e-300)])


def missed_shapes(
    rest: SmallVibrations, shapes: Floats, known: Floats, size: float
) -> dict[str, Floats]:
    """What is in shapes (s, n, 3) beside the known vectors, as a MotionError tells it."""
    body = rest.body
    left = without(shapes, known, duals(body, known))
    missed = principal_shapes(rest, left, known, 3 * _ADDED)
    if not len(missed) or size == 0.0:
        return {"missed": missed[:0], "amounts": np.empty(0)}
    amounts = np.abs(products(left, mass_times(body, missed))).max(axis=0)
    return {"missed": missed, "amounts": amounts / size}


# -- distances between motions, root of the mass product [√kg m], (T,) ------------------------


def _sizes(played: Played) -> Floats:
    """Of the deformation alone."""
    return np.asarray(np.sqrt(np.einsum("ti,ij,tj->t", played.q, played.model.mass, played.q)))


def _own_shape(played: Played, step: int) -> Floats:
    return np.tensordot(played.q[step], played.model.vectors, 1)


def _distances(body: Body, one: Played, other: Played) -> Floats:
    """Between two motions in the world."""
    if one.frames is not None:
        steps = range(len(one.q))
        return np.array(
            [mass_size(body, one.displacements(k) - other.displacements(k)) for k in steps]
        )
    cross = mass_products(body, one.model, other.model)
    whole = np.block([[one.model.mass, -cross], [-cross.T, other.model.mass]])
    both = np.concatenate([one.q, other.q], axis=1)
    squares: Floats = np.einsum("ti,ij,tj->t", both, whole, both)
    return np.sqrt(np.maximum(squares, 0.0))


# -- the body itself -------------------------------------------------------------------------


def _against_body(scenario: Scenario, progress: Progress | None) -> MotionError:
    """The same from the motion of the body: the true error."""
    body, model = scenario.body, scenario.live.model
    played = scenario.play(model)
    samples = set(sampled_steps(scenario.steps))
    errors, sizes, differences = [], [], []
    swing = distance = 0.0
    vertex = 0
    for step, u in enumerate(scenario.play_in_full()):
        apart = u - played.displacements(step)
        errors.append(mass_size(body, apart))
        own = u if played.frames is None else in_own_frame(body, u)
        sizes.append(mass_size(body, own))
        swing = max(swing, float(np.linalg.norm(own, axis=1).max()))
        if errors[-1] >= max(errors):
            far = np.linalg.norm(apart, axis=1)
            distance, vertex = float(far.max()), int(far.argmax())
        if step in samples:
            R = np.eye(3) if played.frames is None else played.frames[step, :3]
            differences.append(apart @ R)
        if progress is not None and step:
            progress(step, scenario.steps, "steps of the body")
    size = max(sizes)
    rest = SmallVibrations(body, np.zeros_like(body.mesh.vertices))
    return MotionError(
        scenario.times,
        np.array(errors) / size if size > 0.0 else np.array(errors),
        swing,
        distance,
        vertex,
        unsure=0.0,
        **missed_shapes(rest, np.array(differences), model.vectors, size),
    )
