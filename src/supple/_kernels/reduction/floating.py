"""Steps of a reduced body that floats: x = p + R y, y = Y + Σ q_i φ_i, in one compiled loop.

With ω the angular velocity in the frame of the body, and moments of its masses

    Z_j(q) = Σ m y ⊗ φ_j        H_j(q) = Σ m y × φ_j        J = tr(A) I − A,  A = Σ m y ⊗ y

the kinetic energy is ½ m V² + ½ ω·Jω + ω·h + ½ q̇·M̃q̇ with h = Σ H_j q̇_j, and

    M̃ q̈ + ω̇·H_j(q) + 2 ω·H_j(q̇) − ½ ω·(∂J/∂q_j)ω + α (M̃ q̇ + ω·H_j) + C q̇ + R̃ = φ_j · Rᵀf
    Jω + h = RᵀL        L̇ = torque − α L

Of rotation, the angular momentum L in the world is what is stepped: nothing but torque changes it.
The rotation vector θ from the start of a step, with the rates ω and ω̇, goes through the
integrator's table like a displacement, and so does p.

``rigid`` holds eight vectors for each point in time (now, one step ago, the end of each stage), and
``frame`` seven matrices; both are named in frame.py, with the tuples ``moments``, ``flight`` and
``workspace``. ``load`` are the moments of the forces, ``push`` their sum per mass with gravity.
"""

from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from supple._kernels.compiling import (
    LARGEST,
    borrowing_kernel,
    inner_kernel,
    kernel,
    reordering_kernel,
)
from supple._kernels.reduction.floating_newton import (
    OF_A,
    OF_Q,
    correct_floating,
    fill_moments,
    inertial_force,
    move,
    solve,
)
from supple._kernels.reduction.frame import (
    J_INVERSE,
    L_RATE,
    OMEGA,
    OMEGA_RATE,
    R_NOW,
    R_STAGE,
    SCRATCH,
    THETA,
    V_RATE,
    L,
    V,
    along,
    begin_rigid,
    find_spin_rate,
    orthonormalize,
    times3,
    torque_of,
    turn,
)
from supple._kernels.reduction.laws import strain_laws, sum_laws
from supple._kernels.reduction.newton import (
    DONE,
    GO_ON,
    NOT_CONVERGED,
    NOT_DEFINITE,
    NOT_FINITE,
    is_small,
)
from supple._kernels.reduction.polynomial import ONE, evaluate, evaluate_rate, mirror
from supple._kernels.reduction.stepping import ITERATIONS, UNSOLVED, begin_stage


@structref.register
class FloatingContextType(types.StructRef):
    """For Numba."""


class FloatingContext(structref.StructRefProxy):
    """Stages, Polynomial, RateForm, Moments, Flight, FloatingWorkspace and FloatingOptions."""


_define: Any = structref.define_proxy
_define(
    FloatingContext,
    FloatingContextType,
    ["stages", "polynomial", "rate", "moments", "flight", "workspace", "options"],
)
_make: Any = FloatingContext


@kernel
def floating_context(stages, polynomial, rate, moments, flight, workspace, options):
    """All seven behind one pointer."""
    return _make(stages, polynomial, rate, moments, flight, workspace, options)


@borrowing_kernel
def begin(s, stages, flight, w, options, push):
    """The first guess of stage s, in ``X``, and where it takes the centre of mass."""
    begin_stage(s, stages, flight.history, w.x_v, w.x_a, w.X[0])
    begin_rigid(s, stages, push, options.alpha, flight.rigid, w)


@borrowing_kernel
def correct_stage(s, stages, moments, flight, w, options, load):
    """One Newton iteration of stage s; returns why to stop, or GO_ON."""
    c_v, c_a, now = stages.c_v[s], stages.c_a[s], flight.rigid[s + 2]
    w.counts[ITERATIONS] += 1
    size = correct_floating(c_v, c_a, options, load, moments.D, now, flight.frame, w)
    if size < 0.0:
        return NOT_DEFINITE
    if size == np.inf:
        return NOT_FINITE
    if is_small(size, options.tolerance, w.X[0], flight.history):
        return DONE
    return GO_ON


