"""Tables of recordings, as instruments and spreadsheets write them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.design.ringdown.ringdown import RingDown

T = np.arange(12) / 40
X = np.round(np.cos(9 * T) * np.exp(-T), 4)


def table(separator, decimal=".", head=()):
    rows = [separator.join((f"{t:.3f}", f"{x:.4f}")) for t, x in zip(T, X, strict=True)]
    if decimal == ",":
        rows = [row.replace(".", ",") for row in rows]
    return "\n".join([*head, *rows, ""])


def read(tmp_path, text, encoding="utf-8", scale=1.0, **options):
    path = tmp_path / "ring.csv"
    path.write_bytes(text.encode(encoding))
    ring = RingDown.read_csv(path, scale=scale, **options)
    np.testing.assert_allclose(ring.times, T)
    np.testing.assert_allclose(ring.displacements, scale * X)


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.parametrize("named", [{}, {"time": "t", "value": "x"}])
def test_tables_of_two_columns(tmp_path, separator, named):
    head = f"t{separator}x" if named else "# by hand"
    text = table(separator, head=[head])
    read(tmp_path, text, "utf-8-sig", scale=1e-3)
    read(tmp_path, text, **named)


@pytest.mark.parametrize("separator", [";", "\t", "   ", "; "])
@pytest.mark.parametrize("head", [(), ("Zeit;Weg",), ("Zeit in s;Weg, gemessen",)])
def test_decimal_commas(tmp_path, separator, head):
    heads = [line.replace(";", separator) for line in head]
    read(tmp_path, table(separator, ",", heads))


def test_decimal_commas_in_quotes(tmp_path):
    rows = [f'"{line}"' for line in table('","', ",").split()]
    read(tmp_path, "\n".join(['"t","x"', *rows]), time="t", value="x")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding):
    read(tmp_path, table(";", ",", ["Zeit;Weg in µm"]), encoding, value="Weg in µm")


@pytest.mark.parametrize("named", [{}, {"value": "x"}, {"time": "t", "value": "x"}])
def test_what_instruments_write_above_the_samples(tmp_path, named):
    head = ["sep=,", "Vibrometer 7,,", "Rate [Hz],40", "", "# by hand", "t,x", "s,m"]
    read(tmp_path, table(",", head=head), **named)


def test_time_need_not_come_first(tmp_path):
    rows = [f"ok,{x},{t}" for t, x in zip(T, X, strict=True)]
    read(tmp_path, "\n".join(["state,x,t", "-,m,s", *rows]), time="t", value="x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no samples"),
        ("t\n0\n1", "has one column"),
        ("t,x\n0,1\n1,abc", "line 3: column 'x' is 'abc', not a number"),
        ("t,x\n0,1\n1", "line 3: column 'x' is '', not a number"),
        ("0,1\n1,nan", "line 2: a sample is not finite"),
        ("t,x\n", r"ring\.csv holds no samples below its first line"),
        ("t,x\n0,1\n1,2\n", r"ring\.csv: times has shape \(2,\); .* with at least 8 samples"),
        ("t;x\n1,000;2,500\n2,000;3,500\n", "'1,000' may be a thousand or have three decimals"),
        ("t,x\n0,0,1,0\n0,1,0,9\n", "line 2: 4 columns under 2 names; .* separate columns by semi"),
        ('t,x\n0.5,1\n1,"5,000.25"\n', "column 'x' is '5,000.25', .* nothing between thousands"),
        ('t,x\n"5,000.25",1\n', "column 't' is '5,000.25', .* nothing between thousands"),
        ("t,x\n0,1\nV 7,2\n", "line 3: column 't' is 'V 7', not a number; put # in front of"),
        ("t,x\n0,\n1,2\n", "line 2: column 'x' is '', not a number; complete the samples"),
    ],
)
def test_what_cannot_be_told_is_refused(tmp_path, text, message):
    refused(message, read, tmp_path, text)


def test_what_cannot_be_found_or_scaled_is_refused(tmp_path):
    words = "has no column 'down'; its columns are t, up"
    refused(words, read, tmp_path, "t,up\n0,1", value="down")
    words = "has no line of column names, so 't' cannot be found"
    refused(words, read, tmp_path, "0,1\n1,2", time="t")
    refused("scale is 0, which leaves no motion", read, tmp_path, table(","), scale=0)
    refused("there is no file", RingDown.read_csv, tmp_path / "absent.csv")


@pytest.mark.parametrize("data", [b"\x89PNG\x00\x81", "0,1\n".encode("utf-16-le")])
def test_what_is_no_text_is_refused(tmp_path, data):
    (tmp_path / "ring.csv").write_bytes(data)
    with pytest.raises(sp.InputError, match="cannot be read as text; save the table as CSV in UTF"):
        RingDown.read_csv(tmp_path / "ring.csv")
