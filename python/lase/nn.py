"""Layers for PyTorch models."""

from __future__ import annotations

import copy
from typing import Any, Union

from . import _torch  # noqa: F401  # isort: skip  # before _core
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from . import _core  # noqa: F401  # registers torch.ops.lase

__all__ = ["Arcs", "LaseConv", "gated_sum"]

_AMPLIFIERS = {"sigmoid": 0, "linear": 1, "none": 2}
_DENSE = 0
_CHUNK = 1 << 14  # arcs per step of the gradient of link attributes


class Arcs:
    """Links grouped by target node, computed once and shared by several layers.

    Parameters
    ----------
    edge_index : Tensor of shape (2, links)
        Sources and targets of the links, as in PyTorch Geometric.
    num_nodes : int or (int, int)
        Number of nodes, or of source and target nodes.
    """

    def __init__(self, edge_index: Tensor, num_nodes: int | tuple[int, int]) -> None:
        sources, targets = num_nodes if isinstance(num_nodes, tuple) else (num_nodes, num_nodes)
        if edge_index.dim() != 2 or edge_index.shape[0] != 2:
            raise ValueError(f"edge_index: has shape {tuple(edge_index.shape)}, expected (2, links)")
        self.num_sources = sources
        self.num_targets = targets
        if _has_kernels(edge_index.device):
            self.row_ptr, self.source, self.link = torch.ops.lase.arcs_by_target(
                edge_index[0], edge_index[1], sources, targets
            )
        else:
            self.link = torch.argsort(edge_index[1], stable=True)
            self.source = edge_index[0][self.link].int()
            counts = torch.bincount(edge_index[1], minlength=targets)
            self.row_ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])

    def to(self, device: Any) -> Arcs:
        """Return a copy on another device."""
        moved = copy.copy(self)
        moved.row_ptr = self.row_ptr.to(device)
        moved.source = self.source.to(device)
        moved.link = self.link.to(device)
        return moved

    @property
    def scale(self) -> Tensor:
        """1 / |N(i)| of each target node i, or 1 if it has no links."""
        return self.row_ptr.diff().clamp(min=1).float().reciprocal()

    @property
    def target(self) -> Tensor:
        """The target of each arc."""
        return _targets(self.row_ptr, self.source)


# torch.compile evaluates the decorated function once.
_constant = getattr(getattr(torch, "compiler", None), "assume_constant_result", lambda f: f)


@_constant
def _has_kernels(device: torch.device) -> bool:
    return device.type == "cpu" or (device.type == "cuda" and _core.supports_gpu(str(device)))


def _require_device(name: str, x: Tensor, arcs: Arcs) -> None:
    """Raise ValueError unless x is on the device of the links: the kernels do not check."""
    if x.device != arcs.link.device:
        raise ValueError(f"{name}: is on {x.device}, but the links are on {arcs.link.device}")


def _targets(row_ptr: Tensor, source: Tensor) -> Tensor:
    """The target of each arc. The known number of arcs avoids a synchronization with the GPU."""
    rows = torch.arange(len(row_ptr) - 1, device=row_ptr.device)
    return rows.repeat_interleave(row_ptr.diff(), output_size=len(source))


