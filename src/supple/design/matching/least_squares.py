"""Least squares with a prior: what measurements say of parameters, and what they do not say.

Minimised is ‖ρ(p)‖²/σ² + ‖(p − p₀)/s‖²: errors ρ [m] of observed places whose noise has the
standard deviation σ, and parameters p that may well be s off p₀. Where σ is not known it follows
from the errors that are left. The inverse of the Hessian of half of this, as Gauss and Newton take
it, is the covariance of the parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats

_ITERATIONS = 60
_PASSES = 12  # over σ
_SETTLED = 1e-6  # step, in the units of parameters, that counts as none unless told otherwise
_SAME = 0.02  # relative change of σ that counts as none
_LONGEST = 1.2  # step of a parameter: a factor of three for a logarithm
_DAMPED, _EASED, _MOST_DAMPED = 10.0, 0.2, 1e10

Evaluate = Callable[[Floats], tuple[Floats, Floats]]
"""Errors ρ (N,) [m] at parameters (k,), and their derivatives (N, k). May raise StepFailed."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Parameters (k,) with what is known of them.

    ``covariance`` (k, k) is that of the parameters, given observations and prior; ``noise`` σ [m];
    ``residuals`` (N,) [m] and ``jacobian`` (N, k) belong to ``parameters``.
    """

    parameters: Floats
    residuals: Floats
    jacobian: Floats
    covariance: Floats
    noise: float
    evaluations: int

    @property
    def errors(self) -> Floats:
        """Standard errors of the parameters, (k,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def singular(self) -> tuple[Floats, Floats]:
        """Singular values [m] of the Jacobian, and their directions in parameters, as rows."""
        _, values, directions = np.linalg.svd(self.jacobian, full_matrices=False)
        return values, directions


class _Objective:
    """What is minimised, with its evaluations counted."""

    def __init__(self, evaluate: Evaluate, start: Floats, spread: Floats, settled: float) -> None:
        self._evaluate, self._start, self._spread = evaluate, start, spread
        self._settled = settled
        self.evaluations = 0
        self.sigma = 1.0

    def at(self, p: Floats) -> tuple[Floats, Floats]:
        self.evaluations += 1
        return self._evaluate(p)

    def value(self, p: Floats, rho: Floats) -> float:
        off = (p - self._start) / self._spread
        return float(rho @ rho) / self.sigma**2 + float(off @ off)

    def system(self, p: Floats, rho: Floats, J: Floats) -> tuple[Floats, Floats]:
        """Half the gradient (k,) and half the Gauss–Newton Hessian (k, k)."""
        gradient = J.T @ rho / self.sigma**2 + (p - self._start) / self._spread**2
        return gradient, J.T @ J / self.sigma**2 + np.diag(self._spread**-2)

    def minimise(self, p: Floats, rho: Floats, J: Floats) -> tuple[Floats, Floats, Floats]:
        """Levenberg and Marquardt from p, at which errors and derivatives are known."""
        damping, value = 1e-4, self.value(p, rho)
        for _ in range(_ITERATIONS):
            gradient, H = self.system(p, rho, J)
            while True:
                step = -np.linalg.solve(H + damping * np.diag(np.diag(H)), gradient)
                step *= min(1.0, _LONGEST / max(float(np.abs(step).max()), self._settled))
                if np.abs(step).max() < self._settled or damping > _MOST_DAMPED:
                    return p, rho, J
                try:
                    there = self.at(p + step)
                except StepFailed:  # no shape found there: nearer by
                    damping *= _DAMPED**2
                    continue
                if self.value(p + step, there[0]) < value:
                    break
                damping *= _DAMPED
            p, (rho, J) = p + step, there
            value, damping = self.value(p, rho), max(damping * _EASED, 1e-12)
        return p, rho, J


def estimate(
    evaluate: Evaluate,
    start: Floats,
    spread: Floats,
    *,
    noise: float | None,
    floor: float,
    settled: float = _SETTLED,
) -> Estimate:
    """The parameters that observations and prior together make most likely.

    ``noise`` is σ [m]; if None it is found, and never taken to be below ``floor`` [m]. Steps of
    parameters below ``settled`` count as none.
    """
    objective = _Objective(evaluate, start, spread, settled)
    p = start
    rho, J = objective.at(p)
    if not len(rho):
        raise InputError("no components of positions are observed; give at least one")
    # from a σ that is too large the prior rules at first: nothing runs away that is not determined
    objective.sigma = noise if noise is not None else max(floor, 0.1 * _rms(rho))
    for _ in range(_PASSES):
        p, rho, J = objective.minimise(p, rho, J)
        if noise is not None:
            break
        before, (_, H) = objective.sigma, objective.system(p, rho, J)
        # so many parameters the observations tell, in place of the prior
        told = float(np.trace(np.linalg.solve(H, J.T @ J / before**2)))
        freedom = max(len(rho) - told, 1.0)
        objective.sigma = max(floor, float(np.linalg.norm(rho)) / np.sqrt(freedom))
        if abs(objective.sigma / before - 1) < _SAME:
            break
    covariance: Floats = np.asarray(np.linalg.inv(objective.system(p, rho, J)[1]))
    return Estimate(p, rho, J, covariance, objective.sigma, objective.evaluations)


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))
