"""From where the sides of a pair push each other away, and how hard."""

from __future__ import annotations

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.contact.contact_surface import ContactSurface, Pairs
from supple.contact.self_contact import SelfContact
from supple.core.errors import InputError
from supple.core.types import Floats, Ints

_DISTANCE = 0.2  # mean edges of a part of the mesh, where no distance is given,
_OF_LEAST = 0.5  # but no more than this share of the least distance to another one at rest
_TOUCHING = 1e-6  # mean edges, up to which parts of a mesh touch
_FIRMNESS = 1.0  # times the stiffness of the body at a vertex, that a barrier has there
_OF_HARDER = 2 / 3
_IMPACT = 0.3  # m/s: whose pressure barriers bear about half way, however near they begin
_STOPPED = 5.0  # m/s: from which a barrier as stiff as K d̂² = m v² stops a rigid body


class PairScales:
    """The reach d̂ [m] and weight K [J] of pairs on a surface.

    The reach follows from the mesh: 0.2 mean edges, of the part of the two that has shorter ones;
    or from the body, where that knows how thick its layers are.
    Where the two start nearer than twice that, half of what lies between them is the reach of all
    their pairs, so that nothing pushes at the start, and nothing has to climb over a step as they
    slide. Sides that are neighbours in the mesh never slide far; there half of what lies between
    them at rest bounds the reach of this pair alone.

    The stiffness is that of the bodies, or as an impact wants it where the reach is small beside
    what that compresses.
    """

    def __init__(self, body: ElasticBody, surface: ContactSurface, options: SelfContact) -> None:
        self._surface = surface
        mean = _means(surface.parts[surface.edges[:, 0]], surface.lengths, surface.n_parts)
        given = options.distance
        if given is None:
            own = _means(surface.parts, body.layer_distances[surface.ids], surface.n_parts)
            self._wanted = np.where(np.isnan(own), _DISTANCE * mean, own)
        else:
            self._wanted = np.full(surface.n_parts, given)
        self._close, self._values = self._where_close(mean, given)
        self.distance = float(self._wanted[np.isfinite(self._wanted)].max())
        """The largest d̂ that pairs may have [m]."""
        self._given = options.stiffness
        self._firmness, self._impedance = self._fitting_firmness(body)

    @property
    def room(self) -> Floats:
        """How far from a vertex [m] there may be something in reach, (m,)."""
        return np.asarray(self._wanted[self._surface.parts])

    def between(self, first: int, second: int) -> float:
        """d̂ [m] between two connected parts of the mesh, numbered by their first vertices."""
        low, high = sorted((first, second))
        found = min(self._wanted[low], self._wanted[high])
        at = np.flatnonzero(self._close == low * self._surface.n_parts + high)
        return float(min(found, *self._values[at]) if len(at) else found)

    def stiffness_between(self, first: int, second: int) -> float:
        """κ [Pa] between two parts, at their reach."""
        if self._given is not None:
            return self._given
        parts = np.array([[first], [second]])
        reach = np.array([self.between(first, second)])
        return float(self._pressure(parts, reach, reach)[0])

    def of(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """d̂ [m] and K = κ d̂ A [J] of pairs, (k,) each."""
        surface = self._surface
        reach = surface.reach(pairs, self._wanted, self._close, self._values, _OF_LEAST)
        if self._given is not None:
            stiffness = np.full(len(pairs), self._given)
        else:
            alone = surface.n_parts == 1
            parts = np.zeros((2, 1), np.int64) if alone else surface.parts[pairs.quads[:, [0, 3]].T]
            stiffness = self._pressure(parts, self._between(*parts), reach)
        return reach, stiffness * reach * surface.weights(pairs)

    def _between(self, first: Ints, second: Ints) -> Floats:
        """d̂ [m] between pairs of parts, (k,)."""
        found = np.minimum(self._wanted[first], self._wanted[second])
        if len(self._close):
            low, high = np.minimum(first, second), np.maximum(first, second)
            keys = low * self._surface.n_parts + high
            at = np.minimum(np.searchsorted(self._close, keys), len(self._close) - 1)
            known = self._close[at] == keys
            found[known] = np.minimum(found[known], self._values[at[known]])
        return np.asarray(found)

    def _pressure(self, parts: Ints, between: Floats, reach: Floats) -> Floats:
        """κ [Pa] of pairs of parts (2, k) that are ``between`` [m] for both, at their ``reach``.

        Where d̂ is small beside how far an impact at v compresses the bodies, they bear its
        pressure v z, with the impedance z = √(k m/A), and not k d̂; so does the barrier then.
        """
        k, z = self._joint(self._firmness[parts]), self._joint(self._impedance[parts])
        return np.asarray(np.maximum(k, _IMPACT * z / between) * reach)

    def _joint(self, both: Floats) -> Floats:
        """k of pairs of parts from those of each, (2, k).

        Let the pressure between them be somewhere between those that the softer and the harder one
        bear. A barrier that is too hard for it by a factor f is stiffer than the right one by √f,
        since b ~ (1 − s)³ where it begins; one that is too soft by f is driven to d ~ d̂/f and is
        stiffer by f. k = k₁^⅓ k₂^⅔, nearer the harder, makes the worst of both least.
        """
        soft, hard = np.minimum(*both), np.maximum(*both)
        soft = np.where(np.isfinite(soft), soft, 1.0)  # two that are held do not meet
        hard = np.where(np.isfinite(hard), hard, soft)
        return np.asarray(soft ** (1 - _OF_HARDER) * hard**_OF_HARDER)

    def _where_close(self, mean: Floats, given: float | None) -> tuple[Ints, Floats]:
        """Sorted pairs of parts that start nearer than twice what they want, and their reach."""
        surface = self._surface
        count, X = surface.n_parts, surface.X
        pairs = surface.candidates(X, self.room / _OF_LEAST)
        d = np.sqrt(surface.squared_distances(pairs, X))
        low, high = np.sort(surface.parts[pairs.quads[:, [0, 3]]], axis=1).T
        if (d <= _TOUCHING * np.minimum(mean[low], mean[high])).any() or surface.crosses_itself(X):
            raise InputError(
                "the mesh touches or passes through itself where it starts; self-contact keeps "
                "layers apart but does not untangle them, so move them apart, join vertices that "
                "should be one, or go without self_contact"
            )
        apart = ~surface.are_neighbours(pairs)
        keys, d = (low * np.int64(count) + high)[apart], d[apart]
        close, place = np.unique(keys, return_inverse=True)
        least = np.full(len(close), np.inf)
        np.minimum.at(least, place, d)
        if given is None:
            return close, _OF_LEAST * least
        if len(least) and given > least.min():
            raise InputError(
                f"distance={given:g} m, but parts of the mesh that share no vertex are "
                f"{least.min():.3g} m apart as it starts and would push each other away; give "
                "less, or nothing for a distance that fits the mesh"
            )
        return close[:0], least[:0]

    def _fitting_firmness(self, body: ElasticBody) -> tuple[Floats, Floats]:
        """k [N/m³] of each part, at which barriers are about as stiff as it: A k = K at a vertex.

        With its impedance z [Pa s/m], A z = √(K m). Both are infinite for parts that are held.
        """
        surface = self._surface
        rest = body.evaluate(np.zeros_like(body.mesh.vertices), order=2).stiffness
        carried, first = surface.carried, body.pattern.indptr[surface.carried.first]
        K = np.einsum("bii->b", rest[first]) / 3
        m = body.mass_values[first]
        rigid = ~carried.is_vertex
        if rigid.any():  # stopped about half way, by all of its points
            mass = (carried.widths * m)[rigid]
            own, reach = surface.parts[rigid], self._wanted[surface.parts[rigid]]
            K[rigid] = mass / np.bincount(own)[own] * (_STOPPED / reach) ** 2
        free = carried.with_any(np.asarray(body.free.any(axis=1)))
        parts, count = surface.parts[free], surface.n_parts
        sums = np.bincount(parts, _FIRMNESS * K[free], count)
        areas = np.bincount(parts, surface.areas[0][free], count)
        roots = np.bincount(parts, np.sqrt(np.maximum(K * m, 0.0))[free], count)
        found = np.full((2, count), np.inf)
        np.divide(np.stack([sums, roots]), areas, out=found, where=areas > 0)
        return found[0], found[1]


def _means(parts: Ints, values: Floats, count: int) -> Floats:
    """The mean of the values of each part, infinite for those that have none."""
    sums, many = np.bincount(parts, values, count), np.bincount(parts, minlength=count)
    return np.asarray(np.where(many > 0, sums / np.maximum(many, 1), np.inf))
