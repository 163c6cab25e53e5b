"""Rigged characters: joints, skins and clips, as colliders."""

from .character import Character as Character
from .character import Dressing as Dressing
from .clip import Between as Between
from .clip import Channel as Channel
from .clip import Clip as Clip
from .clip import Track as Track
from .gltf import read_character as read_character
from .rig import Rig as Rig
from .rig import RigPose as RigPose
from .skin import Skin as Skin
