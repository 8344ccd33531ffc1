"""Training in several processes, which torch.distributed connects."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import lase
import pytest
from safetensors_weights import weights

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("torch has no distributed package", allow_module_level=True)


def run(folder: Path, processes: int, body: str) -> list[subprocess.CompletedProcess[str]]:
    """Run a program with a process group of several processes."""
    program = folder / "program.py"
    program.write_text(
        textwrap.dedent(
            f"""
            import datetime, os
            import torch.distributed as dist
            import lase

            rank = int(os.environ["RANK"])
            dist.init_process_group("gloo", init_method="file://{folder}/store{processes}",
                                    rank=rank, world_size={processes},
                                    timeout=datetime.timedelta(seconds=60))
            group = dist.group.WORLD
            graph = lase.open("{folder}/g.graph")
            model = lase.NodeClassifier(epochs=3, widths=(4, 4), features="none", batch_size=64, quiet=True)
            """
        )
        + textwrap.dedent(body)
    )
    running = [
        subprocess.Popen(
            [sys.executable, str(program)],
            env={**os.environ, "RANK": str(rank), "GLOO_SOCKET_IFNAME": "lo"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(processes)
    ]
    results = []
    try:
        for process in running:
            out, err = process.communicate(timeout=120)
            results.append(subprocess.CompletedProcess(process.args, process.returncode, out, err))
    finally:
        for process in running:
            process.kill()
    return results


@pytest.fixture
def graph(tmp_path: Path) -> lase.Graph:
    lase.generate("planted", tmp_path / "g.graph", nodes=300, links=2000)
    return lase.open(tmp_path / "g.graph")


def test_fit_gives_the_weights_of_one_process(tmp_path: Path, graph: lase.Graph) -> None:
    alone = lase.NodeClassifier(
        epochs=3, widths=(4, 4), features="none", batch_size=64, chunks=16, quiet=True
    ).fit(graph)
    alone.save(tmp_path / "alone.model")
    for processes in (2, 3):
        results = run(
            tmp_path,
            processes,
            f"""
            model.fit(graph, process_group=group)
            model.fit(graph, process_group=group)    # again, in the same group
            print(model.result_["processes"], model.result_["bytes_per_step"] > 0)
            model.save(f"{tmp_path}/{{rank}}.model")
            """,
        )
        for rank, result in enumerate(results):
            assert result.returncode == 0, result.stderr
            assert result.stdout == f"{processes} True\n"
            assert weights(tmp_path / f"{rank}.model") == weights(tmp_path / "alone.model")


@pytest.mark.skipif("LASE_PROGRAM" not in os.environ, reason="needs the program lase")
def test_fit_on_parts_gives_the_weights_of_the_whole_graph(
    tmp_path: Path, graph: lase.Graph
) -> None:
    options = {"epochs": 3, "widths": (4, 4), "features": "none", "batch_size": 64, "quiet": True}
    options |= {"common_neighbors": "off", "label_inputs": "off"}
    alone = lase.NodeClassifier(**options, chunks=16).fit(graph)
    alone.save(tmp_path / "alone.model")
    partition = [os.environ["LASE_PROGRAM"], "partition", str(tmp_path / "g.graph")]
    subprocess.run([*partition, "--parts", "2", "--out", str(tmp_path / "g.parts")], check=True)
    results = run(
        tmp_path,
        2,
        f"""
        model.fit("{tmp_path}/g.parts", process_group=group)
        model.save(f"{tmp_path}/{{rank}}.model")
        """,
    )
    for rank, result in enumerate(results):
        assert result.returncode == 0, result.stderr
        assert weights(tmp_path / f"{rank}.model") == weights(tmp_path / "alone.model")
    lase.NodeClassifier(**options, chunks=16).fit(tmp_path / "g.parts").save(tmp_path / "one.model")
    assert weights(tmp_path / "one.model") == weights(tmp_path / "alone.model")
    with pytest.raises(ValueError, match="nodes and y are not supported for partitioned graphs"):
        lase.NodeClassifier(**options).fit(tmp_path / "g.parts", nodes=["0"])
    with pytest.raises(ValueError, match="NodeRegressor cannot learn from single-label labels"):
        lase.NodeRegressor(**options).fit(tmp_path / "g.parts")


def test_different_options_are_refused(tmp_path: Path, graph: lase.Graph) -> None:
    results = run(
        tmp_path,
        2,
        """
        try:
            model.set_params(seed=rank).fit(graph, process_group=group)
        except ValueError as error:
            print(error)
        """,
    )
    for result in results:
        assert result.stdout == (
            "the processes cannot train together: the option seed is 0 in process 0 and 1 in "
            "process 1\n"
        ), result.stderr


def test_errors_name_the_process_that_stopped(tmp_path: Path, graph: lase.Graph) -> None:
    results = run(
        tmp_path,
        2,
        """
        model.set_params(epochs=1000, patience=0)
        if rank == 1:
            import lase._base
            lase._base.Progress.show = lambda *_: os._exit(0)    # after an epoch
        try:
            model.fit(graph, process_group=group)
        except RuntimeError as error:
            print(error)
        """,
    )
    assert results[0].stdout == "process 1 was killed or does not respond\n", results[0].stderr


@pytest.mark.skipif("LASE_PROGRAM" not in os.environ, reason="needs the program lase")
def test_program_joins_the_store_of_torchrun(tmp_path: Path, graph: lase.Graph) -> None:
    train = [os.environ["LASE_PROGRAM"], "train", str(tmp_path / "g.graph"), "--epochs", "2"]
    train += ["--widths", "4,4", "--quiet", "--out"]
    subprocess.run([*train, str(tmp_path / "alone.model"), "--chunks", "16"], check=True)
    store = torch.distributed.TCPStore("127.0.0.1", 0, 2, True, wait_for_workers=False)
    variables = {
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_RESTART_COUNT": "0",
        "LASE_PROCESS_TIMEOUT": "60",
    }
    running = [
        subprocess.Popen(
            [*train, str(tmp_path / "together.model")],
            env={**os.environ, **variables, "RANK": str(rank)},
        )
        for rank in range(2)
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    assert weights(tmp_path / "together.model") == weights(tmp_path / "alone.model")


def test_process_group_must_be_one(graph: lase.Graph) -> None:
    with pytest.raises(TypeError, match="process_group: expected a torch.distributed.ProcessGroup"):
        lase.NodeClassifier(epochs=1, quiet=True).fit(graph, process_group=3)
