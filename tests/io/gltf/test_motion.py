from dataclasses import replace

import numpy as np
import pygltflib
import pytest
from tests.refusals import refused

from supple.io import export_motion
from supple.io.shapes import compress
from supple.mesh import Embedding, HexMesh, Surface

DTYPES = {5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


class Glb:
    """A GLB file as a viewer sees it."""

    def __init__(self, path):
        self.document = pygltflib.GLTF2().load(str(path))
        self.mesh = self.document.meshes[0]
        self.primitive = self.mesh.primitives[0]
        self.base = self.array(self.primitive.attributes.POSITION)
        self.normal = self.array(self.primitive.attributes.NORMAL)
        self.triangles = self.array(self.primitive.indices).reshape(-1, 3)
        targets = [t if isinstance(t, dict) else vars(t) for t in self.primitive.targets or []]
        self.shapes = np.array([self.array(t["POSITION"]) for t in targets])
        self.turns = np.array([self.array(t["NORMAL"]) for t in targets])
        if self.document.animations:
            sampler = self.document.animations[0].samplers[0]
            self.times = self.array(sampler.input).ravel()
            self.weights = self.array(sampler.output).reshape(len(self.times), -1)

    def array(self, index):
        accessor = self.document.accessors[index]
        view = self.document.bufferViews[accessor.bufferView]
        width = WIDTHS[accessor.type]
        values = np.frombuffer(
            self.document.binary_blob(),
            dtype=DTYPES[accessor.componentType],
            count=accessor.count * width,
            offset=view.byteOffset,
        ).reshape(-1, width)
        if accessor.min:
            np.testing.assert_array_equal(values.min(axis=0), accessor.min)
            np.testing.assert_array_equal(values.max(axis=0), accessor.max)
        return values.astype(float) if values.dtype.kind == "f" else values

    def positions(self, weights):
        """Of a player that takes no weight below 0 or above 1, as Blender and Unity."""
        return self.base + np.tensordot(np.clip(weights, 0.0, 1.0), self.shapes, 1)

    def at(self, time):
        """Vertices at any time [s]."""
        return self.positions([np.interp(time, self.times, each) for each in self.weights.T])

    def normals(self, weights):
        summed = self.normal + np.tensordot(weights, self.turns, 1)
        return summed / np.linalg.norm(summed, axis=1, keepdims=True)


def corners(positions, triangles):
    return positions[triangles].reshape(-1, 3)


def shown(motion, folder, **options):
    """What is reported of an exported motion, and the file."""
    report = export_motion(motion, folder / "bar.glb", **options)
    return report, Glb(folder / "bar.glb")


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3, 1e-5])
def test_every_frame_returns_within_the_tolerance(motion, tmp_path, tolerance):
    report, glb = shown(motion, tmp_path, tolerance=tolerance)
    surface = motion.mesh.boundary()
    np.testing.assert_allclose(glb.times, motion.times, atol=1e-6)
    assert len(glb.triangles) == len(surface.triangles)
    worst = 0.0
    for weights, x in zip(glb.weights, motion.positions, strict=True):
        wanted = corners(x[surface.vertex_ids], surface.triangles)
        off = corners(glb.positions(weights), glb.triangles) - wanted
        worst = max(worst, np.linalg.norm(off, axis=1).max())
    diagonal = np.linalg.norm(np.ptp(motion.positions[0, surface.vertex_ids], axis=0))
    assert worst == pytest.approx(report.max_error, rel=1e-3, abs=1e-6 * diagonal)
    assert report.met
    assert report.rms_error < report.max_error <= tolerance * diagonal
    assert report.tolerance == pytest.approx(tolerance * diagonal)
    assert report.targets == len(glb.shapes) == glb.weights.shape[1]
    assert report.bytes == (tmp_path / "bar.glb").stat().st_size


def test_looser_tolerance_needs_fewer_targets_and_the_limit_holds(motion, tmp_path):
    loose = export_motion(motion, tmp_path / "a.glb", tolerance=1e-2)
    tight = export_motion(motion, tmp_path / "b.glb", tolerance=1e-5)
    with pytest.warns(UserWarning, match=r"c.glb has 3 morph targets; .* more targets=, or a larg"):
        capped = export_motion(motion, tmp_path / "c.glb", tolerance=1e-5, targets=3)
    assert loose.targets < tight.targets
    assert capped.targets == 3
    assert not capped.met
    assert capped.max_error > tight.max_error


