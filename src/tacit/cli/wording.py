"""Messages of the library in the words of the command line: flags in place of keywords, a schema's keys as TOML."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from tacit.cli import options

FLAGS = frozenset(options.ModelOptions.__annotations__) | frozenset(options.BudgetOptions.__annotations__)
FLAGS |= frozenset(options.FileOptions.__annotations__) | frozenset(options.ChargeOptions.__annotations__)
FLAGS |= {"invalid_rows", "random_state", "refusals", "law", "order", "n", "target", "term", "effect", "exponentiate"}
"""Keywords of Python whose flag has the same name."""
SCHEMA_KEYS = frozenset({"relation", "unit", "n_at_least", "max_rows"})
PYTHON_ONLY = frozenset(
    {"prior_mean", "warm_start", "noise_multiplier", "sample_rate", "max_weight", "y_bounds", "y_max"}
)
"""Settings of Python that no flag has: their names are written as words."""

_VALUE = (
    r'(?:"(?P<text>[^"]*)"|\'(?P<other>[^\']*)\'|(?P<rest>…|\.\.\.|inf\b|True\b|False\b|[0-9][0-9.]*(?:e-?[0-9]+)?))'
)
_KEYWORD = re.compile(rf"(?<![\w.])(?P<name>[a-z][a-z_0-9]*)={_VALUE}")
_BUDGET = re.compile(r"(?:tacit\.)?Budget\((?P<inside>[^()]*)\)")
_BARE = re.compile(r"(?<![\w\"'=-])(?P<name>[a-z0-9]+(?:_[a-z0-9]+)+)(?![\w(=\"'])")
_FILE_FACT = re.compile(
    r'declare (?P<key>delimiter|decimal|encoding) = "(?P<value>[^"]*)"(?P<more>[^;.]*?) under \[file\]'
    r"(?: in the schema)?"
)
_PHRASES: tuple[tuple[str, str], ...] = (
    ('statistics=["deviance"]', "--statistics deviance"),
    ("Ask for less, for example with budget=ledger.remaining()", "Ask for less; tacit ledger show says what is left"),
    ("ledger.request(key, again=True), on the command line --again", "--again"),
    (
        "Give either budget=… or epsilon=… (and delta=…), not both",
        "Give either --mu, --rho or --epsilon, not two of them",
    ),
    (
        "give constraint=tacit.constraints.L1Ball(radius)",
        "it is given in Python alone, as tacit.constraints.L1Ball(radius)",
    ),
    ("Use tacit.SubsampleAggregate, or another solver", "Use another solver, or tacit.SubsampleAggregate in Python"),
    (" for LinearRegression and Ridge.", " for --family gaussian."),
    ("missing_codes in the schema", "missing_codes in the schema (--missing)"),
    ("Mark them: tacit.public(table)", "If they are, add --public"),
    ("tacit.Assumptions(…)", "--assume NAME=VALUE"),
    ("inference=False", "--no-inference"),
    ("inference=True", "--inference"),
    ("exponentiate=True", "--exponentiate"),
    ("level must lie", "--level must lie"),
    ("units name ", "--per names "),
    ("units are written", "--per is written"),
)
_ELSEWHERE = re.compile(r" \(In scikit-learn's words: [^()]*\)\.?")
_OPENED = re.compile(r"Open it with dataset=(?P<name>'[^']*'|\"[^\"]*\"), on the command line --dataset")


def in_flags(message: str) -> str:
    """Name the flags of a command where a message names keywords: l2=… becomes --l2 …."""
    message = _ELSEWHERE.sub("", message)
    for said, meant in _PHRASES:
        message = message.replace(said, meant)
    replacements: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
        (_OPENED, lambda found: f"Add --dataset {shlex.quote(found['name'][1:-1])}"),
        (_FILE_FACT, _file_flag),
        (_BUDGET, lambda found: _KEYWORD.sub(_flag, found["inside"]).replace(", --", " --")),
        (_KEYWORD, _flag),
        (_BARE, _bare),
    )
    for pattern, replacement in replacements:
        message = pattern.sub(replacement, message)
    return message


def _flag(found: re.Match[str]) -> str:
    name = found["name"]
    value = next((found[part] for part in ("text", "other", "rest") if found[part] is not None), "")
    if name in SCHEMA_KEYS:
        return f'{name} = "{value}" (in the schema)'
    if name not in FLAGS:
        return found[0]
    if value in ("True", "False"):
        return _spelt(name)
    # A value with blanks needs quotes in a shell.
    return f"{_spelt(name)} {value if ' ' not in value else repr(value)}".rstrip()


def _bare(found: re.Match[str]) -> str:
    name = found["name"]
    if name in FLAGS:
        return _spelt(name)
    return name.replace("_", " ") if name in PYTHON_ONLY else name


def _file_flag(found: re.Match[str]) -> str:
    value = found["value"]
    quoted = f"'{value}'" if value in (";", "|") else value
    return f"add {_spelt(found['key'])} {quoted}{found['more']}, or declare it under [file] in the schema"


def _spelt(name: str) -> str:
    return f"--{name.replace('_', '-')}"
