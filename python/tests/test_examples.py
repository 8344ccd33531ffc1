from __future__ import annotations

import json
import pathlib
import re
import runpy
import sys
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "python"


def test_notebook(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    # A kernel for this interpreter; the default one may be another.
    kernel = tmp_path / "kernels" / "this" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel.write_text(json.dumps({"argv": command, "display_name": "this", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    notebook = nbformat.read(EXAMPLES / "payments.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="this").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("image/png" in output.get("data", {}) for output in outputs)


def python_blocks(path: pathlib.Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_documentation(
    name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """The example on generated data and the one for scikit-learn run, here with fewer epochs."""
    blocks = python_blocks(ROOT / name)
    chosen = [b for b in blocks if "lase.generate" in b or "cross_val_score" in b]
    if any("sklearn" in block for block in chosen):
        pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    variables: dict[str, Any] = {}
    for block in chosen:
        exec(re.sub(r"epochs=\d+", "epochs=2", block), variables)
    assert "effect" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["scores", "pyg_model"])
def test_script(name: str) -> None:
    if name == "pyg_model":
        pytest.importorskip("torch_geometric")
    assert runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]() > 0.5
