"""Process groups of torch."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.distributed as dist


class Processes(NamedTuple):
    """The arguments for the extension module."""

    group: Any = None
    store: Any = None
    device: str = "cpu"
    rank: int = 0


def of_group(group: Any) -> Processes:
    """Describe a process group; None is this process alone."""
    if group is None:
        return Processes()
    if not dist.is_available() or not isinstance(group, dist.ProcessGroup):
        raise TypeError(
            "process_group: expected a torch.distributed.ProcessGroup, such as "
            "torch.distributed.group.WORLD after torch.distributed.init_process_group, got "
            f"{type(group).__name__}"
        )
    # NCCL exchanges tensors on the GPU only.
    nccl = dist.get_backend(group) == "nccl"
    device = f"cuda:{torch.cuda.current_device()}" if nccl else "cpu"
    store = dist.distributed_c10d._get_default_store()
    return Processes(group, store, device, dist.get_rank(group))