def test_a_single_target_still_moves(motion, tmp_path):
    with pytest.warns(UserWarning, match="1 morph target; "):
        _, glb = shown(motion, tmp_path, targets=1)
    assert np.ptp(glb.weights, axis=0) == pytest.approx([1.0])
    np.testing.assert_array_equal(glb.mesh.weights, glb.weights[0])


MOTIONS = ("wobble", "still", "pushed", "fast", "flying", "tiny", "far away", "two frames")


def moved(motion, kind):
    """Motions of many kinds of the same bar."""
    t = (motion.times - motion.times[0])[:, None, None]
    X, u = motion.mesh.vertices, motion.displacements
    other = {
        "wobble": u,
        "still": 0 * u,
        "pushed": np.tile(t, (1, *X.shape)) * np.array([0.0, 0.3, 0.0]),  # to one side only
        "fast": u + 0.02 * np.random.default_rng(5).standard_normal(u.shape),
        "flying": u + t * np.array([40.0, 0.0, 0.0]),
        "tiny": 1e-3 * u,
        "far away": u + np.array([100.0, -50.0, 0.0]),
    }
    return motion[:2] if kind == "two frames" else replace(motion, displacements=other[kind])


@pytest.mark.parametrize("kind", MOTIONS)
def test_a_player_that_cuts_weights_at_0_and_1_keeps_the_error_at_any_time(motion, tmp_path, kind):
    motion = moved(motion, kind)
    report, glb = shown(motion, tmp_path)
    assert report.met
    surface = motion.mesh.boundary()
    x = motion.positions[:, surface.vertex_ids]
    if report.targets:
        assert glb.weights.min() >= 0.0
        assert glb.weights.max() <= 1.0
        assert min(glb.mesh.weights) >= 0.0
    since = motion.times - motion.times[0]
    near = report.max_error + 1e-6 * np.abs(x).max()
    for share in (0.0, 0.3, 0.5):
        for k in range(len(x) - 1):
            time = (1 - share) * since[k] + share * since[k + 1]
            wanted = corners((1 - share) * x[k] + share * x[k + 1], surface.triangles)
            found = glb.at(time) if report.targets else glb.base
            off = corners(found, glb.triangles) - wanted
            assert np.linalg.norm(off, axis=1).max() <= near
    # What shows where nothing plays is the first frame.
    off = corners(glb.base, glb.triangles) - corners(x[0], surface.triangles)
    assert np.abs(off).max() <= 1e-6 * np.abs(x).max()


def test_normals_follow_the_motion(motion, tmp_path):
    _, glb = shown(motion, tmp_path, tolerance=1e-4)
    np.testing.assert_allclose(np.linalg.norm(glb.normal, axis=1), 1.0, atol=1e-6)
    for weights in glb.weights[::5]:
        x = glb.positions(weights)[glb.triangles]
        faces = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
        faces /= np.linalg.norm(faces, axis=1, keepdims=True)
        cosine = np.einsum("tki,ti->tk", glb.normals(weights)[glb.triangles], faces)
        assert cosine.min() > np.cos(np.radians(15))


def test_sharp_edges_are_cut_and_smooth_ones_are_not(motion, tmp_path):
    whole = len(motion.mesh.boundary().vertices)
    # Six faces of a box of 10 × 2 × 2 bricks, each with vertices of its own.
    cut = 2 * (3 * 3) + 4 * (11 * 3)
    for crease, count in ((180, whole), (40, cut), (0, cut)):
        assert len(shown(motion, tmp_path, crease=crease)[1].base) == count


def test_first_frame_shows_without_animation_and_up_is_turned(motion, tmp_path):
    report, glb = shown(motion, tmp_path)
    np.testing.assert_array_equal(glb.mesh.weights, glb.weights[0])
    off = glb.positions(glb.mesh.weights) - glb.base
    assert np.linalg.norm(off, axis=1).max() <= 1.001 * report.max_error
    np.testing.assert_array_equal(glb.weights.min(axis=0)[1:], 0.0)
    np.testing.assert_array_equal(glb.weights.max(axis=0), 1.0)
    x, y, z, w = glb.document.nodes[0].rotation
    turned = [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)]
    np.testing.assert_allclose(turned, [0, 1, 0], atol=1e-15)  # where z goes
    assert shown(motion, tmp_path, up="y")[1].document.nodes[0].rotation is None
    assert glb.document.asset.generator == "Supple"
    channel = glb.document.animations[0].channels[0]
    assert (channel.target.node, channel.target.path) == (1, "weights")


