"""`tacit schema`: a template of public facts, from the names and types of the columns alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tacit.cli import options
from tacit.cli.options import flag
from tacit.cli.output import Screen
from tacit.cli.output_files import require_writable


def schema(
    data: options.DataFile,
    output: Annotated[Path | None, flag("FILE", "Write a TOML file.", "--output", "-o")] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a schema to fill in, from names and types.

    No value of the table is read, and no statistic of its values: bounds and levels are public
    facts that a person declares.
    """
    screen = Screen(as_json)
    require_writable([output], [data], force=force)
    from tacit.engine.description import describe
    from tacit.files import write_text
    from tacit.schema.template import template

    found = describe(data)
    text = template(found.names, found.kinds, data.name)
    if output is not None:
        write_text(output, text)
    pairs = zip(found.names, found.kinds, strict=True)
    screen.result(
        {
            "columns": [{"name": name, "kind": kind} for name, kind in pairs],
            "template": text,
            "output": None if output is None else str(output),
        }
    )
    if output is None:
        screen.plain(text)
    else:
        screen.plain(f"The template is in {output}. Fill in the bounds and levels, then: tacit fit")
