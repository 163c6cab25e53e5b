"""Cubature of the beam of 11,172 tetrahedra: training, errors, and one evaluation, on one thread.

Bases are vibration modes, and modes with their derivatives. Run it with OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import time

import numpy as np

import supple as sp
from benchmarks.cantilever import beam
from benchmarks.timing import median_seconds, table
from supple.reduction.basis import modal_derivative_basis
from supple.reduction.cubature.cubature import Cubature
from supple.reduction.cubature.training import train_cubature

HEADERS = [
    "material",
    "basis",
    "r",
    "training [s]",
    "cells",
    "training error [%]",
    "test error [%]",
]
TIMES = ["evaluate [µs]", "force only [µs]", "each of 100 copies [µs]"]
MATERIALS = (sp.StableNeoHookean, sp.NeoHookean, sp.Corotational, sp.StVK)


def microseconds(cubature: Cubature) -> list[float]:
    """Median times of energy, force and stiffness; of energy and force; of one copy of many."""
    r = cubature.n_coordinates
    Q = 1e-3 * np.random.default_rng(0).normal(size=(100, r))
    return [
        1e6 * median_seconds(lambda: cubature.evaluate(Q[0])),
        1e6 * median_seconds(lambda: cubature.evaluate(Q[0], order=1)),
        1e6 * median_seconds(lambda: cubature.evaluate_many(Q)) / len(Q),
    ]


def main() -> None:
    sp.set_thread_count(1)
    rows: list[list[object]] = []
    for material in MATERIALS:
        body = beam(material)
        modes = sp.vibration_modes(body, 30).shapes
        bases = [("modes", modes[:r]) for r in (10, 20, 30)]
        derivatives = [
            modal_derivative_basis(body, modes=m, size=r) for m, r in ((8, 20), (12, 30))
        ]
        bases += [("derivatives", basis.vectors) for basis in derivatives]
        train_cubature(body, modes[:4])  # compile
        for name, vectors in bases:
            start = time.perf_counter()
            cubature = train_cubature(body, vectors)
            seconds = time.perf_counter() - start
            errors = [100 * cubature.training_error, 100 * cubature.test_error]
            row: list[object] = [material.__name__, name, len(vectors), seconds, cubature.size]
            rows.append([*row, *errors, *microseconds(cubature)])
    sp.set_thread_count(0)
    print(table([*HEADERS, *TIMES], rows))
