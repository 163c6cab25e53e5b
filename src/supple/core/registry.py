"""Registries: everything of one kind by its name, Supple's own and what other packages bring.

A class is registered by one line, ``@DAMPINGS.register`` above it or ``DAMPINGS.register(Mine)``,
or by an entry point of an installed package, which is loaded when the registry is first asked:

    [project.entry-points."supple.dampings"]
    jelly = "my_package.jelly:Jelly"
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, overload

from supple.core.errors import InputError

T = TypeVar("T")
R = TypeVar("R")


class Registry(Collection[T]):
    """Things of one kind, in the order of their registration; iterating gives the things.

    ``what`` they are called in messages; ``group`` is that of their entry points; ``base`` is the
    class that registered classes derive from, None for functions; ``naming`` makes a name of a
    class's own; ``key`` is the field of files and scenes that has the name.
    """

    def __init__(
        self,
        what: str,
        group: str,
        *,
        base: type | None = None,
        naming: Callable[[str], str] = str,
        key: str = "model",
    ) -> None:
        self.what, self.group, self.key = what, group, key
        self._base, self._naming = base, naming
        self._things: dict[str, T] = {}
        self._former: dict[str, str] = {}  # names of old files, plain, and what they are now
        self._broken: dict[str, str] = {}
        self._is_loaded = False

    # -- registering ---------------------------------------------------------------------

    @overload
    def register(self, thing: R, *, name: str | None = ..., formerly: Iterable[str] = ...) -> R: ...
    @overload
    def register(
        self, thing: None = ..., *, name: str | None = ..., formerly: Iterable[str] = ...
    ) -> Callable[[R], R]: ...
    def register(
        self, thing: Any = None, *, name: str | None = None, formerly: Iterable[str] = ()
    ) -> Any:
        """Add ``thing``, under ``name`` or its own; a decorator too, with options or without.

        ``formerly`` are names under which old files know it.
        """
        if thing is None:
            return lambda made: self.register(made, name=name, formerly=formerly)
        is_class = isinstance(thing, type)
        if self._base is not None and not (is_class and issubclass(thing, self._base)):
            raise InputError(f"{thing!r} is no {self.what}: give a subclass of {self._base}")
        chosen = self._naming(thing.__name__) if name is None else name
        there = {plain(known): known for known in self._things}.get(plain(chosen))
        if there is not None and not _same(self._things[there], thing):
            raise InputError(
                f"the {self.what} {there!r} is registered already, as {self._things[there]!r}; "
                "choose another name"
            )
        self._things[there or chosen] = thing
        self._former |= {plain(old): chosen for old in formerly}
        return thing

    def unregister(self, thing: T) -> None:
        """Take out what was registered, for tests and notebooks."""
        self._things = {name: known for name, known in self._things.items() if known is not thing}

    def _load(self) -> None:
        """The entry points; those that cannot be loaded are warned of, and told when asked for."""
        if self._is_loaded:
            return
        self._is_loaded = True
        from importlib.metadata import entry_points  # slow to import

        for point in sorted(entry_points(group=self.group), key=lambda each: each.name):
            try:
                found = point.load()
                if found not in self._things.values() and not isinstance(found, ModuleType):
                    self.register(found, name=point.name)
            except Exception as error:  # whatever another package does, ours goes on
                package = point.dist.name if point.dist is not None else "an installed package"
                self._broken[point.name] = (
                    f"the {self.what} {point.name!r} of {package} ({point.value}) cannot be "
                    f"loaded: {type(error).__name__}: {error}; mend or uninstall that package"
                )
                warnings.warn(self._broken[point.name], stacklevel=3)

    # -- looking up ----------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        self._load()
        return tuple(self._things)

    @property
    def by_name(self) -> Mapping[str, T]:
        """The same as a mapping that follows later registrations."""
        return _ByName(self)

    def __iter__(self) -> Iterator[T]:
        self._load()
        return iter(tuple(self._things.values()))

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, thing: object) -> bool:
        return self.name_of(thing) is not None

    def name_of(self, thing: Any) -> str | None:
        """The name of a registered thing; None if it is not."""
        self._load()
        return next((name for name, known in self._things.items() if known is thing), None)

    def knows(self, name: Any) -> bool:
        """Whether ``find`` has more to say of a name than that there is none."""
        self._load()
        known = (*self._things, *self._former, *self._broken)
        return isinstance(name, str) and plain(name) in map(plain, known)

    def find(self, name: str) -> T:
        """What has this name; neither capitals nor what stands between its words matter.

        Raises InputError that tells which there are. A former name is warned of.
        """
        self._load()
        key = plain(name)
        if key in self._former:
            now = self._former[key]
            warn_renamed(f"{self.what} {name!r}", now)
            key = plain(now)
        for known, thing in self._things.items():
            if plain(known) == key:
                return thing
        for known, why in self._broken.items():
            if plain(known) == key:
                raise InputError(why)
        raise InputError(f"there is no {self.what} {name!r}: {self.allowed(name)}")

    def allowed(self, name: Any = "") -> str:
        """The names to choose from, in words, with the one that ``name`` may have meant."""
        lower = {known.lower(): known for known in self.names}
        near = difflib.get_close_matches(str(name).lower(), lower, n=1, cutoff=0.6)
        hint = f"; did you mean {lower[near[0]]}?" if name and near else ""
        return f"one of {', '.join(self.names)}{hint}"


class _ByName(Mapping[str, T]):
    def __init__(self, registry: Registry[T]) -> None:
        self._registry = registry

    def __getitem__(self, name: str) -> T:
        return dict(zip(self._registry.names, self._registry, strict=True))[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._registry.names)

    def __len__(self) -> int:
        return len(self._registry)


def plain(name: str) -> str:
    """A name without capitals and without what stands between its words."""
    return re.sub("[_ -]", "", name).lower()


def snake_case(name: str) -> str:
    """``StrainRate`` as files have it: ``strain_rate``."""
    return re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def warn_renamed(old: str, now: str) -> None:
    """Tell the user of a file that a name in it has changed; it is still read."""
    warnings.warn(f"{old} is called {now!r} now; the old name is still read", FutureWarning, 3)


def _same(one: Any, two: Any) -> bool:
    """Whether both are the same, or one is the other defined anew, as in a notebook."""
    return one is two or (one.__module__ == two.__module__ and one.__qualname__ == two.__qualname__)


def load_plugin(name: str) -> None:
    """Import a module that registers something: by its name, or by the path of its .py file.

    Raises InputError that names it, whatever goes wrong inside.
    """
    try:
        if not name.endswith(".py"):
            importlib.import_module(name)
            return
        path = Path(name).resolve()
        spec = spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[path.stem] = module_from_spec(spec)
        spec.loader.exec_module(module)
    except Exception as error:
        sys.modules.pop(Path(name).stem if name.endswith(".py") else "", None)
        raise InputError(
            f"the plug-in {name} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
