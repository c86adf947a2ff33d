"""`okspca serve` and `okspca demo --live` until the service begins."""

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import okspca.serve
from okspca.cli import app
from okspca.serve.settings import OPTIONS, Settings

TOKEN = "a-token-that-nobody-sees"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was given to the service, which does not begin."""
    found: list[Any] = []
    running, live = ModuleType("okspca.serve.running"), ModuleType("okspca.serve.demo_live")
    vars(running)["run"] = found.append
    vars(live)["run"] = lambda *given: found.append(given)
    for module in (running, live):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in [name for name in os.environ if name.startswith("OKSPCA_")]:
        monkeypatch.delenv(name)
    return found


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_settings_come_from_everywhere(
    started: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "service.toml").write_text("port = 1\nmax_models = 2\n")
    monkeypatch.setenv("OKSPCA_SERVE_MAX_MODELS", "3")
    monkeypatch.setenv("OKSPCA_SERVE_TOKEN_ADMIN", TOKEN)
    flags = ("--folder", tmp_path, "--behind-proxy", "--allowed-hosts", "a", "--allowed-hosts", "b")
    result = run("serve", "--config", tmp_path / "service.toml", *flags, "--host", "0.0.0.0")
    assert (result.exit_code, result.output) == (0, "")
    (settings,) = started
    assert isinstance(settings, Settings)
    assert (settings.port, settings.max_models, settings.folder) == (1, 3, tmp_path)
    assert (settings.behind_proxy, settings.allowed_hosts) == (True, ("a", "b"))
    assert settings.tokens.admin == (TOKEN,)


def test_every_setting_has_a_flag_and_no_token_has_one(started: list[Any]) -> None:
    told = run("serve", "--help").output
    assert all(f"--{name.replace('_', '-')}" in told for name in OPTIONS)
    assert "--token" not in told
    assert run("serve").exit_code == 0
    assert started == [Settings()]


def test_what_is_wrong_is_one_sentence(started: list[Any], tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("prot = 1\n")
    for arguments, problem in (
        (("--host", "0.0.0.0"), "lets other machines in, but there is no token"),
        (("--config", tmp_path / "wrong.toml"), "there is no key prot; did you mean port?"),
        (("--config", tmp_path / "none.toml"), "cannot be read"),
        (("--port", 70_000), "--port is 70000, but it must be from 0 to 65535."),
        (("--log-level", "loud"), "--log-level is 'loud', but it must be one of"),
    ):
        result = run("serve", *arguments)
        assert result.exit_code == 1
        assert problem in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert started == []


@pytest.mark.parametrize("arguments", [("serve",), ("demo", "--live")])
def test_without_the_extra_it_says_how_to_get_it(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("running", "demo_live"):
        (tmp_path / f"{name}.py").write_text("import uvicorn\n")
        monkeypatch.delitem(sys.modules, f"okspca.serve.{name}", raising=False)
    monkeypatch.setattr(okspca.serve, "__path__", [str(tmp_path)])
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.output == (
        "The service needs uvicorn, which is not there: pip install 'okspca[serve]'\n"
    )


def test_what_is_wrong_in_the_service_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "running.py").write_text("import okspca.nonesuch\n")
    monkeypatch.delitem(sys.modules, "okspca.serve.running", raising=False)
    monkeypatch.setattr(okspca.serve, "__path__", [str(tmp_path)])
    assert isinstance(run("serve").exception, ModuleNotFoundError)


def test_the_demo_is_live_on_demand(
    started: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--live", "--port", "0", "--seed", "3").exit_code == 0
    assert run("demo", "--out", "none/picture.png", "--live").exit_code == 0  # it draws none
    assert started == [(0, 3), (8787, 0)]
