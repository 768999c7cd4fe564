"""The notebook of the documentation runs from its first cell to its last."""

import os
import shutil
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).resolve().parents[1]
TOUR = ROOT / "docs" / "tour.ipynb"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the notebook's own machinery, which this project does not choose
def test_every_cell_of_the_tour_runs_and_questions_show_their_tables(
    simulated_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(simulated_database, tmp_path / "demo.duckdb")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    tour = nbformat.read(TOUR, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(tour, timeout=120, kernel_name="python3", resources=where).execute()
    cells = [cell for cell in tour.cells if cell.cell_type == "code"]
    questions = [
        cell
        for cell in cells
        if cell.source.startswith("warehouse.") and "sql" not in cell.source and "close" not in cell.source
    ]
    assert len(questions) > 8
    for cell in questions:
        (output,) = cell.outputs
        assert "<table" in output.data["text/html"], cell.source
        assert "scorehouse:" in output.data["text/html"], cell.source


def test_the_notebook_is_kept_without_what_it_showed() -> None:
    for cell in nbformat.read(TOUR, as_version=4).cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
