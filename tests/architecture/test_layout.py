"""Length, names and completeness of files; proof pages; tests that mirror the sources."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "tools", "benchmarks")
LONGEST = 400
NAMELESS = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})
# Put together so that this file does not hold the words it looks for.
UNFINISHED = re.compile(
    "|".join(
        [
            r"\bTO" + r"DO\b",
            r"\bFIX" + r"ME\b",
            r"\bNotImplemented" + r"Error\b",
            r"\bpytest\.(mark\.)?(skip|skipif|xfail|importorskip)" + r"\b",
        ]
    )
)
PACKAGES_WITH_PROOFS = ("accounting", "mechanisms", "noise")
# Tests of a whole package, which name no module of it.
OF_A_PACKAGE = ("test_adversarial_", "test_attacks", "test_noninterference")
ACROSS_MODULES = frozenset(
    {
        "cli/test_bad_input.py",
        "cli/test_forged_fits.py",
        "cli/test_forgeries.py",
        "cli/test_tampering.py",
        "estimators/test_conventions.py",
        "estimators/test_features.py",
        "estimators/test_multinomial.py",
        "estimators/test_notebooks.py",
        "estimators/test_people.py",
        "estimators/test_private_bounds.py",
        "estimators/test_refusals_in_ledgers.py",
        "estimators/test_scikit_learn_checks.py",
        "estimators/test_totals.py",
        "ledger/test_crashes.py",
    }
)


def python_files(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((root / folder).rglob("*.py"))


def long_files(root: Path) -> list[str]:
    """Files past the length at which they hold two ideas."""
    counts = ((path, len(path.read_bytes().splitlines())) for path in python_files(root))
    return [f"{path.relative_to(root)}: {count}" for path, count in counts if count > LONGEST]


def nameless_files(root: Path) -> list[str]:
    """Files and folders whose name says nothing of what lives there."""
    return [
        str(path.relative_to(root))
        for path in python_files(root)
        for part in path.relative_to(root).parts
        if part.removesuffix(".py").removeprefix("test_").strip("_") in NAMELESS
    ]


def unfinished_lines(root: Path) -> list[str]:
    """Promises, stubs and tests that do not run."""
    return [
        f"{path.relative_to(root)}:{number}"
        for path in python_files(root)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if UNFINISHED.search(line)
    ]


def proof_faults(root: Path) -> list[str]:
    """Modules with a claim but no page, and pages without a module."""
    package, proofs = root / "src" / "tacit", root / "proofs"
    modules = {
        path.relative_to(package).with_suffix(".md").as_posix()
        for folder in PACKAGES_WITH_PROOFS
        for path in (package / folder).rglob("*.py")
        if not path.name.startswith("_")
    }
    pages = {path.relative_to(proofs).as_posix() for path in proofs.rglob("*.md")}
    with_module = {page for page in pages if (package / page).with_suffix(".py").is_file()}
    return [f"no page proofs/{page}" for page in sorted(modules - pages)] + [
        f"proofs/{page} has no module" for page in sorted(pages - with_module)
    ]


def mirror_faults(root: Path, across: frozenset[str] = ACROSS_MODULES) -> list[str]:
    """Modules without a test file, and test files without a module, package by package."""
    package, tests = root / "src" / "tacit", root / "tests"
    faults = []
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        here = folder.relative_to(package)
        modules = {path.stem.lstrip("_") for path in folder.glob("*.py")} - {"init__", "main__"}
        files = {path.name for path in (tests / here).glob("test_*.py")}
        tested = set()
        for module in modules:
            own = {name for name in files if re.fullmatch(rf"test_{module}(_\w+)?\.py", name)}
            tested |= own
            if not own:
                faults.append(f"no {(Path('tests') / here / f'test_{module}.py').as_posix()}")
        for name in files - tested:
            path = (here / name).as_posix()
            if path not in across and not name.startswith(OF_A_PACKAGE):
                faults.append(f"tests/{path} has no module")
    listed = [f"tests/{path} is listed and missing" for path in across if not (tests / path).exists()]
    return sorted(faults + listed)


def write(root: Path, path: str, text: str = "") -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_no_file_holds_two_ideas() -> None:
    assert long_files(ROOT) == []


def test_every_file_has_a_name() -> None:
    assert nameless_files(ROOT) == []


def test_nothing_is_left_unfinished() -> None:
    assert unfinished_lines(ROOT) == []


def test_every_claim_has_a_page_and_every_page_a_claim() -> None:
    assert proof_faults(ROOT) == []


def test_tests_mirror_the_sources() -> None:
    assert mirror_faults(ROOT) == []


def test_a_long_file_is_found(tmp_path: Path) -> None:
    write(tmp_path, "src/tacit/noise/fine.py", "1\n" * LONGEST)
    assert long_files(tmp_path) == []
    write(tmp_path, "src/tacit/noise/long.py", "1\n" * (LONGEST + 1))
    assert long_files(tmp_path) == [f"src/tacit/noise/long.py: {LONGEST + 1}"]


@pytest.mark.parametrize("path", ["src/tacit/utils.py", "src/tacit/rows/_helpers.py", "tests/common/test_it.py"])
def test_a_nameless_file_is_found(tmp_path: Path, path: str) -> None:
    write(tmp_path, "src/tacit/rows/commonplace.py")
    assert nameless_files(tmp_path) == []
    write(tmp_path, path)
    assert nameless_files(tmp_path) == [path]


@pytest.mark.parametrize(
    "line",
    [
        "# TO" + "DO: later",
        "raise NotImplemented" + "Error",
        "@pytest.mark." + "skipif(True)",
        "pytest.import" + 'orskip("torch")',
        "@pytest.mark." + "xfail",
    ],
)
def test_an_unfinished_line_is_found(tmp_path: Path, line: str) -> None:
    write(tmp_path, "src/tacit/solvers/fine.py", "return NotImplemented\n")
    assert unfinished_lines(tmp_path) == []
    write(tmp_path, "tests/test_it.py", f"\n{line}\n")
    assert unfinished_lines(tmp_path) == ["tests/test_it.py:2"]


def test_missing_and_orphaned_pages_are_found(tmp_path: Path) -> None:
    write(tmp_path, "src/tacit/noise/__init__.py")
    write(tmp_path, "src/tacit/noise/_tables.py")
    write(tmp_path, "src/tacit/noise/gaussian.py")
    write(tmp_path, "src/tacit/solvers/gradient.py")
    assert proof_faults(tmp_path) == ["no page proofs/noise/gaussian.md"]
    write(tmp_path, "proofs/noise/gaussian.md")
    # Other packages may have proof pages too.
    write(tmp_path, "proofs/solvers/gradient.md")
    assert proof_faults(tmp_path) == []
    write(tmp_path, "proofs/noise/laplace.md")
    assert proof_faults(tmp_path) == ["proofs/noise/laplace.md has no module"]


def test_modules_without_tests_and_tests_without_modules_are_found(tmp_path: Path) -> None:
    none = frozenset[str]()
    for path in ("__init__", "__main__", "errors", "noise/__init__", "noise/gaussian", "noise/_bits"):
        write(tmp_path, f"src/tacit/{path}.py")
    for path in ("test_errors", "conftest", "noise/test_gaussian_tails", "noise/test_bits"):
        write(tmp_path, f"tests/{path}.py")
    write(tmp_path, "tests/noise/test_attacks_on_digits.py")
    write(tmp_path, "tests/e2e/test_anything.py")
    assert mirror_faults(tmp_path, none) == []
    write(tmp_path, "src/tacit/noise/gauss.py")
    assert mirror_faults(tmp_path, none) == ["no tests/noise/test_gauss.py"]
    write(tmp_path, "tests/noise/test_gauss.py")
    write(tmp_path, "tests/noise/test_laplace.py")
    assert mirror_faults(tmp_path, none) == ["tests/noise/test_laplace.py has no module"]
    assert mirror_faults(tmp_path, frozenset({"noise/test_laplace.py"})) == []
    gone = frozenset({"noise/test_laplace.py", "noise/test_gone.py"})
    assert mirror_faults(tmp_path, gone) == ["tests/noise/test_gone.py is listed and missing"]


def assigned_twice(source: str) -> list[str]:
    """Names that a module binds more than once: the second silently changes what the first is used for."""
    names: Counter[str] = Counter()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names[node.name] += 1
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names.update(part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))
    return [name for name, times in names.items() if times > 1]


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("*.py")), ids=lambda path: path.stem)
def test_no_module_binds_a_name_twice(path: Path) -> None:
    assert not assigned_twice(path.read_text(encoding="utf-8"))


def test_a_name_that_is_bound_twice_is_found() -> None:
    assert assigned_twice("END = 24.0\nSTEP = 1\ndef f(): END = 3\nEND = 14.0\n") == ["END"]
