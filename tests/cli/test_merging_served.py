"""`okspca merge` takes models of a service beside files, as strictly as those."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from okspca import OKSPCA, OKSPCAClassifier
from okspca.cli import app
from okspca.state.container import MAX_FILE, header_length
from tests.client import stand_in

TOKEN = "a-token-that-nobody-sees"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[stand_in.StandIn]:
    monkeypatch.setattr("okspca.client.sending.FIRST", 1e-4)
    monkeypatch.delenv("OKSPCA_TOKEN", raising=False)
    with stand_in.running() as found:
        yield found


def part(seed: int) -> OKSPCA:
    X = np.random.RandomState(seed).normal(size=(40, 2))
    return OKSPCA(1, n_random_features=8, random_state=0).fit(X, X[:, 0] ** 2)


def serve(server: stand_in.StandIn, name: str, data: bytes, status: int = 200) -> str:
    server.answers[f"/models/{name}/state"] = (status, "application/octet-stream", data)
    return f"{server.url}/models/{name}"


def merge(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["merge", *map(str, arguments)])


def test_served_models_and_files_are_merged(server: stand_in.StandIn, tmp_path: Path) -> None:
    one, two, three = (part(seed) for seed in range(3))
    two.save(tmp_path / "two")
    first, last = serve(server, "one", one.to_bytes()), serve(server, "three", three.to_bytes())
    result = merge(first, tmp_path / "two", f"{last}/state", "--out", tmp_path / "all")
    assert result.output == f"3 models of 120 rows are merged in {tmp_path / 'all'}\n"
    merged = one.merge(two).merge(three)
    assert OKSPCA.load(tmp_path / "all").to_bytes() == merged.to_bytes()


def test_heads_are_merged_too(server: stand_in.StandIn, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"n_random_features": 8, "random_state": 0, "frequencies": "drawn"}
    heads = [
        OKSPCAClassifier(1, **settings).fit([[1.0 + i], [2.0], [4.0]], ["a", "b", "b"])
        for i in range(2)
    ]
    heads[1].save(tmp_path / "two")
    address = serve(server, "one", heads[0].to_bytes())
    result = merge(address, tmp_path / "two", "--out", tmp_path / "both")
    assert result.exit_code == 0, result.output
    assert OKSPCAClassifier.load(tmp_path / "both").n_samples_seen_ == 6


def test_the_token_comes_from_the_environment_or_a_file(
    server: stand_in.StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = [serve(server, f"m{seed}", part(seed).to_bytes()) for seed in range(2)]
    assert merge(*addresses, "--out", tmp_path / "m").exit_code == 0
    assert "Authorization" not in server.seen[-1]["headers"]
    monkeypatch.setenv("OKSPCA_TOKEN", TOKEN)
    assert merge(*addresses, "--out", tmp_path / "m").exit_code == 0
    assert server.seen[-1]["headers"]["Authorization"] == f"Bearer {TOKEN}"
    (tmp_path / "token").write_text("of-the-file-1234567\n")
    more = ("--token-file", tmp_path / "token")
    assert merge(*addresses, "--out", tmp_path / "m", *more).exit_code == 0
    assert server.seen[-1]["headers"]["Authorization"] == "Bearer of-the-file-1234567"


def test_what_cannot_be_fetched_is_one_sentence(
    server: stand_in.StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = part(0).to_bytes()
    changed = bytearray(whole)
    changed[-1] ^= 1
    (tmp_path / "empty").write_text("\n")
    monkeypatch.setattr("okspca.client.fetching.RETRIES", 0)
    good, bad = serve(server, "good", whole), serve(server, "page", b"<html>" * 9)
    missing = serve(server, "missing", b'{"error": "There is no model missing."}', 404)
    for arguments, problem in (
        ((good, bad), "page cannot be loaded: it is not a model"),
        ((good, missing), "missing cannot be fetched: There is no model missing."),
        ((good, serve(server, "changed", bytes(changed))), "does not match its checksum"),
        ((good, serve(server, "who", b"{}", 401)), "role 'admin'; give one by the environment's"),
        ((good, serve(server, "no", b"{}", 403)), "OKSPCA_TOKEN, or by --token-file."),
        ((good, serve(server, "away", b"", 302)), "which is not followed"),
        ((good, "http://127.0.0.1:1/models/m"), "cannot be reached"),
        ((good, f"{server.url}/modles/m"), "is no address of a model"),
        ((good, "http://me:secret@host/models/m"), "give a token instead"),
        ((good, good, "--token-file", tmp_path / "none"), "No such file"),
        ((good, good, "--token-file", tmp_path / "empty"), "holds no token"),
        ((good, good), "rows in common"),
    ):
        result = merge(*arguments, "--out", tmp_path / "m")
        assert result.exit_code == 1
        assert problem in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "m").exists()


def test_what_is_too_large_is_not_read(server: stand_in.StandIn, tmp_path: Path) -> None:
    """A length that lies, and a file that goes on and on, which ends at the limit."""
    data = part(0).to_bytes()
    good, most = serve(server, "good", data), header_length(data) + 100
    server.claims = MAX_FILE
    result = merge(good, good, "--out", tmp_path / "m")
    assert "is too large: more than" in result.stderr
    server.claims = None
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("okspca.state.container.MAX_FILE", most)
        patched.setattr("okspca.client.connections.PIECE", 1 << 10)
        server.chunked = True
        result = merge(good, good, "--out", tmp_path / "m")
    assert f"is too large: more than {most} bytes" in result.stderr


def test_a_service_that_stalls_is_told(
    server: stand_in.StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("okspca.client.fetching.fetch_model.__defaults__", (None, 0.1))
    good = serve(server, "good", part(0).to_bytes())
    server.claims = 10
    result = merge(good, good, "--out", tmp_path / "m")
    assert "did not answer within 0.1 s" in result.stderr
