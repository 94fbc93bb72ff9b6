"""Randomness and third-party libraries stay in their packages; imports are read, not run."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "tacit"

# Third-party libraries of each package, as in the table of layers in CONTRIBUTING.md. numpy is
# allowed in every package above privacy.
THIRD_PARTY: dict[str, frozenset[str]] = {
    "cli": frozenset({"PIL", "numpy", "rich", "typer"}),
    "report": frozenset({"matplotlib", "numpy"}),
    "audit": frozenset({"numpy", "scipy"}),
    "neural": frozenset({"numpy", "sklearn", "torch"}),
    "estimators": frozenset({"cloudpickle", "numpy", "sklearn"}),
    "planning": frozenset({"numpy", "scipy", "threadpoolctl"}),
    "inference": frozenset({"numpy", "pandas", "scipy"}),
    "ledger": frozenset(),
    "engine": frozenset({"numpy"}),
    "solvers": frozenset({"numpy", "threadpoolctl"}),
    "mechanisms": frozenset({"numba", "numpy", "scipy", "threadpoolctl", "torch"}),
    "rows": frozenset({"distributed", "llvmlite", "narwhals", "numba", "numpy", "pyarrow", "threadpoolctl"}),
    "noise": frozenset({"numba", "numpy"}),
    "certificate": frozenset({"numpy"}),
    "contract": frozenset({"numpy"}),
    "formula": frozenset({"formulaic"}),
    "schema": frozenset({"numpy"}),
    "design": frozenset({"numpy"}),
    "features": frozenset({"numpy", "threadpoolctl"}),
    "documents": frozenset({"cryptography", "numpy"}),
    "losses": frozenset({"llvmlite", "numba", "numpy", "scipy"}),
    "constraints": frozenset({"numba", "numpy", "scipy"}),
    "accounting": frozenset({"numba", "numpy", "scipy"}),
    "privacy": frozenset(),
    "kernel_compilation": frozenset({"numba"}),
    "display": frozenset(),
    "files": frozenset(),
    "text_table": frozenset(),
    "deferred": frozenset(),
    "validate": frozenset(),
    "errors": frozenset(),
    "__init__": frozenset(),
    "__main__": frozenset(),
}

# planning simulates public data for its forecasts and for the demo, audit for its attacks.
PACKAGES_WITH_GENERATORS = frozenset({"audit", "noise", "planning"})
ENTROPY = "noise/entropy.py"
GENERATOR_MODULES = ("random", "secrets", "numpy.random")
# rvs is how scipy's distributions draw, from numpy's global generator unless told otherwise.
DRAWING_NAMES = frozenset({"default_rng", "RandomState", "SystemRandom", "rvs"})
ENTROPY_NAMES = frozenset({"os.urandom", "os.getrandom"})


def package_of(path: str) -> str:
    return path.split("/", maxsplit=1)[0].removesuffix(".py")


def imported_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Dotted names of everything a module imports, importlib and __import__ included."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def aliases(tree: ast.AST) -> dict[str, str]:
    """What the names a module binds by importing stand for."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                bound[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return bound