@borrowing_kernel
def fill_damping(q, rate, w):
    """C = C₀ + B(q)."""
    C, C0 = w.C, w.C0
    if len(rate.rows) > 0:
        evaluate_rate(q, rate, C)
        mirror(C)
        for i in range(len(C)):
            for j in range(len(C)):
                C[i, j] += C0[i, j]
    else:
        for i in range(len(C)):
            for j in range(len(C)):
                C[i, j] = C0[i, j]


@inner_kernel
def add_laws_in_flight(c_v, laws, w):
    """Laws at the coordinates of the stage: their force to R, c_v times its derivative to K."""
    strain_laws(w.X[0], w.X[1], laws)
    sum_laws(0, len(laws.addresses), laws, w.R)
    C, K = laws.C, w.K
    for i in range(np.uint64(len(K))):
        for j in range(i + ONE):
            K[i, j] += c_v * C[i, j]


@borrowing_kernel
def keep_stage(s, flight, w):
    """Keeps the end of stage s; returns whether it is finite."""
    X, history, rigid = w.X, flight.history, flight.rigid
    total = 0.0
    for k in range(3):
        for i in range(X.shape[1]):
            history[6 + 3 * s + k, i] = X[k, i]
            total += X[k, i]
    for k in range(8):
        for i in range(3):
            total += rigid[s + 2, k, i]
    return abs(total) <= LARGEST


@borrowing_kernel
def accept(last, flight):
    """Stage ``last`` becomes the state now, and the state now that of one step ago."""
    history, rigid, frame = flight.history, flight.rigid, flight.frame
    for k in range(3):
        for i in range(history.shape[1]):
            history[3 + k, i] = history[k, i]
            history[k, i] = history[6 + 3 * last + k, i]
    for k in range(8):
        for i in range(3):
            rigid[1, k, i] = rigid[0, k, i]
            rigid[0, k, i] = rigid[last + 2, k, i]
    turn(frame[R_NOW], rigid[0, THETA], frame[R_STAGE])
    for a in range(3):
        rigid[1, THETA, a] = -rigid[0, THETA, a]  # seen from the new pose
        rigid[0, THETA, a] = 0.0
        for b in range(3):
            frame[R_NOW, a, b] = frame[R_STAGE, a, b]
    orthonormalize(frame[R_NOW], frame[SCRATCH])


@borrowing_kernel
def take_steps(stages, polynomial, rate, laws, moments, flight, w, options, steps, load, push):
    """``run_floating_steps`` with all arrays at hand."""
    c_v, c_a, alpha, x = stages.c_v, stages.c_a, options.alpha, w.X[0]
    for step in range(steps):
        for s in range(len(c_v)):
            begin(s, stages, flight, w, options, push)
            reason = GO_ON
            iteration = 0
            while True:
                now = flight.rigid[s + 2]
                if not move(c_v[s], c_a[s], alpha, load, moments, now, flight.frame, w):
                    return step, NOT_CONVERGED
                if reason == DONE:
                    break
                if iteration == options.max_iterations:
                    if options.best_effort:
                        w.counts[UNSOLVED] += 1
                        break
                    return step, NOT_CONVERGED
                iteration += 1
                evaluate(x, polynomial, w.K, w.R)
                if laws is not None:
                    add_laws_in_flight(c_v[s], laws, w)
                mirror(w.K)
                fill_damping(x, rate, w)
                reason = correct_stage(s, stages, moments, flight, w, options, load)
                if reason != DONE and reason != GO_ON:
                    return step, reason
            if not keep_stage(s, flight, w):
                return step, NOT_FINITE
        accept(len(c_v) - 1, flight)
    return steps, DONE


@reordering_kernel
def run_floating_steps(context, law_context, steps, load, push):
    """Takes ``steps`` steps, or fewer where one fails; returns how many, and why it stopped.

    ``law_context`` holds damping at points, or is None. A step that fails leaves the state now as
    it was.
    """
    stages, polynomial, rate = context.stages, context.polynomial, context.rate
    moments, flight, w, options = (
        context.moments,
        context.flight,
        context.workspace,
        context.options,
    )
    if law_context is None:
        return take_steps(
            stages, polynomial, rate, None, moments, flight, w, options, steps, load, push
        )
    laws = law_context.laws
    return take_steps(
        stages, polynomial, rate, laws, moments, flight, w, options, steps, load, push
    )


# -- the same, piece by piece, for forces that are found in Python -------------------------


