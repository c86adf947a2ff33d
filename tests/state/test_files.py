"""Files are whole or absent, the previous one is kept, and wrong ones are named in one sentence."""

import os
import resource
import shutil
import stat
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, StateError, outputs
from okspca.features import FeatureMap
from okspca.numerics.arrays import Floats
from okspca.services import Exact
from okspca.state.files import previous, read, write

IS_ROOT = os.geteuid() == 0
#: How the file of a model begins.
MODEL = OKSPCA().to_bytes()[:100]


@pytest.fixture
def model() -> OKSPCA:
    X = RandomState(0).normal(size=(30, 2))
    return OKSPCA(1, n_random_features=8, random_state=0).partial_fit(X, X[:, 0])


def test_what_is_saved_is_loaded_and_the_previous_file_is_kept(
    model: OKSPCA, tmp_path: Path
) -> None:
    path = tmp_path / "model.okspca"
    model.save(path)
    first = path.read_bytes()
    model.partial_fit(np.ones((1, 2)), np.ones(1))
    model.save(str(path))
    assert OKSPCA.load(path).n_samples_seen_ == 31
    assert previous(path).read_bytes() == first
    assert OKSPCA.load(previous(path)).n_samples_seen_ == 30
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.okspca", "model.okspca.previous"]


@pytest.mark.parametrize("fails", ["fsync", "link", "replace", "chmod"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(
    model: OKSPCA,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fails: str,
    error: BaseException,
) -> None:
    path = tmp_path / "model.okspca"
    model.save(path)
    before = path.read_bytes()

    def interrupt(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(os, fails, interrupt)
    if fails == "link":  # then a copy is taken instead, which must fail too
        monkeypatch.setattr(shutil, "copyfileobj", interrupt)
    with pytest.raises((StateError, KeyboardInterrupt)):
        model.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_a_file_system_without_links_keeps_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "file"
    write(path, MODEL + b"one")
    write(path, MODEL + b"two")
    assert (path.read_bytes(), previous(path).read_bytes()) == (MODEL + b"two", MODEL + b"one")


def test_threads_may_save_to_one_path(model: OKSPCA, tmp_path: Path) -> None:
    path, failures = tmp_path / "model.okspca", []

    def save_often() -> None:
        try:
            for _ in range(60):
                model.save(path)
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=save_often) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert path.read_bytes() == previous(path).read_bytes() == model.to_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.okspca", "model.okspca.previous"]


def test_nobody_can_foresee_the_name_of_a_part(
    model: OKSPCA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links under the names of earlier writes, or of this process, lead nowhere."""

    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    folder, victim = tmp_path / "shared", tmp_path / "victim"
    folder.mkdir()
    victim.write_text("mine")
    path, met = folder / "model.okspca", set()
    model.save(path)
    real = os.replace

    def note(source: str | Path, target: str | Path) -> None:
        met.add(Path(source).name)
        for name in met:  # what somebody who watches could do before the next write
            if not (folder / name).exists():
                (folder / name).symlink_to(victim)
        real(source, target)

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(os, "replace", note)
    for _ in range(3):
        model.save(path)
    assert len(met) == 6
    assert not any(str(os.getpid()) in name for name in met)
    assert victim.read_text() == "mine"


def test_something_else_is_replaced_only_where_that_is_said(model: OKSPCA, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(StateError, match="something else than a model; pass overwrite=True"):
        model.save(path)
    assert path.read_text() == "a,b\n1,2\n"
    model.save(path, overwrite=True)
    assert OKSPCA.load(path).n_samples_seen_ == 30
    assert not previous(path).exists()
    path.write_bytes(path.read_bytes()[:200])
    model.save(path)  # a damaged model is a model


def test_a_link_that_was_left_is_removed_later(
    model: OKSPCA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.okspca"
    model.save(path)
    os.utime(path, (0.0, 0.0))
    os.link(path, tmp_path / ".model.okspca.0123.kept")
    model.save(path)
    assert (tmp_path / ".model.okspca.0123.kept").exists()  # made just now, of an old file
    monkeypatch.setattr(outputs, "ABANDONED", -1.0)
    model.save(path)
    assert not list(tmp_path.glob(".*"))


def test_a_full_disk_is_reported_and_the_old_model_stays(model: OKSPCA, tmp_path: Path) -> None:
    path = tmp_path / "model.okspca"
    model.save(path)
    before = path.read_bytes()
    signal = pytest.importorskip("signal")
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, hard))
    try:
        with pytest.raises(StateError, match="cannot be written: File too large"):
            model.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert [p.name for p in tmp_path.iterdir()] == ["model.okspca"]
    assert path.read_bytes() == before


def test_permissions_and_links_stay_as_they_are(model: OKSPCA, tmp_path: Path) -> None:
    path, link = tmp_path / "model.okspca", tmp_path / "link.okspca"
    model.save(path)
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    path.chmod(0o640)
    link.symlink_to(path)
    model.save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not a model saved by okspca"),
        (b"a,b\n1,2\n" * 10, "not a model saved by okspca"),
        (b"\x80\x04\x95pickle", "not a model saved by okspca"),
        ((1 << 40).to_bytes(8, "little") + b"{}", "header claims 1099511627776 bytes"),
        ((2).to_bytes(8, "little") + b"{}", "not a model saved by okspca"),
        ((4).to_bytes(8, "little") + b"{,,}", "not valid JSON"),
        ((64).to_bytes(8, "little") + b"{" + b"[" * 63, "not valid JSON"),
    ],
)
def test_other_files_are_refused_in_one_sentence(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(StateError, match=problem) as caught:
        OKSPCA.load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message


def test_deeply_nested_json_is_refused(tmp_path: Path) -> None:
    nested = b'{"__metadata__":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    path = tmp_path / "deep"
    path.write_bytes(len(nested).to_bytes(8, "little") + nested)
    with pytest.raises(StateError, match="not valid JSON"):
        OKSPCA.load(path)


def test_places_that_cannot_be_used_are_refused(model: OKSPCA, tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"absent cannot be read: No such file or directory\.$"):
        OKSPCA.load(tmp_path / "absent")
    with pytest.raises(StateError, match="cannot be read: Is a directory"):
        OKSPCA.load(tmp_path)
    with pytest.raises(StateError, match="cannot be written: No such file or directory"):
        model.save(tmp_path / "no" / "folder")
    with pytest.raises(StateError, match="cannot be written: Is a directory"):
        model.save(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StateError, match="not a regular file"):
        OKSPCA.load(tmp_path / "pipe")
    with pytest.raises(StateError, match="not a regular file"):
        model.save(tmp_path / "pipe", overwrite=True)
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)
    with pytest.raises(StateError, match="not a regular file"):
        OKSPCA.load("/dev/zero")


@pytest.mark.skipif(IS_ROOT, reason="root may write everywhere")
def test_a_folder_without_permission_is_reported(model: OKSPCA, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StateError, match="cannot be written: Permission denied"):
        model.save(tmp_path / "model.okspca")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.write((2).to_bytes(8, "little") + b"{}")
        file.truncate(5 << 30)
    with pytest.raises(StateError, match="more than the 4294967296 that a model may have"):
        read(path)


class OwnService(Exact):
    """A service that only its author knows."""


class OwnMap(FeatureMap):
    """A map that only its author knows."""

    n_inputs, n_features = 2, 2

    def transform(self, Z: Floats) -> Floats:
        return Z

    def equals(self, other: FeatureMap) -> bool:
        return isinstance(other, OwnMap)


@pytest.mark.parametrize("own", [{"solver": OwnService()}, {"input_map": OwnMap()}])
def test_parts_of_ones_own_are_refused_by_name(own: dict[str, object], tmp_path: Path) -> None:
    X = RandomState(0).normal(size=(30, 2))
    model = OKSPCA(1, n_random_features=8, **own).partial_fit(X, X[:, 0])  # type: ignore[arg-type]
    with pytest.raises(StateError, match=r"Own\w+ is not a built-in part"):
        model.save(tmp_path / "model.okspca")
    assert not list(tmp_path.iterdir())


def test_a_generator_as_seed_is_refused(tmp_path: Path) -> None:
    model = OKSPCA(random_state=np.random.default_rng(0))  # type: ignore[arg-type]
    with pytest.raises(StateError, match="give random_state as a plain number"):
        model.save(tmp_path / "model.okspca")


def test_a_file_of_another_estimator_is_refused(model: OKSPCA, tmp_path: Path) -> None:
    class Derived(OKSPCA):
        pass

    model.save(tmp_path / "model.okspca")
    with pytest.raises(StateError, match="estimator is 'OKSPCA'"):
        Derived.load(tmp_path / "model.okspca")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_parts_that_killed_processes_left_are_removed_later(tmp_path: Path) -> None:
    path = tmp_path / "model[1].okspca"
    old, young = tmp_path / ".model[1].okspca.a.part", tmp_path / ".model[1].okspca.b.part"
    other = tmp_path / ".model1.okspca.c.part"
    for part in (old, young, other):
        part.write_bytes(b"half")
    for part in (old, other):
        os.utime(part, (0.0, 0.0))
    write(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert not old.exists()
    assert young.exists()  # someone may be writing it
    assert other.exists()  # of another file