def used_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Dotted names of every name and attribute used, aliases resolved."""
    bound = aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            parts, value = [node.attr], node.value
            while isinstance(value, ast.Attribute):
                parts.append(value.attr)
                value = value.value
            if isinstance(value, ast.Name):
                parts.append(bound.get(value.id, value.id))
            yield node.lineno, ".".join(reversed(parts))
        elif isinstance(node, ast.Name):
            yield node.lineno, bound.get(node.id, node.id)


def is_below(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")


def randomness_violations(path: str, text: str) -> list[str]:
    """Uses of a generator outside the packages that may, and of entropy outside its one file."""
    tree = ast.parse(text)
    names = [*imported_names(tree), *used_names(tree)]
    found: list[str] = []
    if package_of(path) not in PACKAGES_WITH_GENERATORS:
        # A local variable may be called random; an attribute or an import of one may not.
        imports = {name for _, name in imported_names(tree)}
        for line, name in names:
            generator = any(is_below(name, module) for module in GENERATOR_MODULES)
            is_local = name in ("random", "secrets") and name not in imports
            if (generator and not is_local) or name.split(".")[-1] in DRAWING_NAMES:
                found.append(f"{path}:{line}: {name}")
    if path != ENTROPY:
        found += [f"{path}:{line}: {name}" for line, name in names if name in ENTROPY_NAMES]
    return found


def third_party_violations(path: str, text: str) -> list[str]:
    """Imports of libraries that the table of packages does not grant."""
    allowed = THIRD_PARTY.get(package_of(path))
    if allowed is None:
        return [f"{path}: package {package_of(path)} is not in the table of packages"]
    free = allowed | sys.stdlib_module_names | {"tacit"}
    return [
        f"{path}:{line}: {name}" for line, name in imported_names(ast.parse(text)) if name.split(".")[0] not in free
    ]


def sources() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")


def test_generators_and_entropy_stay_in_their_packages() -> None:
    assert [fault for path, text in sources() for fault in randomness_violations(path, text)] == []


def test_public_draws_come_from_a_seed_that_is_a_rule() -> None:
    """Every call passes a field of a group of rules, which is a constant, and nothing else."""
    calls = [
        (path, node.args)
        for path, text in sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "PublicSequence"
    ]
    assert calls
    for path, args in calls:
        assert [type(arg) for arg in args] == [ast.Attribute], path
        group = args[0].value  # type: ignore[attr-defined]
        assert isinstance(group, ast.Name), path
        assert group.id.isupper(), path


def test_third_party_libraries_stay_in_their_packages() -> None:
    assert [fault for path, text in sources() for fault in third_party_violations(path, text)] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("solvers/gradient.py", "import random"),
        ("solvers/one_step.py", "import numpy as np\nnp.random.default_rng(1)"),
        ("solvers/public_draws.py", "import os\nos.urandom(8)"),
        ("solvers/public_draws.py", "import numpy as np\nnp.random.default_rng(1)"),
        ("solvers/gradient.py", "import random as dice"),
        ("solvers/gradient.py", "import secrets"),
        ("mechanisms/sum.py", "from random import gauss"),
        ("mechanisms/sum.py", "from numpy import random"),
        ("mechanisms/sum.py", "from numpy.random import Generator"),
        ("mechanisms/sum.py", "import numpy as np\nnp.random.normal()"),
        ("mechanisms/sum.py", "import numpy as other\ndef f():\n    return other.random"),
        ("mechanisms/sum.py", "from scipy import stats\nstats.norm.rvs(3)"),
        ("mechanisms/sum.py", "import importlib\nimportlib.import_module('random')"),
        ("mechanisms/sum.py", "__import__('secrets')"),
        ("cli/demo.py", "import numpy as np\nnp.random.default_rng(0)"),
        ("estimators/classifiers.py", "make().default_rng(0)"),
        ("estimators/classifiers.py", "import os\nos.urandom(8)"),
        ("noise/gaussian.py", "from os import urandom"),
        ("noise/gaussian.py", "import os as system\nsystem.getrandom(8)"),
        ("planning/forecast.py", "import os\nos.urandom(8)"),
    ],
)
def test_seeded_randomness_is_found(path: str, text: str) -> None:
    assert randomness_violations(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("noise/entropy.py", "import os\nos.urandom(8)"),
        ("noise/entropy.py", "import numpy as np\nnp.random.Philox(1)"),
        ("planning/simulate.py", "import numpy as np\nnp.random.default_rng(0)"),
        ("solvers/gradient.py", "random = 1\nrandom_state = random"),
        ("engine/run.py", "import os\nos.fsync(1)"),
    ],
)
def test_what_is_allowed_is_not_called_random(path: str, text: str) -> None:
    assert randomness_violations(path, text) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("privacy/budget.py", "import numpy as np"),
        ("errors.py", "import numpy"),
        ("solvers/gradient.py", "from scipy.optimize import minimize"),
        ("design/design.py", "def f():\n    import pandas"),
        ("engine/run.py", "import sklearn.base"),
        ("report/table.py", "import importlib\nimportlib.import_module('torch')"),
        ("cellar/wine.py", "import math"),
    ],
)
def test_seeded_library_is_found(path: str, text: str) -> None:
    assert third_party_violations(path, text)