class _GatedSum(torch.autograd.Function):
    """The fused kernel: it allocates no array of size links × channels."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        h: Tensor,
        f: Tensor | None,
        u: Tensor | None,
        c: Tensor | None,
        p: Tensor | None,
        q: Tensor | None,
        v: Tensor | None,
        row_ptr: Tensor,
        source: Tensor,
        link: Tensor,
        scale: Tensor,
        amplifier: int,
    ) -> Tensor:
        columns = 0 if f is None else f.shape[1]
        s, gate = torch.ops.lase.gated_sum(
            [row_ptr, source, link, None, scale, None, None],
            _DENSE,
            columns,
            [f],
            amplifier,
            True,
            [h, None, u, c, p, q, v, None],
        )
        ctx.amplifier = amplifier
        ctx.columns = columns
        ctx.save_for_backward(h, f, u, c, p, q, v, row_ptr, source, link, scale, gate)
        return s

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, ds: Tensor) -> Any:  # type: ignore[override]
        h, f, u, c, p, q, v, row_ptr, source, link, scale, gate = ctx.saved_tensors
        dh, du, dc, dp, dq, dv, _ = torch.ops.lase.gated_sum_backward(
            [row_ptr, source, link, None, scale, None, None],
            _DENSE,
            ctx.columns,
            [f],
            ctx.amplifier,
            True,
            [h, None, u, c, p, q, v, None],
            gate,
            ds.contiguous(),
            ctx.needs_input_grad[0],
        )
        df = None
        if ctx.needs_input_grad[1]:
            df = _attribute_gradient(
                h, f, u, c, v, row_ptr, source, link, scale, gate, ds, ctx.amplifier
            )
        return dh, df, du, dc, dp, dq, dv, None, None, None, None, None


def _attribute_gradient(
    h: Tensor,
    f: Tensor,
    u: Tensor | None,
    c: Tensor | None,
    v: Tensor | None,
    row_ptr: Tensor,
    source: Tensor,
    link: Tensor,
    scale: Tensor,
    gate: Tensor | None,
    ds: Tensor,
    amplifier: int,
) -> Tensor:
    """The gradient of f [links, k], a few thousand links at a time."""
    d = h.shape[1]
    df = torch.zeros_like(f)
    targets = _targets(row_ptr, source)
    for first in range(0, len(source), _CHUNK):
        arcs = slice(first, first + _CHUNK)
        rows = link[arcs]
        g = ds[targets[arcs]] * scale[targets[arcs], None]
        hv, fe = h[source[arcs].long()], f[rows]
        lam = hv.new_ones(len(rows), 1) if gate is None else gate[arcs, None]
        of_amplified = g[:, :d] * hv
        part = lam * g[:, d + 1 :]  # of the sum of f(e)
        if u is None:
            a = None
        else:
            a = fe @ u.T if c is None else torch.addmm(c, fe, u.T)
            da = lam * of_amplified
            if amplifier == _AMPLIFIERS["sigmoid"]:
                a = a.sigmoid()
                da = da * a * (1 - a)
            part = part + da @ u
        if gate is not None and v is not None:
            along = (of_amplified if a is None else of_amplified * a).sum(1, keepdim=True)
            along = along + g[:, d : d + 1] + (g[:, d + 1 :] * fe).sum(1, keepdim=True)
            part = part + along * lam * (1 - lam) * v
        df[rows] = part  # a link is one arc
    return df


def gated_sum(
    h: Tensor,
    arcs: Arcs,
    f: Tensor | None = None,
    u: Tensor | None = None,
    c: Tensor | None = None,
    p: Tensor | None = None,
    q: Tensor | None = None,
    v: Tensor | None = None,
    amplifier: str = "linear",
) -> Tensor:
    r"""Compute the gated mean of the states of neighbors, amplified by link attributes.

    For each target node i, with the links e from its neighbors j::

        s(i) = 1/|N(i)| Σ_j λ(e) [h(j) ⊙ a(e); 1; f(e)]
        λ(e) = σ(p(i) + q(j) + v · f(e))
        a(e) = U f(e) + c    (amplifier='linear')
        a(e) = σ(U f(e) + c) (amplifier='sigmoid')

    Parameters
    ----------
    h : Tensor of shape (sources, d)
        States of the source nodes.
    arcs : Arcs
        The links.
    f : Tensor of shape (links, k), optional
        Link attributes.
    u, c : Tensor of shape (d, k) and (d,), optional
        Weight U and bias c of the amplifier. Without `u`, a(e) = 1.
    p, q, v : Tensor of shape (targets,), (sources,) and (k,), optional
        Terms of the gate. Without `p` and `q`, λ(e) = 1.
    amplifier : {'linear', 'sigmoid'}, default='linear'
        Activation of the amplifier.

    Returns
    -------
    Tensor of shape (targets, d + 1 + k)
        Zeros for target nodes without links.

    Notes
    -----
    For float32 tensors, a fused kernel allocates no array of size links × d: on the CPU, and on
    GPUs if lase was built for them and there are at most 224 link attributes. It computes in
    float32 on both, and has no second derivatives.
    """
    if amplifier not in ("linear", "sigmoid"):
        raise ValueError(f"amplifier {amplifier!r}: expected linear or sigmoid")
    if (p is None) != (q is None):
        raise ValueError("p and q: expected both or neither")
    if f is None and (u is not None or v is not None):
        raise ValueError("u and v: need link attributes f")
    columns = 0 if f is None else f.shape[-1]
    width = h.shape[-1]
    for name, x, shape in (
        ("h", h, (arcs.num_sources, width)),
        ("f", f, (arcs.link.shape[0], columns)),
        ("u", u, (width, columns)),
        ("c", c, (width,)),
        ("p", p, (arcs.num_targets,)),
        ("q", q, (arcs.num_sources,)),
        ("v", v, (columns,)),
    ):
        if x is None:
            continue
        if tuple(x.shape) != shape:
            raise ValueError(f"{name}: has shape {tuple(x.shape)}, expected {shape}")
        _require_device(name, x, arcs)
    # Autocast makes some of them bfloat16.
    f, u, c, p, q, v = (None if x is None else x.to(h.dtype) for x in (f, u, c, p, q, v))
    on_gpu = h.device.type != "cpu"
    is_empty = h.numel() == 0 or arcs.num_targets == 0
    fits = not on_gpu or (columns <= _core.most_attributes_on_gpu and not is_empty)
    if h.dtype != torch.float32 or not _has_kernels(h.device) or not fits:
        return gated_sum_reference(h, arcs, f, u, c, p, q, v, amplifier)
    number = _AMPLIFIERS["none" if u is None else amplifier]
    plain = [None if x is None else x.contiguous() for x in (h, f, u, c, p, q, v)]
    result: Tensor = _GatedSum.apply(
        *plain, arcs.row_ptr, arcs.source, arcs.link, arcs.scale, number
    )
    return result


def gated_sum_reference(
    h: Tensor,
    arcs: Arcs,
    f: Tensor | None = None,
    u: Tensor | None = None,
    c: Tensor | None = None,
    p: Tensor | None = None,
    q: Tensor | None = None,
    v: Tensor | None = None,
    amplifier: str = "linear",
) -> Tensor:
    """Reference implementation of :func:`gated_sum` with torch operations."""
    target, source = arcs.target, arcs.source.long()
    fe = None if f is None else f[arcs.link]
    x = h[source]
    if u is not None and fe is not None:
        a = fe @ u.T if c is None else fe @ u.T + c
        x = x * (a.sigmoid() if amplifier == "sigmoid" else a)
    terms = [x, x.new_ones(len(source), 1)]
    if fe is not None:
        terms.append(fe)
    term = torch.cat(terms, 1)
    if p is not None and q is not None:
        logit = p[target] + q[source]
        if v is not None and fe is not None:
            logit = logit + fe @ v
        term = term * logit.sigmoid()[:, None]
    total = term.new_zeros(arcs.num_targets, term.shape[1]).index_add_(0, target, term)
    return total * arcs.scale.to(term)[:, None]


class LaseConv(torch.nn.Module):
    r"""The graph convolution of the default model `lase`, as a PyTorch layer.

    For each node i, with the links e from its neighbors j to i::

        λ(e)  = σ(V [h(i); h(j); f(e)] + b_g)             gate
        a(e)  = U f(e) + c                                amplifier
        z(i)  = Σ_j λ(e)
        s(i)  = 1/z(i) Σ_j λ(e) h(j) ⊙ a(e)
        r(i)  = 1/z(i) Σ_j λ(e) f(e)
        h'(i) = combine(W1 h(i), W2 s(i) + W3 r(i) + b)

    There is no activation.

    Parameters
    ----------
    in_channels : int or (int, int)
        Size of each node feature vector, or a pair for source and target nodes.
    out_channels : int
        Size of each output vector; with combine='concat', it is 2 × out_channels.
    edge_dim : int, default=0
        Number of link attributes.
    gate : bool, default=True
        Weight neighbors by λ(e); otherwise, λ(e) = 1.
    amplifier : {'linear', 'sigmoid', 'none'}, default='linear'
        Activation of the amplifier; with 'none', a(e) = 1.
    combine : {'add', 'multiply', 'concat'}, default='add'
        How the node's own state is combined with the aggregate of its neighbors.
    bias : bool, default=True
        Whether to add the bias b.

    Notes
    -----
    The model `lase` uses combine='concat' and standardizes link attributes; the layer does not
    standardize them.

    For float32 tensors, a fused kernel allocates no array of size links × channels in the forward
    and backward passes: on the CPU, and on GPUs if lase was built for them and edge_dim is at most
    224. If `edge_attr` requires a gradient, an array of size links × edge_dim is allocated for it.
    The kernel has no second derivatives. Other types and devices use torch operations, which do.

    Examples
    --------
    >>> import torch, lase
    >>> conv = lase.nn.LaseConv(64, 32, edge_dim=8)
    >>> x, edge_attr = torch.randn(100, 64), torch.randn(500, 8)
    >>> edge_index = torch.randint(100, (2, 500))
    >>> conv(x, edge_index, edge_attr).shape
    torch.Size([100, 32])
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        edge_dim: int = 0,
        *,
        gate: bool = True,
        amplifier: str = "linear",
        combine: str = "add",
        bias: bool = True,
    ) -> None:
        super().__init__()
        if amplifier not in _AMPLIFIERS:
            raise ValueError(f"amplifier {amplifier!r}: expected one of {', '.join(_AMPLIFIERS)}")
        if combine not in ("add", "multiply", "concat"):
            raise ValueError(f"combine {combine!r}: expected one of add, multiply, concat")
        pair = in_channels if isinstance(in_channels, tuple) else (in_channels, in_channels)
        self.in_channels = pair
        self.out_channels = out_channels
        self.edge_dim = edge_dim or 0
        self.amplifier = amplifier if self.edge_dim > 0 else "none"
        self.combine = combine

        def weights(*shape: int) -> torch.nn.Parameter:
            return torch.nn.Parameter(torch.empty(*shape))

        k = self.edge_dim
        self.own = weights(out_channels, pair[1])
        self.neighbors = weights(out_channels, pair[0])
        self.links = weights(out_channels, k) if k > 0 else None
        self.bias = weights(out_channels) if bias else None
        self.gate_target = weights(1, pair[1]) if gate else None
        self.gate_source = weights(1, pair[0]) if gate else None
        self.gate_link = weights(1, k) if gate and k > 0 else None
        self.gate_bias = weights(1) if gate else None
        amplified = self.amplifier != "none"
        self.amplifier_weight = weights(pair[0], k) if amplified else None
        self.amplifier_bias = weights(pair[0]) if amplified else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset all learnable parameters."""
        for name, value in self.named_parameters():
            if value.dim() == 2:
                torch.nn.init.xavier_uniform_(value)
            else:
                linear = name == "amplifier_bias" and self.amplifier == "linear"
                torch.nn.init.constant_(value, 1.0 if linear else 0.0)

    def forward(
        self,
        x: Union[Tensor, tuple[Tensor, Tensor]],
        edge_index: Union[Tensor, Arcs],
        edge_attr: Tensor | None = None,
    ) -> Tensor:
        """Compute the output of shape (targets, out_channels), or 2 × out_channels for 'concat'.

        Parameters
        ----------
        x : Tensor of shape (nodes, in_channels), or a pair for source and target nodes
            Node features.
        edge_index : Tensor of shape (2, links), or Arcs
            Sources and targets of the links, as in PyTorch Geometric.
        edge_attr : Tensor of shape (links, edge_dim), optional
            Link attributes.
        """
        source, target = x if isinstance(x, tuple) else (x, x)
        arcs = edge_index
        if not isinstance(arcs, Arcs):
            arcs = Arcs(arcs, (source.shape[0], target.shape[0]))
        for name, value, width in (
            ("x", source, self.in_channels[0]),
            ("x of the targets", target, self.in_channels[1]),
        ):
            if value.dim() != 2 or value.shape[1] != width:
                shape = tuple(value.shape)
                raise ValueError(f"{name}: has shape {shape}, expected (nodes, {width})")
            _require_device(name, value, arcs)
        columns = 0 if edge_attr is None else edge_attr.shape[-1]
        if columns != self.edge_dim or (edge_attr is not None and edge_attr.dim() != 2):
            shape = None if edge_attr is None else tuple(edge_attr.shape)
            raise ValueError(f"edge_attr: has shape {shape}, expected (links, {self.edge_dim})")
        if edge_attr is not None and edge_attr.shape[0] != arcs.link.shape[0]:
            raise ValueError(
                f"edge_attr: has {edge_attr.shape[0]} rows, expected one for each of "
                f"{arcs.link.shape[0]} links"
            )
        if edge_attr is not None:
            _require_device("edge_attr", edge_attr, arcs)
        if source.shape[0] != arcs.num_sources or target.shape[0] != arcs.num_targets:
            raise ValueError(
                f"x: has {source.shape[0]} source and {target.shape[0]} target nodes, expected "
                f"{arcs.num_sources} and {arcs.num_targets}"
            )
        p = q = v = None
        if self.gate_target is not None:
            p = (target @ self.gate_target.t()).squeeze(1) + self.gate_bias
            q = (source @ self.gate_source.t()).squeeze(1)  # type: ignore[union-attr]
            v = None if self.gate_link is None else self.gate_link.squeeze(0)
        total = gated_sum(
            source,
            arcs,
            edge_attr,
            self.amplifier_weight,
            self.amplifier_bias,
            p,
            q,
            v,
            "sigmoid" if self.amplifier == "sigmoid" else "linear",
        )
        width = self.in_channels[0]
        mean = total / total[:, width : width + 1].clamp(min=1e-6)  # z(i) = 0 without links
        neighborhood = mean[:, :width] @ self.neighbors.t()
        if self.links is not None:
            neighborhood = neighborhood + mean[:, width + 1 :] @ self.links.t()
        if self.bias is not None:
            neighborhood = neighborhood + self.bias
        own = target @ self.own.t()
        if self.combine == "concat":
            return torch.cat([own, neighborhood], 1)
        return own * neighborhood if self.combine == "multiply" else own + neighborhood

    def extra_repr(self) -> str:
        return (
            f"{self.in_channels}, {self.out_channels}, edge_dim={self.edge_dim}, "
            f"amplifier={self.amplifier!r}, combine={self.combine!r}"
        )


def _register_fake() -> None:
    """Shapes of the operators for torch.compile, where the version of torch allows it."""
    register = getattr(torch.library, "register_fake", None)
    if register is None:
        return

    @register("lase::arcs_by_target")
    def _(source: Any, target: Any, sources: Any, targets: Any) -> Any:
        return (
            source.new_empty(targets + 1),
            source.new_empty(source.shape[0], dtype=torch.int32),
            source.new_empty(source.shape[0]),
        )

    @register("lase::gated_sum")
    def _(
        block: Any, layout: Any, columns: Any, attributes: Any, amplifier: Any, links: Any, terms: Any
    ) -> Any:
        h = terms[0]
        width = h.shape[1] + 1 + columns if links else h.shape[1]
        arcs = 0 if terms[4] is None else block[1].shape[0]
        return h.new_empty(block[0].shape[0] - 1, width), h.new_empty(arcs)

    @register("lase::gated_sum_backward")
    def _(
        block: Any,
        layout: Any,
        columns: Any,
        attributes: Any,
        amplifier: Any,
        links: Any,
        terms: Any,
        gate: Any,
        ds: Any,
        needs_h: Any,
    ) -> Any:
        h, _, *others = terms
        first = torch.empty_like(h) if needs_h else h.new_empty(0)
        return (first, *(h.new_empty(0) if x is None else torch.empty_like(x) for x in others))


_register_fake()
