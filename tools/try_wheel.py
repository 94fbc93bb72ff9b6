"""Install a wheel into a clean environment, run the demo there from elsewhere, remove it all.

python tools/try_wheel.py WHEEL
"""

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

REQUIRED = ("tacit/__init__.py", "tacit/py.typed")


def main(arguments: list[str]) -> int:
    """Try the one wheel that is named."""
    if len(arguments) != 1:
        sys.exit(f"one wheel was expected, {len(arguments)} were given")
    wheel = Path(arguments[0]).resolve()
    with zipfile.ZipFile(wheel) as archive:
        missing = set(REQUIRED) - set(archive.namelist())
    if missing:
        sys.exit(f"{wheel.name} lacks {', '.join(sorted(missing))}")
    # A PYTHONPATH would let the sources stand in for what the wheel forgot.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        clean = Path(folder, "environment")
        elsewhere = Path(folder, "elsewhere")
        elsewhere.mkdir()
        venv.create(clean, with_pip=True)
        programs = clean / "bin"
        install = ["-m", "pip", "--disable-pip-version-check", "install", "-qq", str(wheel)]
        subprocess.run([programs / "python", *install], env=environment, check=True)
        subprocess.run([programs / "tacit", "demo"], cwd=elsewhere, env=environment, check=True)
    print(f"{wheel.name} passes the demo in a clean environment")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
