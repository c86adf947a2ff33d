"""Bodies that no service should trip over: JSON, lines of it, and Arrow streams, mostly wrong.

Every function takes a random generator and returns bytes; the same generator gives the same bytes.
Half of them begin with something valid, because what is nearly right gets furthest.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

NAMES = ("flow", "level", "y", "x", "id", "rows", "labels", "kind", "settings", "columns", "token")
WORDS = (
    *(
        "",
        "a",
        "up",
        "down",
        "NaN",
        "null",
        "\x00",
        "\n",
        "é",
        "日本",
        "😀",
        "a" * 129,
        "a" * 70_000,
    ),
    *(
        "../../etc/passwd",
        "<script>alert(1)</script>",
        "'; --",
        "\u202e",
        "\ud800",
        "%00",
        "\r\nX: 1",
    ),
)
#: Tokens of JSON, some of which are none.
NUMBERS = (
    *(
        "0",
        "-0",
        "1",
        "-1",
        "0.5",
        "1e308",
        "1e309",
        "-1e309",
        "1e-400",
        "1e151",
        "-1e151",
        "1E400",
    ),
    *("9" * 30, "9" * 400, "9" * 5000, "-" + "9" * 400, "9007199254740993", "18446744073709551616"),
    *("NaN", "Infinity", "-Infinity", "nan", "0x10", "01", "1.", ".5", "+1", "--1", "1e", "1_000"),
)
SETTINGS = (
    *(
        "n_components",
        "n_random_features",
        "n_target_features",
        "pilot_rows",
        "stability",
        "window",
    ),
    *("bandwidth", "ridge", "forgetting", "missing", "solver", "preset", "task", "random_state"),
    *(
        "frequencies",
        "categories",
        "max_categories",
        "n_threads",
        "prequential",
        "align",
        "input_map",
    ),
)
#: Values in the place of a number, of a target and of a setting.
RARE_NUMBERS: tuple[Any, ...] = (
    *(None, True, "1", [], {}, 1e200, -0.0, 10**200, 5e-324, 1e150, "\ud800", 7),
)
RARE_TARGETS: tuple[Any, ...] = (
    *(None, True, [1, 2], [], {}, [[1]], "", 0.25, 1 << 60, "\ud800", "b\0", "a" * 300, -1),
)
RARE_SETTINGS: tuple[Any, ...] = (
    *(-1, 0, 10**9, 10**30, 1e300, "", [], {}, "\ud800", 1e-300, 2**63, "paper", 1e999),
)


def json_body(random: Random) -> bytes:
    """An object that may be rows, labels, a token or a model, or nothing of it."""
    makers = (_rows, _rows, _rows, _labels, _wild, _wild_row, _deep, _wide, _model, *[_plain] * 4)
    made = random.choice(makers)
    body = made(random)
    return spoiled(body, random) if random.random() < 0.3 else body


def lines_body(random: Random) -> bytes:
    """Lines of JSON, with ends of all kinds."""
    end = random.choice((b"\n", b"\r\n", b"\r", b"\n\n", b"\x0b", b"\x00\n", b"\n" * 5000))
    makers = (_row, _row, _row, _wild_row, _wild, _label)
    lines = [random.choice(makers)(random) for _ in range(random.randrange(40))]
    body = random.choice((b"", b"", b"\xef\xbb\xbf")) + end.join(lines)
    return spoiled(body, random) if random.random() < 0.3 else body


def arrow_body(random: Random) -> bytes:
    """A stream of Arrow."""
    rows = random.choice((0, 1, 2, 7, 50, 300))
    columns = {"flow": _floats(random, rows), "level": _floats(random, rows)}
    if random.random() < 0.7:
        columns["y"] = _floats(random, rows)
    if random.random() < 0.2:
        columns["id"] = pa.array([f"n{random.random()}" for _ in range(rows)])
    for _ in range(random.choice((0, 0, 1, 2))):
        name = random.choice((*columns, *NAMES[:5], "", "é", "more"))
        columns[name] = random.choice(ARRAYS)(random, rows)
    if random.random() < 0.02:
        columns = {f"c{i}": _floats(random, rows) for i in range(random.choice((0, 60, 600)))}
    body = _stream(columns, random)
    return spoiled(body, random) if random.random() < 0.5 else body


def spoiled(body: bytes, random: Random) -> bytes:
    """The same with a fault: bits flipped, cut, doubled, overwritten, or a length that lies."""
    if not body:
        return random.randbytes(random.randrange(40))
    place = random.randrange(len(body))
    what = random.randrange(6)
    if what == 0:
        changed = bytearray(body)
        for _ in range(random.randint(1, 8)):
            bit = random.randrange(8 * len(body))
            changed[bit // 8] ^= 1 << bit % 8
        return bytes(changed)
    if what == 1:
        return body[:place]
    if what == 2:
        return body[:place] + random.randbytes(random.randint(1, 16)) + body[place + 8 :]
    if what == 3:
        lie = random.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 20)).to_bytes(4, "little")
        place -= place % 4
        return body[:place] + lie + body[place + 4 :]
    if what == 4:
        return body + body[place:]
    return body[:place] + body[place + random.randint(1, 64) :]


def _plain(random: Random) -> bytes:
    """What is fine."""
    y, name = random.choice((0.5, 1.5, "up", "down", None)), random.choice((None, None, "n"))
    rows: list[dict[str, Any]] = [
        {"x": [random.gauss(0, 1) for _ in range(2)], "y": y} for _ in range(random.randint(1, 20))
    ]
    for place, row in enumerate(rows):
        row |= {} if name is None else {"id": f"{name}{random.randrange(300) + 300 * place}"}
    rows = [{key: row[key] for key in row if row[key] is not None} for row in rows]
    return json.dumps(random.choice((rows[0], {"rows": rows}))).encode()


def _row(random: Random) -> bytes:
    """A row that is nearly right."""
    x: Any = [_number(random) for _ in range(random.choice((0, 1, 2, 2, 2, 2, 3)))]
    if random.random() < 0.4:
        x = dict(zip(("flow", "level", "heat"), x, strict=False))
    row: dict[str, Any] = {"x": x, "y": _target(random)}
    if random.random() < 0.15:
        row["id"] = random.choice((*WORDS, f"n{random.random()}", 7, None))
    if random.random() < 0.2:
        row[random.choice(NAMES)] = random.choice((None, [], {}, 1, "a"))
    return json.dumps(row).encode()


def _number(random: Random) -> Any:
    """A number, most of the time."""
    usual = random.gauss(0, 1)
    rare: tuple[Any, ...] = (
        None,
        True,
        "1",
        [],
        {},
        1e200,
        -0.0,
        10**200,
        5e-324,
        1e150,
        "\ud800",
        7,
    )
    return random.choice(rare) if random.random() < 0.04 else usual


def _target(random: Random) -> Any:
    """A target of some kind."""
    usual = (0.5, 1, 0.25, 1, "up", "down", "left")
    rare: tuple[Any, ...] = (
        None,
        True,
        [1, 2],
        [],
        {},
        [[1]],
        "",
        0.25,
        1 << 60,
        "\ud800",
        "b\0",
        "a" * 300,
        -1,
    )
    return random.choice(rare if random.random() < 0.15 else usual)


def _rows(random: Random) -> bytes:
    """Several rows."""
    n = random.choice((0, 1, 2, 5, 30))
    return b'{"rows": [' + b",".join(_row(random) for _ in range(n)) + b"]}"


def _label(random: Random) -> bytes:
    """A target that came later."""
    rare = random.random() < 0.3
    name = random.choice((*WORDS, 7, None)) if rare else f"n{random.randrange(900)}"
    return json.dumps({"id": name, "y": _target(random)}).encode()


def _labels(random: Random) -> bytes:
    """Several of them."""
    n = random.choice((0, 1, 1, 2, 5, 500))
    return b'{"labels": [' + b",".join(_label(random) for _ in range(n)) + b"]}"


def _model(random: Random) -> bytes:
    """A model to be made, with settings that may be anything."""
    settings = {name: _setting(random) for name in random.sample(SETTINGS, random.randrange(4))}
    asked: dict[str, Any] = {
        "kind": random.choice(("classifier", "regressor", "reducer", "reducer", [], 7, None)),
        "settings": {"n_random_features": 8, "task": "regression", **settings},
    }
    if random.random() < 0.3:
        asked["columns"] = [random.choice((*NAMES, *WORDS)) for _ in range(random.randrange(4))]
    if random.random() < 0.2:
        asked[random.choice(("target", "monitor", "columns", "more"))] = _setting(random)
    return json.dumps(asked).encode()


def _setting(random: Random) -> Any:
    """A value of a setting."""
    usual = (1, 2, 8, 64, 0.5, "auto", None, True, False, "exact", "impute", "whitened", "drawn")
    rare: tuple[Any, ...] = (
        -1,
        0,
        10**9,
        10**30,
        1e300,
        "",
        [],
        {},
        "\ud800",
        1e-300,
        2**63,
        "paper",
        1e999,
    )
    return random.choice(rare if random.random() < 0.4 else usual)


def _wild_row(random: Random) -> bytes:
    """A row whose parts are anything."""
    return b'{"x": %b, "y": %b}' % (_wild(random), _wild(random))


def _wild(random: Random, depth: int = 0) -> bytes:
    """Anything that JSON can say, and some things that it cannot."""
    what = random.randrange(8 if depth < 4 else 5)
    if what < 2:
        return random.choice(NUMBERS).encode()
    if what == 2:
        return random.choice((b"null", b"true", b"false", b"nul", b"", b"'a'", b"undefined"))
    if what < 5:
        return json.dumps(random.choice((*WORDS, *NAMES))).encode()
    parts = [_wild(random, depth + 1) for _ in range(random.randrange(4))]
    if what == 5:
        return b"[" + b",".join(parts) + b"]"
    names = [json.dumps(random.choice((*NAMES, *WORDS[:8]))).encode() for _ in parts]
    pairs = [name + b":" + part for name, part in zip(names, parts, strict=True)]
    return b"{" + b",".join(pairs * random.choice((1, 1, 2))) + b"}"


def _deep(random: Random) -> bytes:
    """Brackets within brackets."""
    n = random.choice((10, 100, 300, 500, 700, 850, 900, 950, 980, 1100, 50_000))
    begin, end = random.choice(((b"[", b"]"), (b'{"x":', b"}"), (b'{"rows":[', b"]}")))
    deep = begin * n + b"1" + end * n
    return random.choice((b"%b", b'{"x": %b, "y": 1}', b'{"x": [1, 2], "y": %b}')) % deep


def _wide(random: Random) -> bytes:
    """A row with many columns, or long names."""
    n = random.choice((3, 100, 600, 5000))
    names = [random.choice(("é", "c", "\ud800", "n" * 500)) + str(i) for i in range(n)]
    x: Any = dict.fromkeys(names, 1) if random.random() < 0.5 else [1.0] * n
    return json.dumps({"x": x, "y": 1}, ensure_ascii=random.random() < 0.5).encode(
        "utf-8", "surrogatepass"
    )


def _floats(random: Random, rows: int) -> Any:
    """A column of numbers, some of them not finite."""
    rare = (float("nan"), float("inf"), 1e200, None)
    share = random.choice((0.0, 0.0, 0.05))
    pick = [random.choice(rare) if random.random() < share else 0.5 for _ in range(rows)]
    return pa.array(pick, random.choice((pa.float64(), pa.float64(), pa.float32())))


def _typed(kind: Any, *values: Any) -> Callable[[Random, int], Any]:
    """What makes a column of one type."""
    return lambda random, rows: pa.array([random.choice(values) for _ in range(rows)], kind)


def _dictionary(random: Random, rows: int) -> Any:
    """A column of words that is packed."""
    return pa.array([random.choice(("a", "b")) for _ in range(rows)]).dictionary_encode()


def _encoded_runs(random: Random, rows: int) -> Any:
    """A column of runs, whose length is only claimed."""
    end = random.choice((rows, rows, 1 << 30)) or 1
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([end], pa.int32()), pa.array([0.5]))
    return runs.slice(0, rows)


def _views(random: Random, rows: int) -> Any:
    """Lists that all show the same values."""
    n = random.choice((1, 1000))
    return pa.ListViewArray.from_arrays([0] * rows, [n] * rows, pa.array([0.5] * n))


def _extension(random: Random, rows: int) -> Any:
    """A column of a type that others define."""
    return pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1] * rows, pa.int8()))


ARRAYS: tuple[Callable[[Random, int], Any], ...] = (
    _floats,
    _dictionary,
    _encoded_runs,
    _views,
    _extension,
    _typed(pa.null(), None),
    _typed(pa.string(), "up", "down", None, "", "n1", "a" * 1000),
    _typed(pa.large_string(), "up", "n2"),
    _typed(pa.string_view(), "up", "a" * 500),
    _typed(pa.binary(), b"\xff", b"up"),
    _typed(pa.bool_(), True, False, None),
    _typed(pa.int8(), 1, -1, None),
    _typed(pa.uint64(), 2**64 - 1, 0),
    _typed(pa.int64(), 2**62, 1, None),
    _typed(pa.float16(), 0.5, 1.0),
    _typed(pa.decimal128(38, 2), Decimal("1.25"), Decimal(10) ** 30),
    _typed(pa.date32(), 2**31 - 1, 0),
    _typed(pa.timestamp("ns", "UTC"), 2**62, 0, None),
    _typed(pa.timestamp("s"), 2**62, -(2**62)),
    _typed(pa.duration("ns"), 1, 2**62),
    _typed(pa.time64("ns"), 1, 86_399_999_999_999),
    _typed(pa.list_(pa.float64()), [], [0.5], [1.0, 2.0], None),
    _typed(pa.list_(pa.float64(), 2), [1.0, 2.0], None),
    _typed(pa.list_(pa.list_(pa.string())), [["a"]], [[]]),
    _typed(pa.struct([("a", pa.float64())]), {"a": 1.0}, None),
    _typed(pa.map_(pa.string(), pa.float64()), [("a", 1.0)]),
)


def _stream(columns: dict[str, Any], random: Random) -> bytes:
    """Columns as a stream, in one batch or several, packed or not."""
    table = pa.table(list(columns.values()), names=list(columns))
    if random.random() < 0.05:
        table = pa.table([*table.columns, pa.array([0.5] * table.num_rows)], [*columns, "flow"])
    packing = random.choice((None, None, None, "lz4", "zstd"))
    older = {"metadata_version": pa.ipc.MetadataVersion.V4} if random.random() < 0.05 else {}
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=packing, **older)
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table, max_chunksize=random.choice((None, None, 100)))
    made: bytes = sink.getvalue().to_pybytes()
    return made
