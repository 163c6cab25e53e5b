"""A material from static shapes under known loads: elasticity before damping (example damping §7).

Young's modulus of the whole or of regions, Poisson's ratio, or any parameters of any material are
those at which simulated shapes come nearest to the observed ones. How equilibria x follow the
parameters p is exact: r(x, p) = ∇U − f = 0 along with them, so dx/dp = −K⁻¹ ∂r/∂p, with the
tangent stiffness K at the equilibrium factorized once for all parameters.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.bodies.solid import Body
from supple.core.checks import instance, number, several
from supple.core.errors import InputError, StepFailed
from supple.core.types import Bools, Floats, Progress
from supple.design.matching.caveats import MatchingWarning
from supple.design.matching.least_squares import Estimate, estimate
from supple.design.matching.observations import Seen, StaticObservation
from supple.design.matching.unknowns import (
    MaterialOf,
    Unknown,
    Unknowns,
    elastic_unknowns,
    unknowns_of,
)
from supple.dynamics.statics import static_shape
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear.cholesky import Factorization

_TOLERANCE = 1e-10  # of the balance of forces, so that derivatives agree with differences
_FLOOR = 1e-4  # of the body's size: what is seen, and simulated, is hardly better
_STIR = 1e-3  # change of a parameter for the derivative of forces at a held shape
_VAGUE = 0.5  # standard error of ξ from which on nothing is known: a factor of 1.6


@dataclass(frozen=True, eq=False)
class MaterialFit:
    """A material that repeats observed shapes.

    ``body`` is made of it. ``unknowns`` were searched; ``values`` are found and ``errors`` their
    standard errors, by name; ``determined`` tells which of them the observations tell. ``factors``
    of numbers above zero: what was found may well be this factor off. ``shapes`` are the simulated
    equilibria (n, 3) [m], ``misses`` the root mean squares [m] of their errors, one for each
    observation. ``estimate`` has the rest: Jacobian, covariance, the standard deviation of the
    noise.
    """

    body: Body
    unknowns: tuple[Unknown, ...]
    values: dict[str, float]
    errors: dict[str, float]
    determined: dict[str, bool]
    shapes: tuple[Floats, ...]
    misses: tuple[float, ...]
    estimate: Estimate

    @property
    def factors(self) -> dict[str, float]:
        """exp of the standard error of ξ: what a positive number may well be off by."""
        errors = self.estimate.errors
        return {u.name: float(np.exp(e)) for u, e in zip(self.unknowns, errors, strict=True)}

    def __str__(self) -> str:
        lines = []
        for u in self.unknowns:
            known = "" if self.determined[u.name] else "  not determined by these shapes"
            lines.append(
                f"{u.name} = {_short(self.values[u.name], 4)} ± "
                f"{_short(self.errors[u.name], 2)} {u.unit}".rstrip()
                + known
            )
        worst = 1e3 * max(self.misses)
        return "\n".join([*lines, f"shapes are met within {worst:.3g} mm (root mean square)"])


def _short(value: float, digits: int) -> str:
    """So many digits, without a power of ten."""
    return np.format_float_positional(float(f"{value:.{digits}g}"), trim="-")


def fit_stiffness(
    body: Body,
    observations: Sequence[StaticObservation],
    *,
    regions: Sequence[str] | None = None,
    poisson: bool = False,
    noise: float | None = None,
    progress: Progress | None = None,
) -> MaterialFit:
    """Young's modulus from static shapes under known loads, and Poisson's ratio if asked for.

    ``body`` has a material to start from. One of a single material gets one modulus, unless
    ``regions`` are named; one with a material for each region gets one for each, or for those in
    ``regions``. ``noise`` [m] is the standard deviation of the positions; without it, it follows
    from what the fit leaves. What the shapes do not determine stays near its start, and a
    MatchingWarning tells so.
    """
    instance("body", body, Body, "Body(mesh, StVK(young=1e5, poisson=0.4), fixed=...)")
    return _fit(body, observations, elastic_unknowns(body, regions, poisson), noise, progress)


def fit_material(
    body: Body,
    observations: Sequence[StaticObservation],
    unknowns: Sequence[Unknown],
    material: MaterialOf,
    *,
    noise: float | None = None,
    progress: Progress | None = None,
) -> MaterialFit:
    """Any parameters of any material from static shapes, as ``fit_stiffness`` finds Young's.

    ``material`` is a function from the values of the ``unknowns``, by name, to a material, or to
    one for each region: knots of a spline, fibre stiffness, a modulus that all regions share.
    """
    instance("body", body, Body, "Body(mesh, StVK(young=1e5, poisson=0.4), fixed=...)")
    return _fit(body, observations, unknowns_of(unknowns, material), noise, progress)


def _fit(
    body: Body,
    observations: Sequence[StaticObservation],
    unknowns: Unknowns,
    noise: float | None,
    progress: Progress | None,
) -> MaterialFit:
    body.require_supports("a fit to static shapes")
    example = "[StaticObservation(positions=..., gravity=(0, 0, -9.81))]"
    given = several("observations", observations, StaticObservation, example)
    if not given:
        raise InputError(f"no observations given; give at least one, {example}")
    if noise is not None:
        number("noise", noise, above=0, unit="m")
    seen = [Seen.of(each, body) for each in given]
    shapes = _Shapes(body, seen, unknowns, progress)
    floor = _FLOOR * body.mesh.diagonal
    weights = _weights(given, noise)
    scale = _scale(given, noise)

    def weighted(xi: Floats) -> tuple[Floats, Floats]:
        parts = shapes.at(xi)
        rho = np.concatenate([w * errors for w, (errors, _) in zip(weights, parts, strict=True)])
        J = np.concatenate([w * slopes for w, (_, slopes) in zip(weights, parts, strict=True)])
        return rho, J

    try:
        found = estimate(weighted, unknowns.start, unknowns.spread, noise=scale, floor=floor)
    except StepFailed as failure:
        raise InputError(
            f"no shape at rest was found with the material that the search starts from: {failure} "
            "Start from a stiffer material"
        ) from failure
    return _result(body, seen, unknowns, shapes, found)


def _weights(given: tuple[StaticObservation, ...], noise: float | None) -> list[float]:
    """What to multiply the errors of each observation by, so that all have the same noise."""
    known = [each.noise for each in given if each.noise is not None]
    if not known:
        return [1.0] * len(given)
    usual = noise if noise is not None else float(np.exp(np.mean(np.log(known))))
    return [1.0 if each.noise is None else usual / each.noise for each in given]


def _scale(given: tuple[StaticObservation, ...], noise: float | None) -> float | None:
    """The noise of weighted errors [m], None if it is to be found."""
    known = [each.noise for each in given if each.noise is not None]
    if noise is not None or len(known) < len(given):
        return noise
    return float(np.exp(np.mean(np.log(known))))


class _Shapes:
    """Equilibria of all observations, each started from where the last ones lead."""

    def __init__(
        self, body: Body, seen: list[Seen], unknowns: Unknowns, progress: Progress | None
    ) -> None:
        self._body, self._seen, self._unknowns = body, seen, unknowns
        self._progress = progress
        self._known: list[tuple[Floats, Floats, Floats] | None] = [None] * len(seen)
        self._count = 0

    def at(self, xi: Floats) -> list[tuple[Floats, Floats]]:
        """Errors and their derivatives by ξ, for each observation."""
        body = self._unknowns.body(self._body, xi)
        stirred = _stirred(self._unknowns, self._body, xi)
        parts, known = [], []
        for k, seen in enumerate(self._seen):
            u = self._rest(body, seen, self._start(k, xi))
            moved = _sensitivities(body, stirred, seen, u)
            parts.append((seen.errors(u), seen.derivatives(moved)))
            known.append((xi.copy(), u, moved))
            self._count += 1
            if self._progress is not None:
                self._progress(self._count, self._count + 1, "static shapes")
        self._known = list(known)
        return parts

    def shapes(self, xi: Floats) -> tuple[Floats, ...]:
        """The equilibria at ξ."""
        body = self._unknowns.body(self._body, xi)
        return tuple(
            self._rest(body, seen, self._start(k, xi)) for k, seen in enumerate(self._seen)
        )

    def _start(self, k: int, xi: Floats) -> Floats | None:
        known = self._known[k]
        if known is None:
            return None
        there, u, moved = known
        ahead: Floats = u + np.tensordot(xi - there, moved, axes=1)
        return ahead

    @staticmethod
    def _rest(body: Body, seen: Seen, start: Floats | None) -> Floats:
        gravity = seen.observation.gravity
        options = {"gravity": gravity, "tolerance": _TOLERANCE}
        if start is not None:
            try:
                return static_shape(body, seen.forces, start=start, **options)  # type: ignore[arg-type]
            except StepFailed:
                pass  # led astray: bring the load on from the start
        return static_shape(body, seen.forces, increments=2, **options)  # type: ignore[arg-type]


def _stirred(unknowns: Unknowns, body: Body, xi: Floats) -> list[list[Body]]:
    """Bodies at ξ ± h and ξ ± 2h for each unknown."""
    steps = _STIR * np.array([-2.0, -1.0, 1.0, 2.0])
    return [[unknowns.body(body, xi + step * axis) for step in steps] for axis in np.eye(len(xi))]


def _sensitivities(body: Body, stirred: list[list[Body]], seen: Seen, u: Floats) -> Floats:
    """du/dξ = −K⁻¹ ∂r/∂ξ at an equilibrium, (k, n, 3).

    ∂r/∂ξ at the held shape by differences of fourth order, exact to rounding where forces are
    linear in a parameter, to 1e-11 where they go with its exponential.
    """
    gravity = seen.observation.gravity
    factors = Factorization(body.pattern, body.free)
    try:
        factors.factorize(body.evaluate(u, order=2).stiffness)
    except NotPositiveDefinite as unstable:
        raise StepFailed(
            "the shape at rest is not stable, so it does not follow the material smoothly",
            time=0.0,
            residual=float("nan"),
            advice="Take a smaller load, or one under which the body does not buckle.",
        ) from unstable
    slopes = []
    for four in stirred:
        r = [each.evaluate(u, order=1).gradient - each.weight(gravity) for each in four]
        slopes.append((r[0] - 8 * r[1] + 8 * r[2] - r[3]) / (12 * _STIR))
    return -factors.solve(np.stack(slopes))


def _result(
    body: Body, seen: list[Seen], unknowns: Unknowns, shapes: _Shapes, found: Estimate
) -> MaterialFit:
    values = unknowns.values(found.parameters)
    vague = found.errors > _VAGUE
    errors = {
        u.name: abs(u.slope(values[u.name])) * float(e)
        for u, e in zip(unknowns.each, found.errors, strict=True)
    }
    if vague.any():
        _warn(unknowns.each, vague, found)
    rest = shapes.shapes(found.parameters)
    misses = [
        float(np.sqrt(np.mean(each.errors(u) ** 2))) for each, u in zip(seen, rest, strict=True)
    ]
    return MaterialFit(
        body=unknowns.body(body, found.parameters),
        unknowns=unknowns.each,
        values=values,
        errors=errors,
        determined={u.name: not bool(v) for u, v in zip(unknowns.each, vague, strict=True)},
        shapes=rest,
        misses=tuple(misses),
        estimate=found,
    )


def _warn(unknowns: tuple[Unknown, ...], vague: Bools, found: Estimate) -> None:
    names = [u.name for u, v in zip(unknowns, vague, strict=True) if v]
    moved = np.linalg.norm(found.jacobian, axis=0)[vague].max()
    together = ""
    if vague.sum() > 1 and moved > 3 * found.noise:
        together = ": each moves the observed points, but what one does another can undo"
    one = len(names) == 1
    least = float(np.exp(found.errors[vague].min()))
    warnings.warn(
        f"{', '.join(names)} {'is' if one else 'are'} not determined by these shapes{together}; "
        f"noise of {found.noise:.2g} m leaves {'it' if one else 'them'} open by factors of "
        f"{least:.2g} and more, near where the search started. Observe shapes in which that part "
        "strains by itself, observe more exactly, or let regions share one number",
        MatchingWarning,
        stacklevel=5,
    )
