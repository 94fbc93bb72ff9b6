"""`tacit schema`: a template of public facts, from the names and types of the columns alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tacit.cli import options
from tacit.cli.options import flag
from tacit.cli.output import Screen, require_writable
from tacit.files import write_text


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
    from tacit.schema.template import template

    found = describe(data)
    text = template(found.names, found.kinds, data.name)
    if output is not None:
        write_text(output, text)
    pairs = zip(found.names, found.kinds, strict=True)
    columns = [{"name": name, "kind": kind} for name, kind in pairs]
    place = None if output is None else str(output)
    screen.result({"columns": columns, "template": text, "output": place})
    done = f"The template is in {output}. Fill in the bounds and levels, then: tacit fit"
    screen.plain(text if output is None else done)
