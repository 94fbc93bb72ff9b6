"""Run every example of the documentation.

Blocks fenced as ``python`` and the command lines ``tacit …`` of blocks fenced as ``console``,
``bash`` or ``sh`` run in the order of the page, in one temporary directory per page; the Python
blocks of a page share one namespace. A block fenced as ``python no-run`` is left out. Then the
examples in the docstrings run. The exit status is 1 if anything failed.

    python tools/run_docs.py [ROOT]
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^(?P<indent>\s*)```(?P<info>[^`]*)$")
COMMAND = re.compile(r"^(tacit|python -m tacit)(\s|$)")
SHELLS = ("bash", "console", "sh")
SECONDS_PER_COMMAND = 300


@dataclass(frozen=True)
class Block:
    """A fenced block: where its text begins, what its fence says, its text."""

    line: int
    info: tuple[str, ...]
    text: str

    @property
    def language(self) -> str:
        """The first word of the fence, or nothing."""
        return self.info[0] if self.info else ""

    @property
    def runs(self) -> bool:
        """Whether the fence lets the block run."""
        return "no-run" not in self.info

    def commands(self) -> Iterator[str]:
        """The command lines of ours in a block of shell; those of others are not examples of us."""
        prompted = self.language == "console"
        for line in self.text.replace("\\\n", " ").splitlines():
            if prompted and not line.startswith("$ "):
                continue
            command = line.removeprefix("$ ").strip()
            if COMMAND.match(command):
                yield command


def blocks_of(page: str) -> Iterator[Block]:
    """Fenced blocks of a page in Markdown, in order."""
    opening: re.Match[str] | None = None
    first, lines = 0, list[str]()
    for number, line in enumerate(page.splitlines(), start=1):
        fence = FENCE.match(line)
        if opening is None:
            if fence:
                opening, first, lines = fence, number + 1, []
        elif fence and not fence["info"].strip():
            text = textwrap.dedent("\n".join(lines))
            yield Block(first, tuple(opening["info"].split()), text)
            opening = None
        else:
            lines.append(line)
    if opening is not None:
        raise SystemExit(f"the block that begins at line {first} is never closed")


def run_python(block: Block, name: str, namespace: dict[str, Any]) -> str | None:
    """Execute a block; return what it printed and its traceback if it failed."""
    printed = io.StringIO()
    # Blank lines in front make a traceback name the line of the page.
    source = "\n" * (block.line - 1) + block.text
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, name, "exec"), namespace)
    except (Exception, SystemExit):  # noqa: BLE001 (an example may fail in any way)
        return printed.getvalue() + traceback.format_exc()
    return None


def run_command(command: str, directory: Path) -> str | None:
    """Run a command line; return its output if it failed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    try:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=directory,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_PER_COMMAND,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no end after {SECONDS_PER_COMMAND} s"
    return None if done.returncode == 0 else f"{done.stdout}\nexit status {done.returncode}"


def tell(place: str, what: str, started: float, failure: str | None) -> bool:
    """Print one line of progress, and the failure below it; true if there was none."""
    verdict = "ok" if failure is None else "FAILED"
    print(f"{place:<32} {what[:60]:<60} {verdict} {time.perf_counter() - started:.1f} s", flush=True)
    if failure is not None:
        print(textwrap.indent(failure, "    "), flush=True)
    return failure is None


def run_page(path: Path, name: str) -> list[bool]:
    """Run one page in a directory of its own; one verdict per example."""
    verdicts: list[bool] = []
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block in blocks_of(path.read_text(encoding="utf-8")):
            place = f"{name}:{block.line}"
            if not block.runs:
                print(f"{place:<32} left out", flush=True)
            elif block.language == "python":
                started = time.perf_counter()
                failure = run_python(block, name, namespace)
                verdicts.append(tell(place, "python", started, failure))
            elif block.language in SHELLS:
                for command in block.commands():
                    started = time.perf_counter()
                    failure = run_command(command, Path(folder))
                    verdicts.append(tell(place, command, started, failure))
    return verdicts


def run_docstrings(root: Path) -> bool:
    """Run the examples in the docstrings of the package."""
    print("docstrings", flush=True)
    nothing_collected = 5
    status = subprocess.run(
        [sys.executable, "-m", "pytest", "--doctest-modules", "--quiet", "src/tacit"], cwd=root, check=False
    ).returncode
    return status in (0, nothing_collected)


def main(arguments: list[str]) -> int:
    """Run the pages below a root (default: this repository), then its docstrings."""
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    # Pictures are drawn to files; a window would wait for a person.
    os.environ["MPLBACKEND"] = "Agg"
    # The fits of a page are nobody's business beyond it.
    os.environ["TACIT_REMEMBER_FITS"] = "0"
    pages = [page for page in [root / "README.md"] if page.exists()]
    pages += sorted((root / "docs").rglob("*.md"))
    verdicts = [good for page in pages for good in run_page(page, str(page.relative_to(root)))]
    print(f"{len(pages)} pages, {len(verdicts)} examples, {verdicts.count(False)} failed", flush=True)
    docstrings = run_docstrings(root) if (root / "src" / "tacit").is_dir() else True
    return 0 if all(verdicts) and docstrings else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
