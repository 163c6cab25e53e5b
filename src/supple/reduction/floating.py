"""Rigid motion of free bodies (being written)."""

from __future__ import annotations


class FloatingInertia:
    pass
