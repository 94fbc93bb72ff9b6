"""Cells and lines that a record may hold to be noticed: whatever could raise, warn or spread."""

from __future__ import annotations

import array
import datetime as dt
import decimal
import enum
import fractions
import math
import uuid
from typing import Any

import numpy as np
import pandas as pd


class Rogue:
    """An object whose every method raises."""

    def _raise(self, *_: object) -> Any:
        raise RuntimeError("canary")

    __float__ = __int__ = __index__ = __bool__ = __len__ = __iter__ = _raise
    __str__ = __repr__ = __eq__ = __lt__ = __getitem__ = __array__ = _raise
    __hash__ = _raise


class Disguised:
    """An object that raises when it is asked for its class."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("canary")


class RogueFloat(float):
    """A number whose own code raises."""

    def _raise(self, *_: object) -> Any:
        raise RuntimeError("canary")

    __float__ = __str__ = __repr__ = __eq__ = __bool__ = _raise
    __hash__ = _raise


class RogueText(str):
    """A text whose own code raises."""

    __slots__ = ()

    def _raise(self, *_: object) -> Any:
        raise RuntimeError("canary")

    __str__ = __repr__ = __eq__ = __len__ = _raise
    __hash__ = _raise


class Ward(enum.Enum):
    """A member of an enumeration."""

    A = "a"


def nested_list(depth: int) -> Any:
    """A list in a list in a list."""
    inner: Any = 1.0
    for _ in range(depth):
        inner = [inner]
    return inner


CELLS: dict[str, Any] = {
    "none": None,
    "pandas NA": pd.NA,
    "NaT": pd.NaT,
    "masked": np.ma.masked,
    "nan": math.nan,
    "nan with a payload": np.uint64(0x7FF8DEADBEEF0001).view(np.float64),
    "negative nan": np.uint64(0xFFF8000000000000).view(np.float64),
    "inf": math.inf,
    "minus inf": -math.inf,
    "largest": 1.7976931348623157e308,
    "subnormal": 5e-324,
    "minus zero": -0.0,
    "true": True,
    "numpy bool": np.bool_(True),
    "huge integer": 10**400,
    "huge negative": -(10**400),
    "integer of 5000 digits": 10**5000,
    "integer beyond int64": 2**63,
    "integer beyond uint64": 2**64,
    "int8": np.int8(-128),
    "uint64": np.uint64(2**64 - 1),
    "float16": np.float16(6e4),
    "float32": np.float32(1e38),
    "longdouble": np.longdouble("1e4000"),
    "fraction": fractions.Fraction(1, 3),
    "huge fraction": fractions.Fraction(10**5000, 3),
    "decimal": decimal.Decimal("0.5"),
    "huge decimal": decimal.Decimal("1e999999"),
    "signalling nan": decimal.Decimal("sNaN"),
    "complex": 1j,
    "complex without imaginary part": 1 + 0j,
    "numpy complex": np.complex64(1j),
    "date": dt.date(2031, 3, 7),
    "datetime": dt.datetime(2031, 3, 7, tzinfo=dt.UTC),
    "timedelta": dt.timedelta(days=3),
    "time": dt.time(3, 4),
    "datetime64": np.datetime64("2031-03-07"),
    "datetime64 NaT": np.datetime64("NaT"),
    "timedelta64": np.timedelta64(3, "s"),
    "timedelta64 NaT": np.timedelta64("NaT", "s"),
    "timestamp": pd.Timestamp("2031-03-07", tz="UTC"),
    "period": pd.Period("2031-03", "M"),
    "interval": pd.Interval(0, 1),
    "text": "canary",
    "empty text": "",
    "space": " ",
    "text of a number": "0.5",
    "text beyond float64": "1e400",
    "text of an exponent": "1e999999999",
    "thousands": "1,000",
    "underscores": "1_000",
    "unicode digits": "\u0663",
    "wide digit": "\uff11",
    "text nan": "nan",
    "text inf": "-Infinity",
    "text true": "TRUE",
    "NUL": "a\x00b",
    "mark of byte order": "\ufeff1",
    "line breaks": "1\r\n2",
    "lone CR": "1\r2",
    "quotes": 'a"b',
    "delimiters": "a,b;c\td",
    "surrogate": "\ud800",
    "long text": "x" * 100_000,
    "long digits": "9" * 100_000,
    "bytes": b"1",
    "bytes of no text": b"\xff\x00",
    "numpy text": np.str_("canary"),
    "numpy bytes": np.bytes_(b"canary"),
    "void": np.void(b"abc"),
    "list": [1.0],
    "empty list": [],
    "ragged list": [1.0, [2.0, "a"]],
    "deep list": nested_list(500),
    "tuple": (1, 2),
    "dict": {"a": 1},
    "set": {1, 2},
    "range": range(3),
    "array without dimensions": np.array(0.5),
    "objects without dimensions": np.array(None, dtype=object),
    "array": np.array([1.0, 2.0]),
    "array of one": np.array([1.0]),
    "array of text": np.array(["a"]),
    "masked array": np.ma.array([1.0], mask=[True]),
    "frame": pd.DataFrame({"a": [1]}),
    "series": pd.Series([1.0]),
    "array.array": array.array("d", [1.0]),
    "memoryview": memoryview(b"1"),
    "object": object(),
    "rogue": Rogue(),
    "disguised": Disguised(),
    "rogue float": RogueFloat(0.5),
    "rogue text": RogueText("0.5"),
    "enumeration": Ward.A,
    "uuid": uuid.UUID(int=7),
    "type": int,
    "function": len,
    "module": math,
    "exception": ValueError("canary"),
    "ellipsis": ...,
    "not implemented": NotImplemented,
}

SCALARS = {
    name: cell
    for name, cell in CELLS.items()
    if type(cell).__module__ in {"builtins", "datetime", "decimal", "numpy"}
    and not issubclass(type(cell), list | tuple | dict | set | range | memoryview | np.ndarray)
    and type(cell) not in {object, type, type(len), type(math), ValueError}
}
"""Cells that are no collections and no objects with code of their own."""

LINES: dict[str, bytes] = {
    "no fields": b"",
    "too few fields": b"1,2",
    "too many fields": b"1,2,3,4,5,6,7,8,9,10,11",
    "only commas": b"," * 40,
    "open quote": b'"40,0.5,a,1,1,1,7,0',
    "open quote at the end": b'40,0.5,a,1,1,1,7,"0',
    "quote inside": b'4"0,0.5,a,1,1,1,7,0',
    "text after a quote": b'"40"x,0.5,a,1,1,1,7,0',
    "one quote": b'"',
    "three quotes": b'"""',
    "bytes of no UTF-8": b"40,0.5,\xff,1,1,1,7,0",
    "half a letter": b"40,0.5,a,1,1,1,7,\xc3",
    "surrogate in bytes": b"40,0.5,\xed\xa0\x80,1,1,1,7,0",
    "UTF-16": "40,0.5,a,1,1,1,7,0".encode("utf-16"),
    "NUL": b"40,0.5,a\x00,1,1,1,7,0",
    "nothing but NUL": b"\x00" * 20,
    "lone CR": b"40,0.5,a\r,1,1,1,7,0",
    "CR at the start": b"\r40,0.5,a,1,1,1,7,0",
    "CR at the end": b"40,0.5,a,1,1,1,7,0\r",
    "nothing but CR": b"\r",
    "mark of byte order": b"\xef\xbb\xbf40,0.5,a,1,1,1,7,0",
    "names again": b"age,x,ward,y,w,t,id,day",
    "words in quotes": b'"4,0","0.5","a","1","1","1","7","0"',
    "semicolons": b"40;0.5;a;1;1;1;7;0",
    "tabs": b"40\t0.5\ta\t1\t1\t1\t7\t0",
    "escapes": b'40,0.5,\\"a,1,1,1,7,0',
    "comment": b"# 40,0.5,a,1,1,1,7,0",
    "end of file": b"40,0.5,a,1,1,1,7,\x1a",
    "line separators": "40,0.5,a\u2028\u2029\x85,1,1,1,7,0".encode(),
    "vertical tab": b"40,0.5,a\x0b\x0c\x1c\x1d\x1e,1,1,1,7,0",
    "gzip": b"\x1f\x8b\x08\x00",
    "Parquet": b"PAR1",
    "long line": b"40,0.5," + b"x" * (5 << 20) + b",1,1,1,7,0",
    "long line of quotes": b'40,0.5,"' + b'""' * (5 << 19) + b",1,1,1,7,0",
}
"""Lines of a file with the columns age, x, ward, y, w, t, id and day."""
