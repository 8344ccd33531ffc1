"""Imports torch and checks that it is the version that the package was built with."""

from __future__ import annotations

try:
    import torch
except ImportError as error:
    raise ImportError(
        "lase needs torch for training and inference, but it cannot be imported: " + str(error)
    ) from None

from . import _build_info


def _release(version: str) -> list[str]:
    return version.split(".")[:2]


if _release(torch.__version__) != _release(_build_info.torch_version):
    raise ImportError(
        f"lase was built with torch {_build_info.torch_version}, but torch {torch.__version__} is "
        "installed; rebuild lase with `pip install --no-build-isolation --force-reinstall .`"
    )
