from __future__ import annotations

import pathlib
import runpy

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


def test_notebook() -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(EXAMPLES / "payments.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("name", ["scores", "pyg_model"])
def test_script(name: str) -> None:
    if name == "pyg_model":
        pytest.importorskip("torch_geometric")
    assert runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]() > 0.5
