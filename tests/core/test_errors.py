"""Errors know the parameter that they are about, and can be told in other words."""

import copy
import pickle

import numpy as np
import pytest

import supple as sp
from supple.core import checks
from supple.core.errors import InputError, Message, Parameter, spelled


def as_option(parameter):
    return f"--{parameter.name}{parameter.index} {parameter.value or ''}".strip()


@pytest.mark.parametrize(
    ("check", "python", "words"),
    [
        (lambda: checks.number("young", -1, above=0), "young=-1: give", "--young -1: give"),
        (lambda: checks.whole_number("size", 0.5, at_least=1), "size=0.5: ", "--size 0.5: "),
        (lambda: checks.vector("wind", [1, 2]), "wind has shape", "--wind has shape"),
        (lambda: checks.numbers("wind", [1, np.nan]), "wind[1] is nan", "--wind[1] is nan"),
        (lambda: checks.cell_numbers("young", "soft"), "young='soft': ", "--young 'soft': "),
        (lambda: checks.instance("mesh", 3, str, "'a'"), "mesh is 3", "--mesh is 3"),
        (lambda: checks.require_all("young", [1, -2], [True, False], "it must be positive"),
         "young[1]=-2: it must", "--young[1] -2: it must"),
        (lambda: checks.vertex_indices("fixed", [9], 3),
         "fixed names vertex 9", "--fixed names vertex 9"),
    ],
)  # fmt: skip
def test_a_check_names_its_parameter(check, python, words):
    with pytest.raises(InputError) as caught:
        check()
    assert str(caught.value).startswith(python)
    assert caught.value.told(as_option).startswith(words)
    assert caught.value.parameter == python.split("=")[0].split("[")[0].split()[0]


def test_the_parameter_of_a_constructor_is_known():
    with pytest.raises(sp.InputError) as caught:
        sp.StVK(young=-1.0, poisson=0.3)
    assert caught.value.parameter == "young"


def test_messages_name_any_number_of_parameters():
    inner = Message("a higher ", Parameter("swing", ""), " or ")
    whole = Message(inner, Parameter("soft", "2"), ".")
    assert whole == "a higher swing= or soft=2."
    assert whole.parameter == "swing"
    assert spelled(whole, as_option) == "a higher --swing or --soft 2."
    assert spelled("swing=", as_option) == "swing="


def test_other_errors_have_no_parameter_unless_it_is_given():
    assert InputError("no such file").parameter is None
    assert InputError("too fine", parameter="edge").parameter == "edge"
    assert InputError().told(as_option) == ""


def test_what_an_error_knows_survives_copies_and_process_boundaries():
    error = InputError.of("young", -1.0, ": too soft")
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(other) == str(error)
        assert other.parameter == "young"
        assert other.told(as_option) == "--young -1.0: too soft"
