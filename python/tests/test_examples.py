from __future__ import annotations

import json
import pathlib
import runpy
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


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


@pytest.mark.parametrize("name", ["scores", "pyg_model"])
def test_script(name: str) -> None:
    if name == "pyg_model":
        pytest.importorskip("torch_geometric")
    assert runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]() > 0.5
