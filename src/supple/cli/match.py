"""``supple match``: the material and the damping of a real object."""

from __future__ import annotations

import argparse

from supple.cli.failures import DONE, MISSED, noting
from supple.cli.progress import Reporter, say
from supple.design import RecoveryFit, RingDownFit
from supple.workflows.matching import match


def command(given: argparse.Namespace) -> int:
    with noting(given), Reporter("matching", quiet=given.quiet) as reporter:
        result = match(given.file, given.output, overwrite=given.overwrite, progress=reporter)
    if result.material is not None:
        say(str(result.material), quiet=given.quiet)
    if result.damping is not None:
        say(_damping(result.damping), quiet=given.quiet)
    for file in result.files:
        say(f"  {file}", quiet=given.quiet)
    return DONE if result.determined else MISSED


def _damping(fit: RingDownFit | RecoveryFit) -> str:
    base = f"α = {fit.base.mass:.3g} 1/s, β = {fit.base.stiffness:.3g} s, times {fit.curve}"
    if isinstance(fit, RecoveryFit):
        off, linear = 100 * max(fit.misses), 100 * max(fit.rayleigh_misses)
        how = "the recordings creep back: whole curves are matched"
    else:
        off = 100 * max(each.envelope for each in fit.designed.matches)
        linear = 100 * max(each.envelope for each in fit.rayleigh.matches)
        how = (
            "the recordings swing: envelopes are matched, with Young's modulus "
            f"{fit.young_factor:.3f} times that at rest"
        )
    return f"{how}\n{base}\noff by {off:.2g} %, without the curve {linear:.2g} %"
