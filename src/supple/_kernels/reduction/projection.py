"""External forces on a reduced model."""

from supple._kernels.compiling import kernel


@kernel
def project_point(vectors, vertex, force, out):
    """out = Uᵀ f for a force (3,) on one vertex."""
    for i in range(len(out)):
        u = vectors[i, vertex]
        out[i] = u[0] * force[0] + u[1] * force[1] + u[2] * force[2]
