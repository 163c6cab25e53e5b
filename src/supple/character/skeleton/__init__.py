"""Joints, clips and skins: what an animated file tells of a character."""
