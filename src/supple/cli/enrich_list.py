"""``supple enrich --list``: what of a character can be named."""

from __future__ import annotations

from supple.character import read_character
from supple.character.body_parts import body_parts
from supple.cli.progress import say


def tell_names(source: str) -> None:
    """Prints the clips of a character, and the parts and joints that can be soft."""
    character = read_character(source)
    say(f"{source}: names for --clips and --once")
    for clip in character.clips.values():
        say(f"  {clip.name}  ({clip.duration:.2f} s)")
    if not character.clips:
        say("  none: it has no clips")
    say("names for --soft, parts of the body and the joints in them")
    parts = body_parts(character)
    width = max((len(name) for name in parts), default=0)
    for name, joints in parts.items():
        say(f"  {name:<{width}}  {', '.join(character.rig.names[joint] for joint in joints)}")
