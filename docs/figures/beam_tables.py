"""The tables of the verification page, from the same code that the tests run."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.timing import table  # noqa: E402
from tests import test_verification as closed  # noqa: E402

import supple as sp  # noqa: E402

TABLES = ROOT / "docs" / "tables"


def frequencies() -> str:
    clamped = closed.beam_frequencies(closed.FINE, 0.0, clamped=True)
    free = closed.beam_frequencies(closed.FINE, 0.3, clamped=False)
    twist = np.sqrt(closed.YOUNG / 2.6 * closed.TORSION / closed.DENSITY * 6) / 2
    axial = np.sqrt(closed.YOUNG / closed.DENSITY) / 4
    cases = [
        (f"clamped, ν = 0, bending {k + 1}", clamped["bending"][k], f)
        for k, f in enumerate(closed.timoshenko_frequencies(0.0, 4, clamped=True))
    ]
    cases += [
        (f"free, ν = 0.3, bending {k + 1}", free["bending"][k], f)
        for k, f in enumerate(closed.timoshenko_frequencies(0.3, 3, clamped=False))
    ]
    cases += [("free, ν = 0.3, torsion 1", free["torsion"][0], twist)]
    cases += [("clamped, ν = 0, axial 1", clamped["axial"][0], axial)]
    rows = [[n, f"{a:.4f}", f"{b:.4f}", f"{100 * (a / b - 1):+.3f} %"] for n, a, b in cases]
    return table(["mode", "Supple [Hz]", "closed form [Hz]", "error"], rows)


def elastica() -> str:
    h = closed.LENGTH / 50
    mesh = sp.QuadraticTetMesh.box((closed.LENGTH, h, h), (50, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e9, poisson=0.0), fixed=mesh.where(x=0))
    tip, u, rows = mesh.where(x=closed.LENGTH), None, []
    for load in (1.0, 4.0, 10.0):
        traction = load * 1e9 * h**4 / 12 / closed.LENGTH**2 / h**2
        u = sp.static_shape(body, body.surface_force(tip, (0, 0, traction)), start=u)
        x, w = closed.elastica_tip(load)
        found = u[tip].mean(axis=0)
        errors = [f"{100 * (found[2] / w - 1):+.3f} %",
                  f"{100 * ((closed.LENGTH + found[0]) / x - 1):+.3f} %"]  # fmt: skip
        rows.append([f"{load:g}", f"{found[2]:.4f}", f"{w:.4f}", *errors])
    headers = ["P L²/EI", "deflection / L", "elastica", "error", "error of the tip's x"]
    return table(headers, rows)


if __name__ == "__main__":
    (TABLES / "beams.md").write_text(frequencies() + "\n", encoding="utf-8")
    (TABLES / "elastica.md").write_text(elastica() + "\n", encoding="utf-8")
