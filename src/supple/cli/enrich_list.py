"""``supple enrich --list``: what of a character can be named."""

from __future__ import annotations

from supple.character.skeleton.body_parts import body_parts
from supple.cli.progress import say
from supple.io.gltf.character import read_rigged
from supple.workflows.enrich.softness import hard_names, skin_by_name


def tell_names(source: str) -> None:
    """Prints the clips of a character, and the parts and joints that can be soft."""
    rigged = read_rigged(source)
    character = rigged.character
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
    things, hard = skin_by_name(rigged), hard_names(rigged)
    if things:
        say("names for --soft, materials and the like")
    width = max((len(name) for name in things), default=0)
    for name, mine in things.items():
        rigid = "  (hard unless named)" if name in hard else ""
        say(f"  {name:<{width}}  {mine.sum():,} vertices{rigid}")
