import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refused

from supple.core import files
from supple.core.errors import InputError

KIND = files.Kind(b"\x89SUPTST\n", "test file", 2)


def unpack(path):
    with io.FileIO(path) as file:
        return files.unpack(file, Path(path), KIND)


def forged(text, body=b"", version=2):
    """A block with right checksums and any header."""
    text += b" " * (-len(text) % 8)
    body_sum = zlib.crc32(body)
    head_sum = zlib.crc32(text, zlib.crc32(struct.pack("<III", version, len(text), body_sum)))
    return struct.pack("<8sIIII", KIND.magic, version, len(text), head_sum, body_sum) + text + body


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "u1", "?", ">f8", ">i4"])
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (2, 3, 4)])
def test_arrays_return_exactly(tmp_path, dtype, shape):
    rng = np.random.default_rng(0)
    array = rng.integers(0, 2, size=shape).astype(dtype)
    (tmp_path / "x").write_bytes(files.pack(KIND, {"é": 0.1}, {"a": array, "b": np.arange(3)}))
    block = unpack(tmp_path / "x")
    assert block.header == {"é": 0.1}
    assert block.arrays["a"].shape == shape
    assert block.arrays["a"].dtype == np.dtype(dtype).newbyteorder("<")
    np.testing.assert_array_equal(block.arrays["a"], array)
    np.testing.assert_array_equal(block.arrays["b"], [0, 1, 2])


@pytest.mark.parametrize(
    "array", [np.array([object()]), np.array(["text"]), np.array([1j]), np.array([(1,)], "i4,")]
)
def test_only_numbers_are_packed(array):
    refused("only numbers", files.pack, KIND, {}, {"a": array})


@pytest.mark.parametrize(
    "text",
    [
        b"[]", b"{}", b"not json", b'{"arrays": 3}', b'{"arrays": ' + 100_000 * b"[" + b"}",
        b'{"arrays": [["a", "O", [1]]]}', b'{"arrays": [["a", "V8", [1]]]}',
        b'{"arrays": [["a", "<f8", [-1, -1]]]}', b'{"arrays": [["a", "<f8", [9999999999]]]}',
        b'{"arrays": [["a", "<f8", [0, 1e300]]]}', b'{"arrays": [["a", "nonsense", [1]]]}',
    ],
)  # fmt: skip
def test_forged_headers_are_refused(tmp_path, text):
    (tmp_path / "x").write_bytes(forged(text))
    refused(".", unpack, tmp_path / "x")


def test_replacing_is_all_or_nothing(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")

    def fail():
        with files.replacing(path) as temporary:
            temporary.write_text("half")
            assert temporary.suffix == ".txt"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    with files.replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_replacing_follows_links_and_refuses_folders(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with files.replacing(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    with pytest.raises(InputError, match="it is a folder"), files.replacing(tmp_path):
        pass
