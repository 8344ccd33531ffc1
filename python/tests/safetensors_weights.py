"""Reads the arrays of a safetensors file as bytes."""

from __future__ import annotations

import json
import pathlib


def weights(path: pathlib.Path) -> dict[str, bytes]:
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    body = data[8 + size :]
    return {name: body[slice(*entry["data_offsets"])] for name, entry in header.items()}
