"""Rigged characters: joints, skins and clips, as colliders."""

from supple.character.skeleton.character import Character as Character
from supple.character.skeleton.character import Dressing as Dressing
from supple.character.skeleton.clip import Channel as Channel
from supple.character.skeleton.clip import Clip as Clip
from supple.character.skeleton.clip import Interpolation as Interpolation
from supple.character.skeleton.clip import Track as Track
from supple.character.skeleton.rig import Rig as Rig
from supple.character.skeleton.rig import RigPose as RigPose
from supple.character.skeleton.skin import Skin as Skin
