"""The limits that keep the house as it is: sizes, and no way round a private name.

Ruff's SLF001 refuses ``model._learned``; here the ways around it are refused too.
"""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from types import FunctionType

import pytest

from okspca.pipeline import Pipeline

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "src" / "okspca"
LABORATORY = ROOT / "lab" / "src" / "okspca_lab"
SOURCES = sorted(LIBRARY.rglob("*.py"))
ALL_SOURCES = [*SOURCES, *sorted(LABORATORY.rglob("*.py"))]
MOST_ROOT_MODULES, MOST_LINES = 6, 400
PIPELINE_LINES, PIPELINE_METHODS = 250, 15
MEDIAN_BODY, NINE_OF_TEN, LONGEST_BODY = 5, 16, 45
BY_NAME = ("getattr", "setattr", "hasattr", "delattr", "__setattr__", "__getattribute__")
#: The public interface of named tuples.
OF_NAMED_TUPLES = ("_asdict", "_fields", "_make", "_replace")
IN_DICT = ("get", "pop", "setdefault", "update", "__getitem__", "__setitem__")


def is_private(name: object) -> bool:
    """Whether a name is meant for its own class or module only."""
    if not isinstance(name, str) or name in OF_NAMED_TUPLES:
        return False
    return name.startswith("_") and not name.endswith("__")


def called(node: ast.Call) -> str:
    """Name of the function or method that is called."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def is_dict_of_another(node: ast.expr) -> bool:
    """Whether an expression is the dictionary of attributes of something other than self."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        owner: ast.expr | None = node.value
    elif isinstance(node, ast.Call) and called(node) == "vars" and node.args:
        owner = node.args[0]
    else:
        return False
    return not (isinstance(owner, ast.Name) and owner.id == "self")


def names_in(call: ast.Call) -> Iterator[object]:
    """Texts and keywords among the arguments of a call."""
    for part in call.args:
        if isinstance(part, ast.Constant):
            yield part.value
    yield from (keyword.arg for keyword in call.keywords)


def detours(source: str) -> list[int]:
    """Lines that reach a private name by its text, through a dictionary, or by an import."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.expr | ast.stmt):
            continue
        names: list[object] = []
        if isinstance(node, ast.Call) and called(node) in BY_NAME:
            names = list(names_in(node))
        elif isinstance(node, ast.Call) and called(node) in IN_DICT:
            assert isinstance(node.func, ast.Attribute | ast.Name)
            owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            names = list(names_in(node)) if is_dict_of_another(owner) else []
        elif isinstance(node, ast.Subscript) and is_dict_of_another(node.value):
            names = [node.slice.value] if isinstance(node.slice, ast.Constant) else []
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
        if any(map(is_private, names)):
            found.append(node.lineno)
    return found


def bodies(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of code of every function, without docstring, blank lines and comments."""
    text = path.read_text()
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            first = body[0].lineno if body else 1
            last = node.end_lineno or 0 if body else 0
            code = [line.strip() for line in lines[first - 1 : last]]
            n = sum(bool(line) and not line.startswith("#") for line in code)
            yield n, f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"


def methods(kind: type) -> set[str]:
    """Names of all methods and properties of a class, inherited ones included."""
    wanted = (FunctionType, property, classmethod, staticmethod)
    own = [base for base in kind.__mro__ if base.__module__ not in ("builtins", "typing", "abc")]
    return {name for base in own for name, part in vars(base).items() if isinstance(part, wanted)}


@pytest.mark.parametrize("path", ALL_SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_detour_leads_to_a_private_name(path: Path) -> None:
    assert detours(path.read_text()) == []


@pytest.mark.parametrize(
    "line",
    [
        'getattr(model, "_learned", None)',
        'setattr(model, "_learned", 1)',
        'hasattr(kernel, "_cache")',
        'object.__setattr__(model, "_learned", 1)',
        'model.__dict__["_learned"]',
        'vars(model)["_learned"] = 1',
        'vars(model).get("_learned")',
        'model.__dict__.pop("_learned", None)',
        "pipeline.__dict__.update(rows=0, _lane=None)",
        "from okspca.estimators.okspca import _sorted",
    ],
)
def test_a_planted_detour_is_found(line: str) -> None:
    assert detours(f"x = 1\n{line}\n") == [2]


def test_what_is_allowed_is_not_refused() -> None:
    own = 'getattr(model, "n_components")\nself.__dict__.update(_views=1)\nvars(model)["rows"]\n'
    assert detours(own + "from okspca import __version__\n") == []


def test_the_hallway_is_almost_empty() -> None:
    assert len(list(LIBRARY.glob("*.py"))) <= MOST_ROOT_MODULES


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_short_enough_to_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


def test_functions_are_short() -> None:
    found = sorted(body for path in SOURCES for body in bodies(path))
    lengths = [n for n, _ in found]
    assert median(lengths) <= MEDIAN_BODY
    assert quantiles(lengths, n=10)[-1] <= NINE_OF_TEN
    assert [body for body in found if body[0] > LONGEST_BODY] == []


def test_the_pipeline_does_one_thing() -> None:
    lines = Path(inspect.getfile(Pipeline)).read_text().splitlines()
    assert len(lines) <= PIPELINE_LINES
    assert len(methods(Pipeline)) <= PIPELINE_METHODS


def test_inherited_methods_count() -> None:
    class Base:
        def one(self) -> None: ...

        @property
        def two(self) -> int:
            return 2

    class Derived(Base):
        def one(self) -> None: ...

        def three(self) -> None: ...

    assert methods(Derived) == {"one", "two", "three"}


def test_the_lines_of_a_body_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_house.ROOT", tmp_path)
    path = tmp_path / "one.py"
    lines = ("def f(", "  x,", "):", '  """Say."""', "  # why", "", "  y = (", "    x", "  )")
    path.write_text("\n".join(lines))
    assert list(bodies(path)) == [(3, "one.py:1 f")]
