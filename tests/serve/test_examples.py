"""The examples of how a service is run name settings that are there."""

import re
import shlex
from pathlib import Path

import pytest

from okspca.serve.settings import check_exposure
from okspca.serve.told import PREFIX, read_settings

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "serve"
ROLES = ("ask", "learn", "admin")


def with_tokens(folder: Path) -> Path:
    """A folder of tokens, one file a role."""
    folder.mkdir()
    for role in ROLES:
        (folder / role).write_text(f"a-token-that-is-secret-{role}\n")
    return folder


def test_the_configuration_is_one(tmp_path: Path) -> None:
    with_tokens(tmp_path / "tokens")
    config = tmp_path / "service.toml"
    config.write_bytes((EXAMPLES / "service.toml").read_bytes())
    settings = read_settings(config)
    check_exposure(settings)
    assert [model.name for model in settings.models] == ["plant", "defects"]
    assert settings.tokens.learn == ("a-token-that-is-secret-learn",)


def test_the_unit_gives_its_service_what_it_needs(tmp_path: Path) -> None:
    unit = (EXAMPLES / "okspca.service").read_text()
    lines = [line.partition("=")[::2] for line in unit.splitlines() if "=" in line]
    tokens = with_tokens(tmp_path / "credentials")
    said = [value.partition("=")[::2] for name, value in lines if name == "Environment"]
    environment = {name: value.replace("%d", str(tokens)) for name, value in said}
    config = tmp_path / "service.toml"  # beside it are no tokens that the service could read
    config.write_bytes((EXAMPLES / "service.toml").read_bytes())
    settings = read_settings(config, environment)
    check_exposure(settings)
    assert settings.tokens.admin == ("a-token-that-is-secret-admin",)
    credentials = [value.partition(":")[0] for name, value in lines if name == "LoadCredential"]
    assert credentials == list(ROLES)
    known = dict(lines)
    assert settings.folder == Path("/var/lib") / known["StateDirectory"]
    assert shlex.split(known["ExecStart"])[1:3] == ["serve", "--config"]
    for name in ("DynamicUser", "NoNewPrivileges", "PrivateTmp"):
        assert known[name] == "yes"
    assert known["ProtectSystem"] == "strict"


def test_the_container_is_let_out_only_with_a_token(tmp_path: Path) -> None:
    text = (EXAMPLES / "Dockerfile").read_text()
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    environment = dict(re.findall(rf"({PREFIX}\w+)=(\S+)", code))
    with pytest.raises(ValueError, match="there is no token"):
        check_exposure(read_settings(None, environment))
    environment["OKSPCA_SERVE_TOKEN_ADMIN_FILE"] = str(with_tokens(tmp_path / "tokens") / "admin")
    settings = read_settings(None, environment)
    check_exposure(settings)
    assert f"EXPOSE {settings.port}" in code
    assert f"http://127.0.0.1:{settings.port}/healthz" in code
    assert f"VOLUME {settings.folder}" in code
    assert "USER okspca" in code
