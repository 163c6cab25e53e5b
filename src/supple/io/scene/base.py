"""What scenes of all kinds share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from supple.contact import Obstacle
from supple.core.types import Floats, Progress
from supple.dynamics.simulation import Simulation
from supple.mesh import Embedding, Mesh
from supple.yarns import YarnSimulation


@dataclass(frozen=True, eq=False, kw_only=True)
class AnyScene(ABC):
    """A scene that was read and checked; ``simulation`` makes it run.

    ``text`` is the file as it was read; ``every`` the steps from one frame to the next; ``formats``
    what to export; ``obstacles`` what the body cannot enter; ``skin`` and ``colors`` what to draw,
    of several bodies by their names.
    """

    path: Path
    text: str
    title: str
    gravity: tuple[float, float, float]
    dt: float
    every: int
    duration: float
    formats: tuple[str, ...]
    report: bool
    obstacles: tuple[Obstacle, ...] = ()
    skin: Embedding | Mapping[str, Embedding] | None = None
    colors: Floats | Mapping[str, Floats] | None = None

    @property
    def up(self) -> Literal["y", "z"]:
        """The axis that points up when the scene is shown: y where gravity mostly lies along y."""
        return up_axis(self.gravity)

    @property
    @abstractmethod
    def mesh(self) -> Mesh:
        """What moves, at rest."""

    @property
    @abstractmethod
    def is_free(self) -> bool:
        """Whether nothing is held."""

    @property
    @abstractmethod
    def floor(self) -> float | None:
        """The level [m] that it stands on; None where it hangs, sticks out or flies."""

    @abstractmethod
    def simulation(
        self, *, at_start: bool = True, progress: Progress | None = None
    ) -> Simulation | YarnSimulation:
        """The simulation of this scene, in its initial state.

        ``at_start=False`` leaves that out, for a run that goes on from a checkpoint. ``progress``
        hears of the search for an equilibrium.
        """


def up_axis(gravity: Sequence[float]) -> Literal["y", "z"]:
    """The axis that points up: y where gravity (3,) mostly lies along y, else z."""
    x, y, z = (abs(g) for g in gravity)
    return "y" if y > max(x, z) else "z"


def common_fields(file: Path, text: str, plan: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of ``AnyScene`` that checked tables give."""
    time, output = plan["time"], plan.get("output", {})
    fps, substeps = time.get("fps"), time.get("substeps", 1)
    return {
        "path": file,
        "text": text,
        "title": plan.get("title", file.stem.replace("_", " ").replace("-", " ")),
        "gravity": tuple(plan.get("gravity", (0.0, 0.0, 0.0))),
        "dt": time["dt"] if fps is None else 1.0 / (fps * substeps),
        "every": time.get("every", 1) if fps is None else substeps,
        "duration": time["duration"],
        "formats": tuple(dict.fromkeys(output.get("formats", ("glb",)))),
        "report": output.get("report", True),
    }
