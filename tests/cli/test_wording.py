"""The command line speaks of flags and of a schema's keys, not of Python's keywords (U9)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import tacit
from tacit.cli.compare import compare
from tacit.cli.fit import fit
from tacit.cli.ledger import create
from tacit.cli.options import grouped
from tacit.cli.plan import plan
from tacit.cli.stored_fit import summary
from tacit.cli.wording import FLAGS, PYTHON_ONLY, SCHEMA_KEYS, in_flags
from tacit.estimators.glm import glm
from tacit.solvers.choice import PURE_SOLVERS, SOLVERS
from tests.cli.conftest import Command

ROOT = Path(tacit.__file__).parent
PYTHON = re.compile(
    r"(?<![\w.])[a-z][a-z_0-9]*=(?!=)|(?<![\w\"'`.-])[a-z0-9]+(?:_[a-z0-9]+)+(?!\w)|\b(True|False|None)\b"
)
"""Keywords, names with underscores, and Python's words."""
FORMULA = re.compile(r"\w+\([^()]*\)|--per is written as .*|for example \"half-width=0\.1\".*")
"""What a formula, a unit or a target is written like, in every language."""


@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        ('set invalid_rows="zero" to', "set --invalid-rows zero to"),
        ("Give either radius=… or l2=….", "Give either --radius … or --l2 …."),
        ("inference=False spends all", "--no-inference spends all"),
        ("Mend them. (In scikit-learn's words: an argument must be a number. Not supported.)", "Mend them."),
        ("use solver='gradient', delta=1e-6", "use --solver gradient, --delta 1e-6"),
        ("with l2=0 it is not", "with --l2 0 it is not"),
        ("leave iterations and step_size out", "leave iterations and --step-size out"),
        ("no prior_mean", "no prior mean"),
        ('Use relation="zero-out".', 'Use relation = "zero-out" (in the schema).'),
        ("Pass Budget(epsilon=3, delta=1e-6).", "Pass --epsilon 3 --delta 1e-6."),
        ("as tacit.Budget(mu=0.3)", "as --mu 0.3"),
        ("Open it with dataset='a b', on the command line --dataset", "Add --dataset 'a b'"),
        (
            'declare encoding = "cp1252" (Western European) under [file] in the schema.',
            "add --encoding cp1252 (Western European), or declare it under [file] in the schema.",
        ),
        ('declare delimiter = ";" under [file]', "add --delimiter ';', or declare it under [file] in the schema"),
        ("level must lie between 0 and 1", "--level must lie between 0 and 1"),
        ("units name 'agee', which is no term", "--per names 'agee', which is no term"),
        # Not a flag of the command, and not a keyword.
        ("declare classes=…", "declare classes=…"),
        ("Column 'step_size' is", "Column 'step_size' is"),
    ],
)
def test_keywords_become_flags(message: str, spoken: str) -> None:
    assert in_flags(message) == spoken


def test_every_flag_is_one_of_some_command() -> None:
    known = {name for command in (fit, plan, create, summary, compare) for name in signature_of(command)}
    assert known >= FLAGS - {"n"}
    assert not FLAGS & (SCHEMA_KEYS | PYTHON_ONLY)


def signature_of(command: object) -> set[str]:
    import inspect

    return set(inspect.signature(grouped(command)).parameters)  # type: ignore[arg-type]


def messages() -> Iterator[tuple[str, str]]:
    """Texts of the library with a blank in them, but docstrings; with 'x' for what is filled in."""
    for path in sorted(ROOT.rglob("*.py")):
        if path.parent.name in {"audit", "cli"} or path.name == "page.py":
            continue
        nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        inner = [node.value for node in nodes if isinstance(node, ast.Expr)]
        inner += [part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values]
        left_out = set(map(id, inner))
        for node in nodes:
            if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in left_out and " " in text_of(node):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", re.sub(r"\{\w+\}", "'x'", text_of(node))


def text_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "'x'" for part in node.values)  # type: ignore[misc]
    return ""


def test_no_message_keeps_a_keyword_that_has_a_flag() -> None:
    """Of all that the library can say: what has a flag is spoken of as a flag."""
    keyword = re.compile(rf"(?<![\w.])({'|'.join(sorted(FLAGS | SCHEMA_KEYS))})=(?!=)")
    found = [(place, text) for place, text in messages() if keyword.search(text)]
    assert [place for place, text in found if keyword.search(in_flags(text))] == []
    assert len(found) > 100


SCHEMA = """
{top}
[columns.x]
type = "numeric"
lower = 0
upper = 1
[columns.z]
type = "numeric"
lower = -1
upper = 1
[columns.g]
type = "factor"
levels = ["a", "b", "c"]
[columns.b]
type = "binary"
[columns.k]
type = "numeric"
lower = 0
upper = 20
"""
RELATIONS = ("relation = 'replace-one'", "relation = 'add-remove'\nn_at_least = 100", "relation = 'zero-out'")
RESPONSES = {"binomial": "b", "gaussian": "z", "poisson": "k", "multinomial": "g", "huber": "z", "quantile": "z"}
FURTHER: tuple[tuple[object, ...], ...] = (
    (),
    ("--delta", 0),
    ("--l2", 0.1),
    ("--l2", 0),
    ("--radius", 1),
    ("--radius", -1),
    ("--inference",),
    ("--iterations", 0),
    ("--step-size", 0.1),
    ("--sampling", "without-replacement"),
    ("--batch-size", 10),
    ("--max-passes", 1),
    ("--row-norm", -1),
    ("--scale", -1),
    ("--quantile", 2),
    ("--mu", 1),
)


def test_what_a_command_says_of_wrong_settings_has_no_word_of_python(tmp_path: Path, command: Command) -> None:
    """Every solver, family, relation and setting: what is refused, in flags, with exit code 2."""
    for index, top in enumerate(RELATIONS):
        (tmp_path / f"{index}.toml").write_text(SCHEMA.format(top=top))
    solvers = ("auto", "magic", *dict.fromkeys((*SOLVERS, *PURE_SOLVERS)))
    said: dict[str, list[object]] = {}
    for place, (solver, family) in enumerate(product(solvers, RESPONSES)):
        # Each solver meets every setting, with every second family, and the relations in turn.
        for number, further in enumerate(FURTHER[(place + place // len(RESPONSES)) % 2 :: 2]):
            schema = f"{(place + number) % len(RELATIONS)}.toml"
            asked = ("plan", f"{RESPONSES[family]} ~ x", "--schema", schema, "--family", family, "--epsilon", 1)
            records = () if schema == "1.toml" else ("--n", 1000)
            arguments = (*asked, "--solver", solver, "--no-forecast", *records, *further)
            outcome = command(*arguments)
            assert outcome.code in (0, 2)
            for line in outcome.err.splitlines():
                said.setdefault(line, list(arguments))
    python = {line: given for line, given in said.items() if PYTHON.search(FORMULA.sub("", line))}
    assert python == {}
    assert len(said) > 80


def test_a_setting_that_only_python_has_is_no_flag() -> None:
    import inspect

    names = set(inspect.signature(glm).parameters)
    assert {"prior_mean", "warm_start", "noise_multiplier", "sample_rate"} <= names & PYTHON_ONLY
