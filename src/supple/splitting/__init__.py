"""A body's stages as sums of local terms, for the optimization solver."""

from .cells import CellTerms
from .splitter import Splitter

__all__ = ["CellTerms", "Splitter"]
