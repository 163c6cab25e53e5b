"""The arrays of a glTF file, as its accessors describe them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pygltflib as gl
from numpy.typing import NDArray

from supple.core.errors import MeshError
from supple.io.gltf.source import GltfSource

_TYPES = {
    gl.BYTE: "<i1",
    gl.UNSIGNED_BYTE: "<u1",
    gl.SHORT: "<i2",
    gl.UNSIGNED_SHORT: "<u2",
    gl.UNSIGNED_INT: "<u4",
    gl.FLOAT: "<f4",
}
_SHAPES: dict[str, tuple[int, ...]] = {
    gl.SCALAR: (),
    gl.VEC2: (2,),
    gl.VEC3: (3,),
    gl.VEC4: (4,),
    gl.MAT4: (4, 4),
}


class GltfArrays:
    """Reads the accessors of a file."""

    def __init__(self, source: GltfSource) -> None:
        self._source, self._document = source, source.document

    def __call__(self, index: int) -> NDArray[Any]:
        """The array of an accessor, (count, …), matrices as they are used; float64 or int64.

        Whole numbers that stand for shares of 1 come as these.
        """
        accessor = self._document.accessors[index]
        dtype, shape = np.dtype(_TYPES[accessor.componentType]), _SHAPES[accessor.type]
        values = np.zeros((accessor.count, *shape), dtype)
        if accessor.bufferView is not None:
            values = self._viewed(
                accessor.bufferView, accessor.byteOffset, accessor.count, dtype, shape
            )
        if accessor.sparse is not None:
            values, sparse = values.copy(), accessor.sparse
            kind = np.dtype(_TYPES[sparse.indices.componentType])
            where = sparse.indices.bufferView, sparse.indices.byteOffset
            what = sparse.values.bufferView, sparse.values.byteOffset
            places = self._viewed(*where, sparse.count, kind, ())
            values[places] = self._viewed(*what, sparse.count, dtype, shape)
        if shape == (4, 4):
            values = values.swapaxes(1, 2)  # stored by columns
        if accessor.normalized and dtype.kind in "iu":
            return np.maximum(values / np.iinfo(dtype).max, -1.0)
        return values.astype(np.float64 if dtype.kind == "f" else np.int64)

    def _viewed(
        self,
        view: int,
        offset: int | None,
        count: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
    ) -> NDArray[Any]:
        found = self._document.bufferViews[view]
        file = self._source.file
        if found.extensions:
            raise MeshError(
                f"{file}: its arrays are packed by {', '.join(found.extensions)}; unpack them"
            )
        size = dtype.itemsize * int(np.prod(shape))
        inner = [dtype.itemsize * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
        start, stride = (found.byteOffset or 0) + (offset or 0), found.byteStride or size
        data = self._source.buffer(found.buffer)
        end = start + stride * (count - 1) + size
        if count and end > len(data):
            raise MeshError(
                f"{file}: an array in buffer view {view} ends at byte {end}, but its buffer has "
                f"{len(data)}; it is damaged or cut off: copy or export it anew"
            )
        return np.ndarray((count, *shape), dtype, data, start, (stride, *inner))
