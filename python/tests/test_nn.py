from __future__ import annotations

import pathlib

import numpy as np
import pytest
from safetensors_weights import weights

torch = pytest.importorskip("torch")

import lase  # noqa: E402
from lase import _core, nn  # noqa: E402

NODES, LINKS, WIDTH, COLUMNS = 30, 200, 7, 5
on_gpu = pytest.mark.skipif(
    not torch.cuda.is_available() or not _core.supports_gpu("cuda:0"),
    reason="there is no NVIDIA GPU, or lase was not built for it",
)
DEVICES = ["cpu", pytest.param("cuda", marks=on_gpu)]


def data(dtype: torch.dtype = torch.float32, seed: int = 0) -> tuple:
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(NODES, WIDTH, generator=random).to(dtype)
    edge_index = torch.randint(NODES - 2, (2, LINKS), generator=random)  # the last two are isolated
    edge_attr = torch.randn(LINKS, COLUMNS, generator=random).to(dtype)
    return x, edge_index, edge_attr


def by_hand(conv: nn.LaseConv, x: torch.Tensor, edge_index: torch.Tensor, f: torch.Tensor | None):
    """The equations, link by link."""
    h = []
    for u in range(len(x)):
        s, r, z = torch.zeros_like(x[0]), 0, torch.zeros((), dtype=x.dtype)
        for i in range(edge_index.shape[1]):
            if edge_index[1, i] != u:
                continue
            v = x[edge_index[0, i]]
            gate = torch.ones((), dtype=x.dtype)
            if conv.gate_target is not None:
                logit = conv.gate_target @ x[u] + conv.gate_source @ v + conv.gate_bias
                if f is not None:
                    logit = logit + conv.gate_link @ f[i]
                gate = logit.sigmoid().squeeze()
            a = torch.ones_like(v)
            if conv.amplifier_weight is not None:
                a = conv.amplifier_weight @ f[i] + conv.amplifier_bias
                a = a.sigmoid() if conv.amplifier == "sigmoid" else a
            s, z = s + gate * v * a, z + gate
            if f is not None:
                r = r + gate * f[i]
        scale = 1 / z if z > 0 else 0
        neighborhood = conv.neighbors @ (s * scale) + conv.bias
        if f is not None:
            neighborhood = neighborhood + conv.links @ (r * scale + torch.zeros_like(f[0]))
        own = conv.own @ x[u]
        h.append(
            torch.cat([own, neighborhood])
            if conv.combine == "concat"
            else own * neighborhood if conv.combine == "multiply" else own + neighborhood
        )
    return torch.stack(h)


@pytest.mark.parametrize("amplifier", ["linear", "sigmoid", "none"])
@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize("combine", ["add", "multiply", "concat"])
@pytest.mark.parametrize("device", DEVICES)
def test_computes_the_equations(amplifier: str, gate: bool, combine: str, device: str) -> None:
    torch.manual_seed(1)
    x, edge_index, edge_attr = data(torch.float64)
    conv = nn.LaseConv(WIDTH, 4, COLUMNS, gate=gate, amplifier=amplifier, combine=combine)
    expected = by_hand(conv.double(), x, edge_index, edge_attr)
    torch.testing.assert_close(conv(x, edge_index, edge_attr), expected)  # in double precision
    conv = conv.float().to(device)  # uses the fused kernel
    actual = conv(x.float().to(device), edge_index.to(device), edge_attr.float().to(device))
    torch.testing.assert_close(actual.double().cpu(), expected, rtol=1e-5, atol=1e-5)


def gradients(
    conv: nn.LaseConv, dtype: torch.dtype, columns: int = COLUMNS, device: str = "cpu"
) -> dict:
    conv = conv.to(device, dtype)
    conv.zero_grad()
    x, edge_index, edge_attr = (each.to(device) for each in data(dtype))
    x.requires_grad_()
    f = edge_attr.requires_grad_() if columns > 0 else None
    out = conv(x, edge_index, f)
    factor = torch.linspace(-1, 1, out.numel(), dtype=dtype, device=device)
    (out * factor.reshape(out.shape)).sum().backward()
    result = {name: value.grad for name, value in conv.named_parameters()}
    result["x"] = x.grad
    if f is not None:
        result["edge_attr"] = f.grad
    # Copies, because moving the layer to another device moves its gradients.
    return {name: g.to("cpu", torch.float64, copy=True) for name, g in result.items()}


@pytest.mark.parametrize("amplifier", ["linear", "sigmoid", "none"])
@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize("columns", [COLUMNS, 0])
@pytest.mark.parametrize("device", DEVICES)
def test_gradients_agree_with_double_precision(
    amplifier: str, gate: bool, columns: int, device: str
) -> None:
    torch.manual_seed(2)
    conv = nn.LaseConv(WIDTH, 4, columns, gate=gate, amplifier=amplifier)
    expected = gradients(conv, torch.float64, columns)
    actual = gradients(conv, torch.float32, columns, device)
    assert expected.keys() == actual.keys()
    for name, value in expected.items():
        error = (actual[name] - value).norm() / value.norm().clamp(min=1e-3)
        assert error < 1e-5, name


