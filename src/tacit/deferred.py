"""Names that are loaded when they are first used: what a program does not use costs it no time at its start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def deferred(package: str, place: str) -> Callable[..., Any]:
    """Return a function of a package, written "module.function", whose module is loaded by the first call."""
    module, name = place.split(".")

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"{package}.{module}"), name)(*arguments)

    return call


def lazy_names(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's `__getattr__`: by module, the names, parted by spaces, that the package has from there."""
    homes = {name: module for module, several in names.items() for name in several.split()}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return find
