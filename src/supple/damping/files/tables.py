"""Every damping model as a table of text and numbers, and back, by what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from supple.core.errors import InputError
from supple.core.parameters import (
    ARRAY,
    CELL_NUMBERS,
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    Choice,
    Kind,
    Model,
    Numbers,
    Parameter,
    Vector,
    describe,
    renamed_keys,
)
from supple.core.registry import warn_renamed
from supple.damping.base import DAMPINGS, Damping
from supple.damping.coefficients import COEFFICIENT
from supple.damping.curve import CURVE, Curve
from supple.damping.example import WISHES
from supple.damping.examples.deformation import EXAMPLES, REGION, Example
from supple.damping.files.text_format import Table, array_of, kept, table_of
from supple.damping.strain_rate import DIRECTIONS
from supple.damping.viscous import MATRIX


def described(damping: Damping, shapes: Table) -> Table:
    """A damping as a table that names its model; arrays go to ``shapes``."""
    name = DAMPINGS.name_of(type(damping))
    if name is None:
        known = ", ".join(model.__name__ for model in DAMPINGS)
        raise InputError(
            f"a damping file cannot keep {type(damping).__name__}, which is not registered; it "
            f"keeps {known}"
        )
    return {"model": name} | write_fields(damping, describe(type(damping)), shapes)


def damping_of(label: str, given: Any, shapes: Table) -> Damping:
    """The damping that a table describes."""
    table = dict(table_of(label, given))
    if "kind" in table and "model" not in table:
        warn_renamed("'kind' of a damping file", "model")
        table["model"] = table.pop("kind")
    name = table_of(label, table, needed=("model",)).pop("model")
    if not isinstance(name, str):
        raise InputError(f"model={name!r}: give {DAMPINGS.allowed()}")
    model = within(f"model={name!r}", DAMPINGS.find, name)
    table = renamed_keys(model, table, label)
    made: Damping = model(**read_fields(label, table, describe(model), shapes))
    return made


def dampings_of(label: str, given: Iterable[Any], shapes: Table) -> tuple[Damping, ...]:
    """The dampings of a list of tables."""
    labelled = [(f"{label} {i}", each) for i, each in enumerate(given)]
    return tuple(within(name, damping_of, name, each, shapes) for name, each in labelled)


def within(label: str, make: Any, *arguments: Any) -> Any:
    """What ``make`` makes, with ``label`` in front of what it complains about."""
    try:
        return make(*arguments)
    except InputError as error:
        raise InputError(f"{label}: {error}") from error
    except OverflowError as error:
        raise InputError(f"{label}: a number is too large ({error})") from error


def write_fields(thing: Any, parameters: Iterable[Parameter], shapes: Table) -> Table:
    """The parameters of a thing that it has."""
    table: Table = {}
    for each in parameters:
        value = getattr(thing, each.name)
        if each.kind is MATRIX:
            table |= {k: kept(k, getattr(value, of), shapes) for k, of in _MATRIX.items()}
        elif value is not None:
            table[each.name] = _form(each)[0](each.name, value, shapes)
    return table


def read_fields(
    label: str, given: Any, parameters: Sequence[Parameter], shapes: Table
) -> dict[str, Any]:
    """The parameters that a table gives."""
    if any(each.kind is MATRIX for each in parameters):
        return {"matrix": _read_matrix(label, given, shapes)}
    needed = [each.name for each in parameters if each.is_required]
    table = table_of(label, given, [each.name for each in parameters], needed=needed)
    return {
        each.name: _form(each, table[each.name])[1](each, table[each.name], shapes)
        for each in parameters
        if each.name in table
    }


# -- parameters, by their kinds ----------------------------------------------------------

Write = Callable[[str, Any, Table], Any]
Read = Callable[[Parameter, Any, Table], Any]


def _form(of: Parameter, given: Any = None) -> tuple[Write, Read]:
    form = of.kind.among(_FORMS)
    if form is None:
        raise InputError(f"a damping file has no room for {of.name}={given!r}")
    return form


def _array_or_plain(name: str, given: Any, shapes: Table) -> Any:
    if isinstance(given, Mapping):
        return {str(region): np.asarray(value).tolist() for region, value in given.items()}
    array = np.asarray(given, dtype=float)
    return kept(f"{name} by cell", array, shapes) if array.ndim else float(given)


def _vectors(name: str, given: Any, shapes: Table) -> Any:
    array = np.asarray(given, dtype=float)
    return array.tolist() if array.ndim == 1 else kept(f"{name} by cell", array, shapes)


def _read_array_or_plain(of: Parameter, given: Any, shapes: Table) -> Any:
    return array_of(of.name, given, shapes) if isinstance(given, str) else given


def _write_region(name: str, given: Any, shapes: Table) -> Any:
    return given if isinstance(given, str) else {"vertices": kept(name, given, shapes)}


def _read_region(of: Parameter, given: Any, shapes: Table) -> Any:
    if isinstance(given, str):
        return given
    table = table_of(of.name, given, ("vertices",), needed=("vertices",))
    return array_of("vertices", table["vertices"], shapes)


def _write_models(name: str, given: Any, shapes: Table) -> Any:
    if isinstance(given, Damping):
        return described(given, shapes)
    return [described(each, shapes) for each in given]


def _read_models(of: Parameter, given: Any, shapes: Table) -> Any:
    assert isinstance(of.kind, Model)
    if not of.kind.several or not isinstance(given, list):
        return within(of.name, damping_of, of.name, given, shapes)
    return dampings_of(of.name, given, shapes)


def _read_choice(of: Parameter, given: Any, shapes: Table) -> Any:
    assert isinstance(of.kind, Choice)
    if not isinstance(given, str) or given not in of.kind.names:
        raise InputError(f"{of.name}={given!r}: give one of {', '.join(of.kind.names)}")
    return of.kind.options[given.upper()]


def _of_type(type_: type, wanted: str) -> Read:
    def read(of: Parameter, given: Any, shapes: Table) -> Any:
        if not isinstance(given, type_):
            raise InputError(f"{of.name}={given!r}: give {wanted}")
        return given

    return read


def _as_given(of: Parameter, given: Any, shapes: Table) -> Any:
    return given


def _listed(name: str, given: Any, shapes: Table) -> Any:
    return np.asarray(given, dtype=float).tolist()


_MATRIX = {"entries": "data", "columns": "indices", "rows": "indptr"}


def _read_matrix(label: str, given: Any, shapes: Table) -> Any:
    import scipy.sparse as sparse  # slow to import

    table = table_of(label, given, tuple(_MATRIX), needed=tuple(_MATRIX))
    entries, columns, rows = (array_of(name, table[name], shapes) for name in _MATRIX)
    kinds = [(array.ndim, array.dtype.kind) for array in (entries, columns, rows)]
    if kinds != [(1, "f"), (1, "i"), (1, "i")] or not rows.size:
        raise InputError("entries, columns and rows are no matrix: they are mixed up")
    try:
        matrix = sparse.csr_array((entries, columns, rows), shape=(len(rows) - 1,) * 2)
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"entries, columns and rows are no matrix: {error}") from error
    return matrix


# -- examples ----------------------------------------------------------------------------

_EXAMPLE = describe(Example)[::-1]  # the name first, the shape last


def examples_as_tables(examples: Iterable[Example], shapes: Table) -> list[Table]:
    """Examples as a list of tables, with their shapes as "example 0" and so on."""
    tables = []
    for each in examples:
        free = next(name for i in count() if (name := f"example {i}") not in shapes)
        table = write_fields(each, _EXAMPLE[:-1], shapes)
        tables.append({**table, "shape": kept(free, each.shape, shapes)})
    return tables


def examples_of(given: Any, shapes: Table) -> list[Example]:
    """The examples in a list of tables."""
    if not isinstance(given, list):
        raise InputError("example is not a list; write each one under [[example]]")
    examples = []
    for i, each in enumerate(given):
        name = each.get("name") if isinstance(each, dict) else None
        label = f"example {i} ({name!r})" if isinstance(name, str) and name else f"example {i}"
        examples.append(within(label, _example_of, each, shapes))
    return examples


def _example_of(given: Any, shapes: Table) -> Example:
    return Example(**read_fields("it", given, _EXAMPLE, shapes))


_FORMS: dict[Kind | type[Kind], tuple[Write, Read]] = {
    NUMBER: (lambda name, given, shapes: float(given), _as_given),
    WHOLE: (lambda name, given, shapes: int(given), _as_given),
    FLAG: (lambda name, given, shapes: bool(given), _of_type(bool, "true or false")),
    TEXT: (lambda name, given, shapes: str(given), _of_type(str, "a text in quotes")),
    Choice: (lambda name, given, shapes: given.name.lower(), _read_choice),
    Vector: (_listed, _as_given),
    Numbers: (_listed, _as_given),
    CELL_NUMBERS: (_array_or_plain, _read_array_or_plain),
    COEFFICIENT: (_array_or_plain, _read_array_or_plain),
    DIRECTIONS: (_vectors, _read_array_or_plain),
    ARRAY: (kept, lambda of, given, shapes: array_of(of.name, given, shapes)),
    CURVE: (
        lambda name, given, shapes: given.table(),
        lambda of, given, shapes: within(of.name, Curve.of, given),
    ),
    Model: (_write_models, _read_models),
    REGION: (_write_region, _read_region),
    WISHES: (lambda name, given, shapes: given, _as_given),
    EXAMPLES: (
        lambda name, given, shapes: examples_as_tables(given, shapes),
        lambda of, given, shapes: examples_of(given, shapes),
    ),
}