def test_double_precision_gradients_are_right() -> None:
    x, edge_index, edge_attr = data(torch.float64)
    conv = nn.LaseConv(WIDTH, 3, COLUMNS, amplifier="sigmoid").double()
    x.requires_grad_()
    edge_attr.requires_grad_()
    assert torch.autograd.gradcheck(lambda x, f: conv(x, edge_index, f), (x, edge_attr))


def test_prepared_arcs_and_two_kinds_of_nodes() -> None:
    x, edge_index, edge_attr = data()
    conv = nn.LaseConv(WIDTH, 4, COLUMNS)
    arcs = nn.Arcs(edge_index, NODES)
    assert torch.equal(conv(x, arcs, edge_attr), conv(x, edge_index, edge_attr))
    assert torch.equal(conv(x, arcs.to("cpu"), edge_attr), conv(x, arcs, edge_attr))
    assert arcs.to("meta").source.device.type == "meta" and arcs.source.device.type == "cpu"
    pair = nn.LaseConv((WIDTH, 3), 4, COLUMNS)
    targets = torch.randn(NODES + 5, 3)
    assert pair((x, targets), edge_index, edge_attr).shape == (NODES + 5, 4)
    assert nn.LaseConv(WIDTH, 4)(x, torch.zeros(2, 0, dtype=torch.long)).shape == (NODES, 4)


