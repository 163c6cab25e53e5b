"""Newton's method with the whole Jacobian, for stages that a definite matrix does not lead through.

The matrix of ``newton`` is symmetric and positive definite: how damping changes with the shape, and
what curves over the rate add, is in it as far as it is positive. Where the rest is as large as the
stiffness, iterations with it go to and fro. Here every column is a difference of forces, which is
the derivative of whatever they are made of, at the price of r evaluations.

Corrections are shortened until the one that would follow, by the same Jacobian, is shorter: the
natural monotonicity test (Deuflhard, Newton methods for nonlinear problems, §3.1.2), which does not
depend on units, and needs no energy whose minimum is sought.
"""

import numpy as np

from supple._kernels.character.stage import find_damped_forces, strain
from supple._kernels.compiling import LARGEST, inner_kernel
from supple._kernels.linear_algebra.dense import solve_general
from supple._kernels.reduction.example_newton import (
    overall_scale,
    subtract_examples,
    weigh_examples,
)
from supple._kernels.reduction.newton import (
    DONE,
    NOT_CONVERGED,
    NOT_DEFINITE,
    NOT_FINITE,
    fill_system,
    find_rates,
    is_finite,
    is_small,
)

EXACT_ITERATIONS = 20
HALVINGS = 12
ASIDE = 1e5  # times what is rounding: how far aside forces are looked at, for differences
KEPT = 0.25  # share that may be left of a correction, if the Jacobian is to serve again


@inner_kernel
def subtract_damping(balance, c_v, c_a, examples):
    """What is left of the forces at x, those of the cells are known."""
    find_rates(balance, c_v, c_a)
    if examples is None:
        fill_system(balance, c_v, c_a, False, 1.0, False, balance.force)
    else:
        v, F, W = balance.v, examples.F, examples.W
        g = overall_scale(balance.x, False, balance.M, examples)
        weigh_examples(balance.B, False, balance.x, v, examples, F, W, examples.V)
        fill_system(balance, c_v, c_a, False, g, False, balance.force)
        subtract_examples(g, v, F, W, examples.share, balance.force)


@inner_kernel
def find_residual(c_v, c_a, context, model, workspace):
    """Fills ``balance.force`` at x; says whether it is finite and no cell about to turn round."""
    upright = strain(workspace.balance.x, model, workspace) >= context.options.min_det_F
    if upright:
        find_damped_forces(c_v, context, model, workspace)
        subtract_damping(workspace.balance, c_v, c_a, context.examples)
    return upright and is_finite(workspace.balance.force)


@inner_kernel
def fill_jacobian(c_v, c_a, context, model, workspace):
    """J by differences, from the forces at x in ``exact.force``."""
    x, force, exact = workspace.balance.x, workspace.balance.force, workspace.exact
    J, here = exact.J, exact.force
    for j in range(len(x)):
        kept = x[j]
        x[j] = kept + ASIDE * context.options.rounding
        find_residual(c_v, c_a, context, model, workspace)
        step = x[j] - kept
        x[j] = kept
        for i in range(len(x)):
            J[i, j] = (here[i] - force[i]) / step


@inner_kernel
def solve_jacobian(exact, force, to):
    """``to`` = J⁻¹ force; returns its largest entry, or infinity."""
    J, factors = exact.J, exact.factors
    for i in range(len(force)):
        to[i] = force[i]
        for j in range(len(force)):
            factors[i, j] = J[i, j]
    solve_general(factors, to)
    size = 0.0
    for i in range(len(force)):
        size = max(size, abs(to[i]))
    return size if is_finite(to) else np.inf


@inner_kernel
def shorten(size, c_v, c_a, context, model, workspace):
    """x = start + as much of the correction as leads on.

    Returns the share taken, 0 where none does, and the size of the correction that would follow.
    """
    balance, exact = workspace.balance, workspace.exact
    x, start, delta = balance.x, exact.start, exact.delta
    share = 1.0
    for _ in range(HALVINGS):
        for i in range(len(x)):
            x[i] = start[i] + share * delta[i]
        if find_residual(c_v, c_a, context, model, workspace):
            left = solve_jacobian(exact, balance.force, exact.left)
            if left <= (1.0 - 0.5 * share) * size:
                return share, left
        share *= 0.5
    for i in range(len(x)):
        x[i] = start[i]
    return 0.0, size


@inner_kernel
def iterate_exactly(c_v, c_a, context, model, workspace):
    """Newton's method from x on; says how it went."""
    options, balance, exact = context.options, workspace.balance, workspace.exact
    history, x = workspace.history, balance.x
    if not find_residual(c_v, c_a, context, model, workspace):
        return NOT_FINITE
    fresh = current = False
    exact.force[:] = balance.force
    for _ in range(EXACT_ITERATIONS):
        workspace.counts[0] += 1.0
        if not current:
            fill_jacobian(c_v, c_a, context, model, workspace)
        fresh = not current
        size = solve_jacobian(exact, exact.force, exact.delta)
        if not size <= LARGEST:
            return NOT_DEFINITE
        exact.start[:] = x
        if size <= options.rounding or is_small(size, options.tolerance, x, history):
            x += exact.delta
            return DONE
        share, left = shorten(size, c_v, c_a, context, model, workspace)
        if share == 0.0:
            if fresh:
                return NOT_CONVERGED
            current = False
            continue
        exact.force[:] = balance.force
        current = share == 1.0 and left <= KEPT * size
    return NOT_CONVERGED