def test_time_starts_at_zero(bar, wobble, tmp_path):
    _, glb = shown(wobble(bar, start=1e4), tmp_path)
    assert glb.times[0] == 0.0
    np.testing.assert_allclose(glb.times, np.arange(31) / 30, atol=1e-6)


def test_many_vertices_have_wide_indices(wobble, tmp_path):
    few, many = (HexMesh.box(size=(1.0, 0.2, 0.2), cells=(2, n, n)) for n in (150, 190))
    _, glb = shown(wobble(few, count=2), tmp_path, crease=180)
    assert glb.triangles.dtype == np.uint16
    _, glb = shown(wobble(many, count=2), tmp_path)
    assert glb.triangles.dtype == np.uint32
    assert glb.triangles.max() == len(glb.base) - 1


def test_still_motion_is_a_still_model(motion, tmp_path):
    for still in (motion[:1], replace(motion, displacements=0 * motion.displacements)):
        report, glb = shown(still, tmp_path)
        assert report.targets == 0
        assert not glb.document.animations
        assert report.max_error < 1e-7


def test_progress_counts_to_the_end(motion, tmp_path):
    calls = []
    export_motion(motion, tmp_path / "bar.glb", progress=lambda *call: calls.append(call))
    assert calls[-1] == (len(motion), len(motion), "normals")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 0}, "tolerance=0"),
        ({"targets": 0}, "targets=0"),
        ({"up": "x"}, "up='x'"),
        ({"crease": 200}, "crease=200"),
        ({"color": (2, 0, 0)}, "color="),
    ],
)
def test_bad_options_are_named(motion, tmp_path, options, message):
    refused(message, export_motion, motion, tmp_path / "bar.glb", **options)
    assert not list(tmp_path.iterdir())


def test_frames_that_single_precision_cannot_tell_apart_are_refused(motion, tmp_path):
    close = replace(motion, times=np.concatenate([[0.0], 1e5 + 1e-4 * np.arange(30)]))
    refused("single precision", export_motion, close, tmp_path / "bar.glb")


@pytest.mark.parametrize("shape", [(40, 5), (5, 40)])
def test_compression_finds_the_true_rank(shape):
    frames, vertices = shape
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((frames, 2))
    positions = np.tensordot(weights, rng.standard_normal((2, vertices, 3)), 1) + 3.0
    morph = compress(positions, tolerance=1e-5)
    assert len(morph.shapes) == 2
    assert morph.errors(positions).max() < 1e-5
    assert morph.weights.min() == 0.0
    assert morph.weights.max() == 1.0
    based = compress(positions, tolerance=1e-5, base=positions[0])
    assert len(based.shapes) == 3  # one of them to make up for the base
    assert based.errors(positions).max() < 1e-5


def test_skin_is_shown_instead_of_the_boundary(motion, tmp_path):
    # The last vertex is not part of any triangle, so no viewer needs it.
    vertices = np.array([(0.1, 0.1, 0.1), (0.9, 0.1, 0.1), (0.5, 0.15, 0.1), (0.5, 0.1, 0.15)])
    skin = Embedding(motion.mesh, Surface(vertices, np.array([(0, 1, 2)])))
    report, glb = shown(motion, tmp_path, skin=skin, tolerance=1e-4)
    wanted = skin.deform(motion.displacements)[:, :3]
    for weights, x in zip(glb.weights, wanted, strict=True):
        off = corners(glb.positions(weights), glb.triangles) - x
        assert np.linalg.norm(off, axis=1).max() <= 1.01 * report.max_error
    assert report.max_error <= 1e-4


def test_khronos_validator_finds_no_error(motion, tmp_path, khronos_errors):
    for kind in ("wobble", "still", "pushed"):
        export_motion(moved(motion, kind), tmp_path / "bar.glb")
        assert not khronos_errors(tmp_path / "bar.glb")
