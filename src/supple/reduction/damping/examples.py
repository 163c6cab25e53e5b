"""Damping designed by example, on the coordinates of a reduced model (example damping, Eq. 19)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from supple._kernels.damping.examples import couple
from supple._kernels.reduction.example_newton import Examples
from supple.core.errors import InputError
from supple.core.memory import apart
from supple.core.types import Bools, Floats
from supple.damping.curve import Curve, compiled_curves
from supple.damping.example import ExampleDamping, Measure, check_base_damps, excitation_duals
from supple.damping.examples.bends import Bends
from supple.damping.examples.excitation import check_apart
from supple.damping.examples.felt import warn_of_contradictions
from supple.reduction.damping.local import LocalExamples, local_examples
from supple.reduction.model import ReducedModel

_TOO_LITTLE = 0.5  # share of an example, in the plain norm, that the basis must be able to show
_ENOUGH = 0.95


class ExampleWarning(UserWarning):
    """An example that the basis of a reduced model shows in part only."""


class Placed(NamedTuple):
    """Where examples are in the coordinates of a model; edits of its elasticity change nothing."""

    X: Floats
    """Coordinates of the examples, (k, r)."""
    D: Floats
    """Excitations are χ = D (q − about); (k, r)."""
    about: Floats
    """(r,)"""
    bends: Bends | None
    """How the examples bend with the body."""
    local: tuple[LocalExamples, ...]
    """Those that go with a part of the body; X and D are theirs at rest."""

    @classmethod
    def of(cls, damping: ExampleDamping, model: ReducedModel, C: Floats) -> Placed:
        """Those of ``damping``; warns where they contradict each other over the base C (r, r)."""
        if any(e.is_bent for e in damping.examples) and not isinstance(model, ReducedModel):
            raise InputError(
                "a character takes straight examples: example.with_shape(example.shape)"
            )
        if any(e.is_bent and e.is_local for e in damping.examples):
            raise InputError(
                "an example that bends and is local is for full space; in a reduced model leave it "
                "straight: example.with_shape(example.shape)"
            )
        given = []
        for i, example in enumerate(damping.examples):
            label = f"example {i}" + (f" ({example.name!r})" if example.name else "")
            given.append(_coordinates(label, example.shape, model))
        X: Floats = np.ascontiguousarray(np.reshape(given, (-1, model.size)))
        check_apart(X, X @ model.mass)
        local: tuple[LocalExamples, ...] = ()
        D, whole = np.zeros_like(X), [i for i, e in enumerate(damping.examples) if not e.is_local]
        D[whole] = excitation_duals(X[whole], X[whole] @ model.mass, whole)
        if len(whole) < len(X):
            if model.body is None:
                raise InputError(
                    "local examples are seen from what carries their part, which a model from a "
                    "file does not know; make the model anew with reduce(body, basis)"
                )
            local = local_examples(damping.examples, damping.about, model)
            for part in local:
                D[part.members] = part.rates(np.zeros(model.size))
        about = np.zeros(model.size)
        if damping.about is not None and damping.about.any():
            about = _coordinates("the shape about", damping.about, model)
        moving = tuple(part for part in local if part.moves)
        bends = Bends.of(damping.examples, model.coordinates, (model.size,))
        G = X @ C @ X.T
        check_base_damps(damping, np.diag(G))
        if damping.definite:
            warn_of_contradictions(
                damping.examples, 0.5 * (G + G.T), symmetric=damping.symmetric, stacklevel=2
            )
        return cls(X, D, about, bends, moving)


@dataclass(frozen=True, eq=False)
class ReducedExamples:
    """Ĉ = g (C + C X W (C X)ᵀ) over a base damping C (r, r), in r coordinates."""

    damping: ExampleDamping
    mass: Floats
    """M̃ (r, r)."""
    total_mass: float
    """[kg]"""
    X: Floats
    D: Floats
    about: Floats
    bends: Bends | None
    local: tuple[LocalExamples, ...]

    @classmethod
    def of(
        cls, damping: ExampleDamping, model: ReducedModel, C: Floats, placed: Placed | None = None
    ) -> ReducedExamples:
        """The examples of ``damping`` over the base C (r, r) at rest.

        ``placed`` is where they are in the coordinates, if that is known.
        """
        there = placed or Placed.of(damping, model, C)
        total_mass = 1.0 if damping.overall is None else model.total_mass
        return cls(damping, model.mass, total_mass, *there)

    def differs_in_base_alone(self, other: ReducedExamples | None) -> bool:
        """Whether it is what ``other`` was but for C; local ones go with the state."""
        return (
            other is not None
            and not self.local
            and self.damping is other.damping
            and self.X is other.X
            and self.total_mass == other.total_mass
        )

    def excitations(self, q: Floats) -> Floats:
        """χ at coordinates q (..., r), (..., k)."""
        chi: Floats = (q - self.about) @ self.D.T
        for part in self.local:
            for at in np.ndindex(chi.shape[:-1]):
                chi[at][part.members] = part.excitations(q[at])
        return chi

    def rates(self, q: Floats) -> Floats:
        """χ̇ = rows · q̇ at coordinates q (r,), (k, r)."""
        if not self.local:
            return self.D
        rows = self.D.copy()
        for part in self.local:
            rows[part.members] = part.rates(q)
        return rows

    def turned(self, q: Floats) -> Floats:
        """The examples as they have gone with their parts at q, (k, r)."""
        if not self.local:
            return self.X
        X = self.X.copy()
        for part in self.local:
            X[part.members] = part.turned(q)
        return X

    def at(self, q: Floats) -> Floats:
        """The examples (k, r) at q, bent with the body and turned with their parts."""
        X = self.turned(q)
        return X if self.bends is None else self.bends.tangents(X, self.excitations(q))

    def force(self, q: Floats, v: Floats, C: Floats) -> Floats:
        """Ĉ v at q, for the base C there."""
        X = self.at(q)
        CX = X @ C
        W = self._coupling(q, v, CX @ X.T)
        return self._overall(q) * (C @ v + (W @ (CX @ v)) @ CX)

    def matrix(self, q: Floats, v: Floats, C: Floats) -> Floats:
        """Ĉ at q and v, for the base C there."""
        X = self.at(q)
        CX = X @ C
        W = self._coupling(q, v, CX @ X.T)
        return np.asarray(self._overall(q) * (C + CX.T @ W @ CX))

    def _overall(self, q: Floats) -> float:
        """g = γ(‖u‖) (Eq. 17)."""
        if self.damping.overall is None:
            return 1.0
        u = q - self.about
        square = max(float(u @ self.mass @ u), 0.0) / self.total_mass
        return float(self.damping.overall(np.sqrt(square)))

    def _coupling(self, q: Floats, v: Floats, G: Floats) -> Floats:
        """W with Ĉ = C + C X W (C X)ᵀ."""
        sizes = np.where(self._by_rate, self.rates(q) @ v, self.excitations(q))
        gamma = np.array(
            [c.at(x) for c, x in zip(self.damping.curves, sizes.tolist(), strict=True)]
        )
        W: Floats = np.empty(G.shape)
        workspace = np.empty((2, *G.shape))
        damping = self.damping
        couple(0.5 * (G + G.T), gamma, damping.symmetric, damping.definite, W, *workspace)
        return W

    @cached_property
    def _by_rate(self) -> Bools:
        return np.array([e.measure is Measure.RATE for e in self.damping.examples], dtype=bool)

    def compiled(self, C0: Floats, instead: Examples | None = None) -> Examples:
        """The examples for compiled loops, over C = C₀ + B.

        The rest is that of ``instead``, where only the base has changed since.
        """
        if instead is not None:
            return instead._replace(C0=apart(C0), C0X=apart(self.X @ C0))
        k, r = self.X.shape
        bends, reach = np.empty((k, 0, r)), np.zeros(k)
        if self.bends is not None:
            bends, reach = self.bends.coefficients, self.bends.reach
        overall = self.damping.overall
        curves = compiled_curves([*self.damping.curves, overall or Curve.constant(1.0)])
        examples = Examples(
            X=self.X, straight=self.X, bends=bends, reach=reach, C0=C0,
            D=self.D, about=self.about, by_rate=self._by_rate,
            symmetric=self.damping.symmetric, definite=self.damping.definite,
            scaled=overall is not None,
            total_mass=self.total_mass, curves=curves,
            C0X=self.X @ C0, F=np.zeros((k, r)), solved=np.zeros((k + 1, r)),
            gamma=np.zeros(k), share=np.zeros(k),
            **{name: np.zeros((k, k)) for name in "GWVST"},
        )  # fmt: skip
        return apart(examples)

    def update(self, to: Examples, q: Floats) -> None:
        """Bring local examples to coordinates q (r,), for compiled loops.

        Those take excitations as D (q − about), so that the rows of D are such as give these here.
        """
        if not self.local:
            return
        to.straight[:] = to.X[:] = self.turned(q)  # what bends is bent there
        chi, rows, away = self.excitations(q), self.rates(q), q - self.about
        square = float(away @ away)
        for part in self.local:
            for i in part.members[~self._by_rate[part.members]]:
                to.D[i] = chi[i] / square * away if square > 0.0 else 0.0
            for i in part.members[self._by_rate[part.members]]:
                to.D[i] = rows[i]


def _coordinates(label: str, shape: Floats, model: ReducedModel) -> Floats:
    """The coordinates of a shape, checked to be one that the basis can show."""
    if shape.shape != model.mesh.vertices.shape:
        raise InputError(
            f"{label} has shape {shape.shape}, the model's mesh {model.mesh.vertices.shape}; give "
            "displacements of the body that was reduced"
        )
    q = model.coordinates(shape)
    share = float(np.linalg.norm(model.displacements(q)) / np.linalg.norm(shape))
    message = (
        f"the basis can show {100 * share:.3g} % of {label}; put it into the basis before "
        "reducing: joined_basis(body, picked_basis(body, [shape]), basis)"
    )
    if share < _TOO_LITTLE:
        raise InputError(message)
    if share < _ENOUGH:
        warnings.warn(message, ExampleWarning, stacklevel=2)
    return q
