"""Contacts solved for with the body's response: the turn apart or in dense blocks is the same."""

import numpy as np
import pytest

from supple._kernels.contact.gauss_seidel import solve_contacts


@pytest.mark.parametrize("numbers", [(1, 1), (3, 1), (3, 3)])
def test_turning_apart_is_turning_in_dense_blocks(numbers):
    rng = np.random.default_rng(0)
    k, p = 7, numbers[0]
    B = rng.normal(size=(3 * k, 3 * k)) * 0.1
    full = (B @ B.T + np.eye(3 * k)).reshape(k, 3, k, 3).transpose(0, 2, 1, 3)
    if numbers == (3, 3):
        T, dense = full, full
    else:
        diagonal = np.einsum("cjii->cji", full)
        T = diagonal[:, :, :p, None]
        dense = np.broadcast_to(T, (k, k, 3, 1)) * np.eye(3)
    G, H = rng.normal(size=(3, k, 3)), 0.1 * np.eye(3)
    turned = np.einsum("aci,ab,bjl->cjli", G, H, G)
    normal = rng.normal(size=(k, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    found = []
    for blocks, g in ((T, G), (dense + turned, np.zeros((0, k, 3)))):
        places = np.random.default_rng(1).normal(size=(k, 3))
        forces = np.zeros((k, 3))
        planes = normal, np.zeros(k), np.zeros((k, 3)), np.full(k, 0.4)
        given = np.ascontiguousarray(blocks), g, H, *planes, places, forces
        solve_contacts(*given, 1e-13, 20_000)
        found.append((places, forces))
    assert np.abs(found[0][1]).max() > 0.1
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-9)
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-9)
    # non-penetration, and Coulomb's cone
    places, forces = found[0]
    pressing = np.einsum("ki,ki->k", normal, forces)
    assert np.einsum("ki,ki->k", normal, places).min() > -1e-9
    assert pressing.min() >= 0
    along = np.linalg.norm(forces - pressing[:, None] * normal, axis=1)
    assert (along <= 0.4 * pressing + 1e-9).all()
