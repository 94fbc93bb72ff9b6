"""Run the notebooks of the documentation and store what they show.

    python -m tools.run_notebooks [--check FOLDER] [NAME …]

Each notebook runs in a directory of its own, from its first cell to its last. Its outputs are stored in it, without
anything of the machine: no times, no paths, no names. With ``--check`` the executed notebooks go to another folder, and
the stored ones stay as they are. The exit status is 1 if a cell failed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
SECONDS = 240
"""A cell may take so long, on a machine that is busy."""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook_format() -> Any:
    """The library that reads and writes notebooks, which has types in part."""
    import nbformat

    return nbformat


def executed(path: Path) -> Any:
    """The notebook with the outputs of a new run."""
    from nbclient import NotebookClient
    from traitlets.config import Config

    nbformat = notebook_format()
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # What the kernel keeps of its user, and Tacit of earlier fits, stays in the folder.
        for name in ("IPYTHONDIR", "XDG_STATE_HOME", "MPLCONFIGDIR"):
            os.environ[name] = str(Path(folder) / name)
        # By sockets in the folder: no port is opened.
        sockets = Config({"KernelManager": {"transport": "ipc", "ip": str(Path(folder) / "kernel")}})
        where = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=where, config=sockets).execute()
        cleaned(notebook)
        private = [folder, str(Path.home()), str(Path(sys.prefix)), str(FOLDER.parents[1]), platform.node()]
        found = [secret for secret in private if len(secret) > 3 and secret in nbformat.writes(notebook)]
    if found:
        raise SystemExit(f"{path.name} shows something of this machine: {', '.join(found)}")
    return notebook


def cleaned(notebook: Any) -> None:
    """Leave out what differs between machines and runs but the outputs themselves."""
    notebook.metadata = METADATA
    for place, cell in enumerate(notebook.cells):
        cell.metadata = {}
        cell.id = f"cell-{place}"


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks that are named, or all."""
    from nbclient.exceptions import CellExecutionError

    nbformat = notebook_format()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", type=Path, help="write to this folder in place of the documentation")
    given = parser.parse_args(arguments)
    paths = [FOLDER / f"{name}.ipynb" for name in given.names] or sorted(FOLDER.glob("*.ipynb"))
    failed = 0
    for path in paths:
        try:
            notebook = executed(path)
        except CellExecutionError as error:
            print(f"{path.name}: {error}")
            failed += 1
            continue
        nbformat.write(notebook, (given.check or FOLDER) / path.name)
        print(f"{path.name}: {len(notebook.cells)} cells")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
