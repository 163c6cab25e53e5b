"""A body's stages as sums of local terms, for the optimization solver."""

from supple.dynamics.splitting.cells import CellTerms
from supple.dynamics.splitting.splitter import Splitter

__all__ = ["CellTerms", "Splitter"]
