"""Commands of other distributions: listed and run where they are there, explained where not."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner, Result

from okspca.cli import app, extensions

SEVERAL = typer.Typer()


def greet(name: str) -> None:
    """Say hello."""
    typer.echo(f"hello {name}")


@SEVERAL.command()
def first() -> None:
    """Come first."""
    typer.echo("first")


@SEVERAL.command()
def second() -> None:
    """Come second."""


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def install(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    found = {name: EntryPoint(name, value, extensions.GROUP) for name, value in values.items()}
    monkeypatch.setattr(extensions, "installed", lambda: found)


def test_functions_and_applications_become_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, greet=f"{__name__}:greet", several=f"{__name__}:SEVERAL")
    listed = run("--help").output
    assert "Say hello." in listed
    assert "several" in listed
    assert run("greet", "you").output == "hello you\n"
    assert run("several", "first").output == "first\n"
    assert run("greet").exit_code == 2


def test_an_own_command_cannot_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, fit=f"{__name__}:greet")
    assert "Learn from" in run("fit", "--help").output
    assert run("--help").output.count("\n  fit ") == 1


@pytest.mark.parametrize("words", [["bench"], ["bench", "--help"], ["reproduce", "services", "-q"]])
def test_without_the_laboratory_its_commands_say_how_to_get_it(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch)
    result = run(*words)
    assert result.exit_code == 1
    assert result.output == (
        f"`okspca {words[0]}` belongs to the laboratory of okspca: pip install okspca-lab\n"
    )
    assert words[0] not in run("--help").output
    assert run("nonesuch").exit_code == 2


def test_a_broken_command_breaks_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, bench="okspca_nonesuch:command")
    assert run("--help").exit_code == 0
    assert run("fit", "--help").exit_code == 0
    result = run("bench", "--quick")
    assert result.exit_code == 1
    assert result.output == (
        "`okspca bench` (okspca_nonesuch:command) cannot be loaded: "
        "No module named 'okspca_nonesuch'\n"
    )


def test_what_is_not_typed_is_not_loaded() -> None:
    code = (
        "import sys; from okspca.cli import app\n"
        "try: app(['fit', '--help'])\n"
        "except SystemExit: assert not any(name.startswith('okspca_lab') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
