"""The documentation runner finds, runs and fails what it should."""

import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).parents[2] / "tools" / "run_docs.py"


def run(root: Path, readme: str) -> tuple[int, str]:
    (root / "README.md").write_text(readme, encoding="utf-8")
    done = subprocess.run([sys.executable, str(RUNNER), str(root)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_blocks_of_a_page_share_a_namespace_and_a_directory(tmp_path: Path) -> None:
    page = """
```python
from pathlib import Path
word = "shared"
Path("note.txt").write_text(word)
```
* in a list:
  ```python
  assert Path("note.txt").read_text() == word
  ```
"""
    status, output = run(tmp_path, page)
    assert status == 0, output
    assert "2 examples, 0 failed" in output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md"]


def test_a_failing_block_fails_the_run_and_names_its_line(tmp_path: Path) -> None:
    status, output = run(tmp_path, "\n```python\nfine = 1\nfine / 0\n```\n")
    assert status == 1
    assert 'File "README.md", line 4' in output
    assert "1 examples, 1 failed" in output


def test_pages_below_docs_run_in_a_namespace_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "deep"
    folder.mkdir(parents=True)
    (folder / "page.md").write_text("```python\nname_of_readme\n```\n", encoding="utf-8")
    status, output = run(tmp_path, "```python\nname_of_readme = 1\n```\n")
    assert status == 1
    assert "docs/deep/page.md" in output
    assert "NameError" in output


def test_blocks_marked_no_run_are_left_out(tmp_path: Path) -> None:
    status, output = run(tmp_path, "```python no-run\n1 / 0\n```\n")
    assert status == 0, output
    assert "left out" in output


def test_console_runs_prompted_lines_of_ours_only(tmp_path: Path) -> None:
    page = """
```console
$ false
tacit no-such-command
$ tacit no-such-command
```
```bash
exit 1
python -m tacit \\
    no-such-command | cat
```
"""
    status, output = run(tmp_path, page)
    assert status == 1
    assert "2 examples, 2 failed" in output


def test_a_block_that_is_never_closed_is_refused(tmp_path: Path) -> None:
    status, output = run(tmp_path, "```python\n1\n")
    assert status != 0
    assert "never closed" in output
