"""What the commands do, as Python functions: typed options, progress, and a typed result."""

from supple.core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "converting": "ConvertResult convert",
        "demonstration": "demo",
        "describing": "describe",
        "designing": "DesignResult Shown design",
        "forecast": "Forecast",
        "matching": "MatchResult match",
        "playing": "PlayResult play",
        "reducing": "ReduceResult reduce",
        "running": "Exported RunResult run",
        "solids": "Filling",
    },
)