def test_errors() -> None:
    x, edge_index, edge_attr = data()
    conv = nn.LaseConv(WIDTH, 4, COLUMNS)
    with pytest.raises(ValueError, match="edge_attr: has shape None"):
        conv(x, edge_index)
    with pytest.raises(ValueError, match="expected one for each of 200 links"):
        conv(x, edge_index, edge_attr[:-1])
    with pytest.raises(IndexError, match="leads from node"):
        conv(x, edge_index + NODES, edge_attr)
    with pytest.raises(ValueError, match="expected one of add, multiply, concat"):
        nn.LaseConv(3, 4, combine="x")
    with pytest.raises(ValueError, match="edge_attr: is on meta, but the links are on cpu"):
        conv(x, edge_index, edge_attr.to("meta"))
    with pytest.raises(ValueError, match="x: is on cpu, but the links are on meta"):
        conv(x, nn.Arcs(edge_index, NODES).to("meta"), edge_attr)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("sources, targets, width", [(0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_empty_dimensions(device: str, sources: int, targets: int, width: int) -> None:
    conv = nn.LaseConv((width, 4), 5, COLUMNS).to(device)
    links = 6 if sources and targets else 0
    edge_index = torch.zeros(2, links, dtype=torch.long, device=device)
    x = torch.randn(sources, width, device=device), torch.randn(targets, 4, device=device)
    out = conv(x, edge_index, torch.randn(links, COLUMNS, device=device))
    assert out.shape == (targets, 5)
    out.sum().backward()
    for name, value in conv.named_parameters():
        assert value.grad.isfinite().all(), name
    if links == 0:
        for value in (conv.gate_source, conv.gate_link, conv.amplifier_weight):
            assert not value.grad.any()


@on_gpu
def test_equal_bits_on_a_gpu() -> None:
    x, edge_index, edge_attr = (each.cuda() for each in data())
    conv = nn.LaseConv(WIDTH, 4, COLUMNS).cuda()
    first, second = conv(x, edge_index, edge_attr), conv(x, edge_index, edge_attr)
    assert torch.equal(first, second)
    moved = nn.Arcs(edge_index.cpu(), NODES).to("cuda")
    assert torch.equal(conv(x, moved, edge_attr), first)
    shifted = torch.zeros(1 + x.numel(), device="cuda")[1:].view_as(x).copy_(x)  # not aligned
    assert torch.equal(conv(shifted, moved, edge_attr), first)
    runs = [gradients(conv, torch.float32, device="cuda") for _ in range(2)]
    assert all(torch.equal(runs[0][name], runs[1][name]) for name in runs[0])


@on_gpu
def test_shapes_and_memory_on_a_gpu() -> None:
    x, edge_index, edge_attr = (each.cuda() for each in data())
    assert nn.LaseConv(WIDTH, 4).cuda()(x, edge_index[:, :0]).shape == (NODES, 4)
    conv = nn.LaseConv(WIDTH, 4, COLUMNS).cuda()
    with pytest.raises(IndexError, match="link 0 leads from node"):
        conv(x, edge_index + NODES, edge_attr)
    with pytest.raises(ValueError, match="edge_attr: is on cpu, but the links are on cuda:0"):
        conv(x, edge_index, edge_attr.cpu())
    for columns in (224, 225):  # the latter are too many for the fused kernel
        wide = torch.randn(LINKS, columns, device="cuda")
        conv = nn.LaseConv(WIDTH, 4, columns).cuda()
        expected = conv.double()(x.double(), edge_index, wide.double())
        actual = conv.float()(x, edge_index, wide).double()
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)
    # No array of links × channels: only the sums, the gate, and what torch rounds up.
    x, links = torch.randn(1000, 256, device="cuda"), 400_000
    edge_index = torch.randint(1000, (2, links), device="cuda")
    f = torch.randn(links, 8, device="cuda")
    conv, arcs = nn.LaseConv(256, 16, 8).cuda(), nn.Arcs(edge_index, 1000)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    conv(x, arcs, f).sum().backward()
    assert torch.cuda.max_memory_allocated() - before < links * 256 * 4 / 4


def test_is_the_layer_of_the_default_model(tmp_path: pathlib.Path) -> None:
    x, edge_index, edge_attr = data(seed=3)
    rules = dict(directed=True, duplicate_links="keep", self_loops="keep")
    graph = lase.Graph(edge_index.flip(0), edge_attr, x=x, y=np.arange(NODES) % 2, **rules)
    options = dict(epochs=1, widths=(4,), project=0, features="none", scale="none", normalize=False)
    model = lase.NodeClassifier(**options).fit(graph)
    model.save(tmp_path / "a.model")
    stored = {
        name: torch.frombuffer(bytearray(value), dtype=torch.float32)
        for name, value in weights(tmp_path / "a.model").items()
        if name.startswith(("weight.layer1.", "scaling.link_"))
    }
    conv = nn.LaseConv(WIDTH, 4, COLUMNS, combine="concat")
    for parameter, name in (
        (conv.own, "w1"),
        (conv.neighbors, "w2"),
        (conv.links, "w3"),
        (conv.bias, "bias"),
        (conv.gate_target, "gate.u"),
        (conv.gate_source, "gate.v"),
        (conv.gate_link, "gate.e"),
        (conv.gate_bias, "gate.bias"),
        (conv.amplifier_weight, "amplifier"),
        (conv.amplifier_bias, "amplifier.bias"),
    ):
        parameter.data = stored["weight.layer1." + name].reshape(parameter.shape)
    f = (edge_attr - stored["scaling.link_mean"]) * stored["scaling.link_scale"]
    expected = torch.tensor(np.array(model.transform(graph)))
    torch.testing.assert_close(conv(x, edge_index, f).relu(), expected, rtol=1e-4, atol=1e-5)


def test_trains_in_a_torch_model() -> None:
    torch.manual_seed(0)
    x, edge_index, edge_attr = data()
    y = (edge_attr.new_zeros(NODES).index_add_(0, edge_index[1], edge_attr[:, 0]) > 0).long()
    conv, head = nn.LaseConv(WIDTH, 16, COLUMNS), torch.nn.Linear(16, 2)
    optimizer = torch.optim.Adam([*conv.parameters(), *head.parameters()], lr=0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        out = head(conv(x, edge_index, edge_attr).relu())
        loss = torch.nn.functional.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="this version of torch cannot compile")
@pytest.mark.parametrize("device", DEVICES)
def test_compiles(device: str) -> None:
    x, edge_index, edge_attr = (each.to(device) for each in data())
    conv = nn.LaseConv(WIDTH, 4, COLUMNS).to(device)
    compiled = torch.compile(conv, backend="aot_eager", fullgraph=True)
    expected, actual = conv(x, edge_index, edge_attr), compiled(x, edge_index, edge_attr)
    torch.testing.assert_close(actual, expected)
    expected.sum().backward()
    gradient = conv.own.grad.clone()
    conv.zero_grad()
    actual.sum().backward()
    torch.testing.assert_close(conv.own.grad, gradient)


def test_gated_sum_checks_its_arguments() -> None:
    x, edge_index, f = data()
    arcs = nn.Arcs(edge_index, NODES)
    for arguments in (
        dict(p=torch.zeros(NODES)),
        dict(p=torch.zeros(3), q=torch.zeros(NODES)),
        dict(u=torch.zeros(2, 2)),
        dict(v=torch.zeros(COLUMNS + 1)),
        dict(amplifier="x"),
    ):
        with pytest.raises(ValueError):
            nn.gated_sum(x, arcs, f, **arguments)
    with pytest.raises(ValueError, match="u and v: need"):
        nn.gated_sum(x, arcs, u=torch.zeros(WIDTH, COLUMNS))
    with pytest.raises(ValueError, match=r"x: has shape \(30, 9\), expected \(nodes, 7\)"):
        nn.LaseConv(WIDTH, 4, COLUMNS, gate=False)(torch.zeros(NODES, 9), edge_index, f)


def test_a_second_derivative_is_refused() -> None:
    x, edge_index, f = data()
    x.requires_grad_()
    out = nn.LaseConv(WIDTH, 4, COLUMNS)(x, edge_index, f)
    (gradient,) = torch.autograd.grad(out.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.square().sum().backward()


def test_autocast() -> None:
    x, edge_index, f = data()
    conv = nn.LaseConv(WIDTH, 4, COLUMNS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = conv(x, edge_index, f)
    torch.testing.assert_close(out.float(), conv(x, edge_index, f), rtol=0.1, atol=0.1)