@reordering_kernel
def enter_stage(context, s, push):
    """The first guess of stage s, in ``workspace.X``, and where it takes the centre of mass."""
    begin(s, context.stages, context.flight, context.workspace, context.options, push)


@reordering_kernel
def move_stage(context, s, load):
    """The motion of stage s at the coordinates as they are; returns whether a spin was found."""
    c_v, c_a, flight = context.stages.c_v[s], context.stages.c_a[s], context.flight
    now, alpha = flight.rigid[s + 2], context.options.alpha
    return move(c_v, c_a, alpha, load, context.moments, now, flight.frame, context.workspace)


@reordering_kernel
def iterate(context, s, load):
    """One Newton iteration of stage s; returns why to stop, or GO_ON."""
    return correct_stage(
        s, context.stages, context.moments, context.flight, context.workspace, context.options, load
    )


@reordering_kernel
def leave_stage(context, s):
    """Keeps the end of stage s; returns whether it is finite."""
    return keep_stage(s, context.flight, context.workspace)


@reordering_kernel
def end_step(context):
    """The last stage becomes the state now, and the state now that of one step ago."""
    accept(len(context.stages.c_v) - 1, context.flight)


# -- accelerations -------------------------------------------------------------------------


@reordering_kernel
def find_accelerations(context, inner, load, push):
    """q̈, ω̇, V̇ and L̇ of the state now, where elastic forces and their damping are ``inner`` (r,).

    Returns whether they are finite.
    """
    moments, flight, w = context.moments, context.flight, context.workspace
    alpha = context.options.alpha
    history, frame, now = flight.history, flight.frame, flight.rigid[0]
    q, v, a = history[0], history[1], history[2]
    H, ell, h, delta = w.H, w.ell, w.h, w.delta
    R = frame[R_NOW]
    for j in range(len(q)):
        a[j] = 0.0
    fill_moments(history, moments, frame, w)
    along(H[OF_Q], v, h)
    torque_of(load, q, R, frame[SCRATCH], now[L_RATE])
    for i in range(3):
        ell[i] = R[0, i] * now[L, 0] + R[1, i] * now[L, 1] + R[2, i] * now[L, 2]
        now[L_RATE, i] -= alpha * now[L, i]
        now[V_RATE, i] = push[i] - alpha * now[V, i]
    spin = times3(frame[J_INVERSE], (ell[0] - h[0], ell[1] - h[1], ell[2] - h[2]))
    for i in range(3):
        now[OMEGA, i] = spin[i]
        h[i] = 0.0  # q̈ comes below
    find_spin_rate(now, frame, R, w)
    inertial_force(load, alpha, now, R, w.Z, H, delta)  # without q̈
    if not accelerate(inner, moments.D, now, frame, w):
        return False
    total = 0.0
    for j in range(len(q)):
        a[j] = delta[j]
        total += a[j]
    return abs(total) <= LARGEST


@reordering_kernel
def find_inner_force(context, load, inner):
    """The elastic and damping forces (r,) that belong to the accelerations now."""
    flight, w = context.flight, context.workspace
    fill_moments(flight.history, context.moments, flight.frame, w)
    R = flight.frame[R_NOW]
    inertial_force(load, context.options.alpha, flight.rigid[0], R, w.Z, w.H, inner)
    for j in range(len(inner)):
        inner[j] = -inner[j]


@borrowing_kernel
def accelerate(inner, D, now, frame, w):
    """Solves (M̃ − Hᵀ J⁻¹ H) q̈ = −δ − inner into δ and adds −J⁻¹ H q̈ to ω̇; whether it could."""
    h, H, A, delta = w.h, w.H, w.A, w.delta
    r = len(delta)
    G = H[OF_A]  # J⁻¹ H
    for j in range(r):
        for i in range(3):
            e = 0.0
            for k in range(3):
                e += frame[J_INVERSE, i, k] * H[OF_Q, k, j]
            G[i, j] = e
    for j in range(r):
        delta[j] = -delta[j] - inner[j]
        for k in range(r):
            e = D[j, 0, k] + D[j, 4, k] + D[j, 8, k]
            for i in range(3):
                e -= H[OF_Q, i, j] * G[i, k]
            A[j, k] = e
    if not solve(A, delta):
        return False
    along(G, delta, h)
    for i in range(3):
        now[OMEGA_RATE, i] -= h[i]
    return True
