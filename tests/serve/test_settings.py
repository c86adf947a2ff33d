"""What a service is told, from where, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest

from okspca.serve.settings import (
    DEFAULTS,
    OPTIONS,
    ModelSettings,
    Settings,
    SettingsError,
    Tokens,
    check_exposure,
)
from okspca.serve.told import read_settings

SECRET, OTHER = "0123456789abcdef", "fedcba9876543210"


def written(folder: Path, text: str) -> Path:
    path = folder / "service.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_word_everything_has_its_default() -> None:
    assert read_settings() == Settings()
    assert not Settings().tokens
    assert set(DEFAULTS) == set(OPTIONS)


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    config = written(tmp_path, "port = 1\nmax_models = 2\nmax_columns = 3\nlog_level = 'error'\n")
    environment = {"OKSPCA_SERVE_PORT": "11", "OKSPCA_SERVE_MAX_MODELS": "12", "PATH": "/bin"}
    found = read_settings(config, environment, {"port": 21, "max_rows_per_request": None})
    assert (found.port, found.max_models, found.max_columns) == (21, 12, 3)
    assert (found.log_level, found.max_rows_per_request) == ("error", 100_000)
    named = {"OKSPCA_SERVE_CONFIG": str(config)}
    assert read_settings(None, named).port == 1


def test_every_kind_of_value_can_be_told_everywhere(tmp_path: Path) -> None:
    config = written(
        tmp_path,
        "folder = 'state'\nkeep_segments = '/old'\nbehind_proxy = true\n"
        "allowed_hosts = ['a.example', 'b.example']\ncheckpoint_seconds = 5\n",
    )
    found = read_settings(config)
    assert found.folder == tmp_path / "state"
    assert found.keep_segments == Path("/old")
    assert found.behind_proxy is True
    assert found.allowed_hosts == ("a.example", "b.example")
    assert found.checkpoint_seconds == 5
    environment = {
        "OKSPCA_SERVE_FOLDER": "state",
        "OKSPCA_SERVE_BEHIND_PROXY": "no",
        "OKSPCA_SERVE_ALLOWED_HOSTS": "a.example, b.example",
        "OKSPCA_SERVE_PENDING_SECONDS": "2.5",
    }
    found = read_settings(None, environment)
    assert (found.folder, found.behind_proxy) == (Path("state"), False)
    assert found.allowed_hosts == ("a.example", "b.example")
    assert found.pending_seconds == 2.5


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("port = 70000", "port is 70000, but it must be from 0 to 65535."),
        ("port = '80'", "port is '80', but it must be a whole number."),
        ("port = true", "port is True, but it must be a whole number."),
        ("max_models = 0", "max_models is 0, but it must be 1 or more."),
        ("checkpoint_seconds = -1", "but it must be 0 or more."),
        ("checkpoint_seconds = nan", "but it must be 0 or more."),
        ("behind_proxy = 1", "behind_proxy is 1, but it must be true or false."),
        ("log_level = 'loud'", "but it must be one of debug, info, warning, error."),
        ("host = ''", "host is '', but it must be a name or an address of a machine"),
        ("host = 'http://a/'", "without port or path."),
        ("allowed_hosts = 'a'", "allowed_hosts is 'a', but it must be a list of texts."),
        ("allowed_hosts = [1]", "but it must be a name or an address"),
        ("folder = ''", "folder is '', but it must be the name of a file or a folder."),
        ("folder = 3", "folder is 3, but it must be the name"),
        ("prot = 80", "there is no key prot; did you mean port?"),
        ("[token]\nask = 'a'", "there is no section token; did you mean tokens?"),
        ("xyzzyx = 80", "there is no key xyzzyx; known are allowed_hosts, "),
        ("port = = 80", "is not TOML: Invalid value (at line 1, column 8)."),
        ("tls_key = 'none.pem'", "tls_certificate is missing"),
        ("tls_key = 'a'\ntls_certificate = 'b'", "b, where there is no file."),
        ("segment_bytes = 2_000_000_000", "max_journal_bytes is 1073741824, less than segment"),
        ("max_body_bytes = 200_000_000", "max_waiting_bytes is 134217728, less than max_body"),
        ("tokens = 'a'", "tokens must be a section with the keys ask, learn, admin"),
        ("[tokens]\nasking = 'a'", "tokens: there is no key asking; did you mean"),
        ("[tokens]\nask = 5", "tokens.ask must be a text or a list of texts."),
        ("[tokens]\nask = [5]", "tokens.ask: A token of the role ask may hold letters"),
        ("[tokens]\nask_file = 5", "tokens.ask_file is 5, but it must be the name of a file."),
        ("[tokens]\nask_file = 'none'", "which cannot be read: No such file or directory."),
        ("[tokens]\nask_file = 'empty'", "holds no token"),
        ("[tokens]\nask = 'a'\nask_file = 'none'", "tokens.ask and ask_file are both given"),
        ("models = 3", "models must be a section, such as [models.plant]."),
        ("[models]\nplant = 3", "models.plant must be a section"),
        ("[models.plant]\ntarget = 'y'", "models.plant.kind is missing; say classifier"),
        ("[models.plant]\nkind = 'forest'", "models.plant: kind='forest' is none of"),
        ("[models.plant]\nkind = 3", "models.plant.kind is 3, but it must be a text."),
        ("[models.plant]\nkind = 'reducer'\ncolumns = ['a', 3]", "must be a list of texts."),
        ("[models.plant]\nkind = 'reducer'\ncolumns = ['a', 'a']", "must be named, each once"),
        ("[models.plant]\nkind = 'reducer'\ncolumns = ['y']", "is one of the columns too"),
        ("[models.plant]\nkind = 'reducer'\nclass = 'a'", "models.plant: there is no key class"),
        ("[models.'a/b']\nkind = 'reducer'", "models.a/b: a name has 1 to 64 letters"),
        ("max_models = 1\n[models]\na.kind = 'reducer'\nb.kind = 'reducer'", "max_models is 1"),
        ("max_columns = 1\nmodels.a = {kind='reducer', columns=['a', 'b']}", "max_columns is 1."),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# none yet\n\n")
    config = written(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        read_settings(config)
    assert complaint in str(caught.value)
    assert str(caught.value).startswith(str(config))
    assert len(str(caught.value).splitlines()) == 1


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        read_settings(tmp_path / "none.toml")
    (tmp_path / "old.toml").write_bytes("log_level = 'ä'".encode("latin-1"))
    with pytest.raises(SettingsError, match="not written in UTF-8"):
        read_settings(tmp_path / "old.toml")
    (tmp_path / "long.toml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(SettingsError, match="too long"):
        read_settings(tmp_path / "long.toml")


@pytest.mark.parametrize(
    ("variable", "text", "complaint"),
    [
        ("PORT", "many", "OKSPCA_SERVE_PORT is 'many', but it must be a whole number."),
        ("BEHIND_PROXY", "maybe", "OKSPCA_SERVE_BEHIND_PROXY is 'maybe', but it must be true"),
        ("PROT", "80", "there is no variable OKSPCA_SERVE_PROT; did you mean OKSPCA_SERVE_PORT"),
        ("TOKEN_ASK", "short", "OKSPCA_SERVE_TOKEN_ASK: A token of the role ask has 5 signs"),
        ("TOKEN_ASK_FILE", "/none", "OKSPCA_SERVE_TOKEN_ASK_FILE is /none, which cannot be read"),
    ],
)
def test_what_is_wrong_in_the_environment_is_named(
    variable: str, text: str, complaint: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(None, {f"OKSPCA_SERVE_{variable}": text})
    assert complaint in str(caught.value)


def test_a_wrong_flag_is_named() -> None:
    with pytest.raises(SettingsError, match="--max-models is 0, but it must be 1 or more"):
        read_settings(flags={"max_models": 0})


def test_tokens_come_from_the_file_files_and_the_environment(tmp_path: Path) -> None:
    (tmp_path / "admin").write_text(f"# of March\n{SECRET}\n\n  {OTHER}\n")
    config = written(
        tmp_path, "[tokens]\nask = 'ask-0123456789abc'\nlearn = []\nadmin_file = 'admin'\n"
    )
    found = read_settings(config).tokens
    assert found == Tokens(("ask-0123456789abc",), (), (SECRET, OTHER))
    environment = {
        "OKSPCA_SERVE_TOKEN_ASK": "ask-of-the-environment, another-of-the-same",
        "OKSPCA_SERVE_TOKEN_LEARN_FILE": str(tmp_path / "admin"),
        "OKSPCA_SERVE_TOKEN_ADMIN": "",
    }
    found = read_settings(config, environment).tokens
    assert found.ask == ("ask-of-the-environment", "another-of-the-same")
    assert (found.learn, found.admin) == ((SECRET, OTHER), ())
    both = {"OKSPCA_SERVE_TOKEN_ASK": SECRET, "OKSPCA_SERVE_TOKEN_ASK_FILE": "x"}
    with pytest.raises(SettingsError, match="are both given"):
        read_settings(None, both)


@pytest.mark.parametrize("token", ["0123456789abcde", "ä" * 20, "with a space in it", "a\nb" * 9])
def test_weak_tokens_are_refused_unseen(token: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Tokens(learn=(token,))
    assert "role learn" in str(caught.value)
    assert token not in str(caught.value)


def test_tokens_are_not_shown_and_have_one_role() -> None:
    secrets = [f"{SECRET}-{role}" for role in ("ask", "learn", "admin")]
    settings = Settings(tokens=Tokens(*((secret,) for secret in secrets)))
    assert not any(secret in repr(settings) for secret in secrets)
    with pytest.raises(SettingsError, match="the roles ask and admin"):
        Tokens(ask=(SECRET,), admin=(SECRET,))


def test_models_are_read(tmp_path: Path) -> None:
    config = written(
        tmp_path,
        "[models.plant]\nkind = 'regressor'\nsettings = {random_state = 0}\n"
        "columns = ['a', 'b']\ntarget = 'z'\nmonitor = true\n[models.b]\nkind = 'classifier'\n",
    )
    plant, other = read_settings(config).models
    assert plant == ModelSettings(
        "plant", "regressor", {"random_state": 0}, ("a", "b"), "z", monitor=True
    )
    assert other == ModelSettings("b", "classifier")


OPEN_HOSTS = [
    "0.0.0.0",
    "::",
    "192.168.0.7",
    "fe80::1%eth0",
    "2001:db8::1",
    "plant.example",
    "127.1",
]
LOCAL_HOSTS = ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "::ffff:127.0.0.1", "localhost"]


def told(tmp_path: Path, *what: str) -> dict[str, Any]:
    file = tmp_path / "file.pem"
    file.touch()
    known: dict[str, dict[str, Any]] = {
        "token": {"tokens": Tokens(learn=(SECRET,))},
        "tls": {"tls_certificate": file, "tls_key": file},
        "proxy": {"behind_proxy": True},
    }
    return {key: value for name in what for key, value in known[name].items()}


@pytest.mark.parametrize("host", OPEN_HOSTS)
def test_others_are_let_in_with_tokens_and_tls_only(host: str, tmp_path: Path) -> None:
    for what, complaint in (
        ((), "there is no token"),
        (("tls",), "there is no token"),
        (("proxy",), "there is no token"),
        (("token",), "could be overheard"),
    ):
        with pytest.raises(SettingsError, match=complaint) as caught:
            check_exposure(Settings(host=host, **told(tmp_path, *what)))
        assert f"host={host}" in str(caught.value)
    check_exposure(Settings(host=host, **told(tmp_path, "token", "tls")))
    check_exposure(Settings(host=host, **told(tmp_path, "token", "proxy")))


@pytest.mark.parametrize("host", LOCAL_HOSTS)
def test_this_machine_needs_neither_but_a_proxy_needs_tokens(host: str, tmp_path: Path) -> None:
    check_exposure(Settings(host=host))
    with pytest.raises(SettingsError, match="behind_proxy lets other machines in"):
        check_exposure(Settings(host=host, **told(tmp_path, "proxy")))
    check_exposure(Settings(host=host, **told(tmp_path, "token", "proxy")))
