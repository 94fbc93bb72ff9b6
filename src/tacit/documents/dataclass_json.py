"""Frozen dataclasses as JSON data. A class variable ``kind`` is a further field, and tells the classes of a union
apart.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from tacit.documents.canonical_json import quoted, require, require_fields
from tacit.errors import CertificateError

T = TypeVar("T")

NOT_STORED: Mapping[str, Any] = {"stored_as": None}
"""Metadata of a dataclass field that is left out when written, and is None when read back."""


OMITTED: Mapping[str, Any] = {"omitted": True}
"""Metadata of a dataclass field that is left out where it has its default value."""


def stored_as(key: str) -> Mapping[str, Any]:
    """Metadata of a dataclass field whose key in the data is not its name."""
    return {"stored_as": key}


_hints = functools.cache(get_type_hints)
_SCALARS = frozenset({str, int, float, bool, types.NoneType})
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def to_plain(value: Any) -> Any:
    """Return a dataclass, and all that it holds, as dictionaries and lists."""
    if type(value) in _SCALARS:
        return value
    if is_dataclass(value):
        kind: Any = type(value)
        spared = {item.name for item in _omitted(kind) if getattr(value, item.name) == _default(item)}
        written = {
            key: to_plain(getattr(value, item.name)) for key, item in _stored(kind).items() if item.name not in spared
        }
        return {**_kind_of(kind), **written}
    if isinstance(value, Mapping):
        return {name: to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def from_plain(kind: type[T], data: object, place: str) -> T:
    """Read what `to_plain` wrote; an int passes for a float, "inf", "-inf" and "nan" for numbers, and nothing else."""
    read: T = _read(kind, data, place)
    return read


def _read(kind: Any, data: Any, place: str) -> Any:
    if type(data) is kind:
        # bool is an int to isinstance, and 1 is not true.
        return data
    if get_origin(kind) in (Union, types.UnionType):
        return _read_union(get_args(kind), data, place)
    if is_dataclass(kind):
        return _read_fields(kind, data, place)
    if kind is float:
        return _read_number(data, place)
    if isinstance(data, list | dict) and get_origin(kind) is not None:
        return _read_container(get_origin(kind), get_args(kind), data, place)
    _require_type(kind is Any, data, place)
    return data


def _read_container(origin: Any, inner: tuple[Any, ...], data: Any, place: str) -> Any:
    keyed = issubclass(origin, Mapping)
    _require_type(keyed == isinstance(data, dict), data, place)
    if keyed:
        return {name: _read(inner[1], item, place) for name, item in data.items()}
    if origin is np.ndarray:
        return np.array(_read_numbers(data, place), dtype=np.float64)
    if inner[-1] is Ellipsis:
        return tuple(_read(inner[0], item, place) for item in data)
    require(len(data) == len(inner), f"{place} has the wrong length {len(data)}")
    return tuple(_read(kind, item, place) for kind, item in zip(inner, data, strict=True))


def _read_union(members: tuple[Any, ...], data: Any, place: str) -> Any:
    if data is None and types.NoneType in members:
        return None
    classes: list[Any] = [member for member in members if is_dataclass(member)]
    others = [member for member in members if member not in (*classes, types.NoneType)]
    if len(classes) == 1:
        return _read_fields(classes[0], data, place)
    if classes:
        _require_type(isinstance(data, dict), data, place)
        for member in classes:
            kind = _kind_of(member)
            if data.get("kind") == kind["kind"] if kind else set(data) == _names(member):
                return _read_fields(member, data, place)
        raise CertificateError(f"{place} is of an unknown kind {quoted(str(data.get('kind')))}")
    arrays = [member for member in others if get_origin(member) is np.ndarray]
    return _read((arrays if isinstance(data, list) and arrays else others)[-1], data, place)


def _read_fields(kind: Any, data: Any, place: str) -> Any:
    if not isinstance(data, dict):
        _require_type(False, data, place)
    spared = [item for item in _omitted(kind) if item.name not in data]
    if data.keys() != _names(kind) - {item.name for item in spared}:
        require_fields(data, dict.fromkeys(_names(kind) - {item.name for item in spared}, (object,)), place)
    if not data.items() >= _kind_of(kind).items():
        raise CertificateError(f"{place} is of another kind")
    hints = _hints(kind)
    read = dict(_absent(kind))
    read |= {item.name: _default(item) for item in spared}
    for key, item in _stored(kind).items():
        if item in spared:
            continue
        read[item.name] = _read(hints[item.name], data[key], f"{place}: {key}")
    return kind(**read)


def _read_number(data: Any, place: str) -> float:
    if isinstance(data, str) and data in _SPECIAL:
        return _SPECIAL[data]
    require(type(data) in (float, int), f"{place} is not a number")
    try:
        return float(data)
    except OverflowError as error:
        raise CertificateError(f"{place} is too large a number") from error


def _read_numbers(data: Any, place: str) -> Any:
    if isinstance(data, list):
        return [_read_numbers(item, place) for item in data]
    return _read_number(data, place)


@functools.cache
def _stored(kind: Any) -> dict[str, Field[Any]]:
    """The fields that are stored, by their keys in the data."""
    keys = {item.metadata.get("stored_as", item.name): item for item in fields(kind)}
    return {key: item for key, item in keys.items() if key is not None}


@functools.cache
def _omitted(kind: Any) -> tuple[Field[Any], ...]:
    """The fields that are not written where they have their default value."""
    return tuple(item for item in fields(kind) if item.metadata.get("omitted"))


def _default(item: Field[Any]) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


@functools.cache
def _absent(kind: Any) -> dict[str, None]:
    """What a field is that is not stored."""
    return {item.name: None for item in fields(kind) if item.init}


@functools.cache
def _names(kind: Any) -> frozenset[str]:
    return frozenset({*_kind_of(kind), *_stored(kind)})


@functools.cache
def _kind_of(kind: Any) -> dict[str, str]:
    return {"kind": kind.kind} if hasattr(kind, "kind") else {}


def _require_type(holds: bool, data: object, place: str) -> None:
    require(holds, f"{place} has the wrong type {type(data).__name__}")
