"""What comes out when a character is enriched."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.soft_motion import SoftMotion
from supple.io.gltf.character import RiggedFile
from supple.io.gltf.motion import GltfReport


@dataclass(frozen=True, eq=False, kw_only=True)
class Enriched:
    """What came out.

    ``files`` are those written; ``motions`` the flesh in each clip; ``gltf`` how close a .glb file
    is to that, None for other files, which hold every frame; ``settle`` [s] the time in which a
    swing falls to 5 %; ``size`` [m] of the body from corner to corner; ``notes`` what else to know,
    in sentences, and ``concerns`` what makes the result worth a look before it is used: flesh that
    leaves its body, frames that it could not follow, a tolerance that was not met; ``seconds`` how
    long the parts of the work took [s]; ``report`` the page, if one was asked for.
    """

    rigged: RiggedFile
    files: tuple[Path, ...]
    motions: tuple[SoftMotion, ...]
    model: PoseSpaceModel | None
    gltf: GltfReport | None
    settle: float
    size: float
    notes: tuple[str, ...] = ()
    concerns: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    report: Path | None = None

    @property
    def targets(self) -> int:
        """Number of morph targets of a .glb file."""
        return 0 if self.gltf is None else self.gltf.targets

    @property
    def max_error(self) -> float:
        """How far a vertex of the file is from the soft motion at most [m]."""
        return 0.0 if self.gltf is None else self.gltf.max_error

    @property
    def farthest(self) -> SoftMotion:
        """The clip in which flesh moves farthest."""
        return max(self.motions, key=lambda motion: motion.largest)
