"""Real data: where files are looked for, what is checked, and what people are told."""

import gzip
import hashlib
import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okspca.datasets import (
    DataFileError,
    covtype,
    electricity,
    fashion_mnist,
    load_covtype,
    load_electricity,
    load_fashion_mnist,
    load_har,
    load_kin8nm,
    load_sensorless,
    sensorless,
)
from okspca.datasets.files import DataFile, find
from okspca.datasets.har import ACTIVITIES, PARTS, ROWS
from okspca.datasets.kin8nm import FILES

CONTENTS = b"1,2\n3,4\n"
SHA = hashlib.sha256(CONTENTS).hexdigest()
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    own, cache = tmp_path / "own", tmp_path / "cache"
    own.mkdir()
    monkeypatch.setenv("OKSPCA_DATA", str(own))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return own, cache / "okspca"


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = Path(os.environ.get("OKSPCA_DATA") or SHARED)
    if not folder.is_dir():
        pytest.skip(f"the real data are not in {folder}; name their folder in OKSPCA_DATA")
    monkeypatch.setenv("OKSPCA_DATA", str(folder))
    return folder


def test_the_named_folder_comes_before_the_cache(places: tuple[Path, Path]) -> None:
    own, cache = places
    file = DataFile("a.csv", SHA, "Ask.")
    cache.mkdir(parents=True)
    (cache / "a.csv").write_bytes(CONTENTS)
    assert find(file)[1] == cache / "a.csv"
    (own / "a.csv").write_bytes(CONTENTS)
    assert find(file)[1] == own / "a.csv"


def test_another_version_of_a_file_is_refused(places: tuple[Path, Path]) -> None:
    (places[0] / "a.csv").write_bytes(CONTENTS + b"5,6\n")
    with pytest.raises(DataFileError, match=f"should have {SHA}: it is damaged or another version"):
        find(DataFile("a.csv", SHA, "Ask."))


def test_a_missing_file_says_where_to_get_it_and_where_to_put_it(
    places: tuple[Path, Path],
) -> None:
    with pytest.raises(
        DataFileError, match=r"a\.csv was not found\. Ask the author\. Put it into"
    ) as e:
        find(DataFile("a.csv", SHA, "Ask the author."))
    assert str(places[0]) in str(e.value)
    assert str(places[1]) in str(e.value)


def test_a_download_is_checked_and_kept(places: tuple[Path, Path], tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("inside.csv", CONTENTS)
    file = DataFile("a.csv", SHA, "Ask.", url=archive.as_uri(), member="inside.csv")
    assert find(file)[1] == places[1] / "a.csv"
    archive.unlink()
    assert find(file)[1].read_bytes() == CONTENTS


def test_a_wrong_download_never_gets_into_the_cache(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "b.csv").write_bytes(b"something else")
    file = DataFile("a.csv", SHA, "Ask.", url=(tmp_path / "b.csv").as_uri())
    with pytest.raises(DataFileError, match=r"The download from .* failed"):
        find(file)
    assert not places[1].exists()


def test_no_network_is_used_where_it_is_forbidden(places: tuple[Path, Path]) -> None:
    assert places
    for load in (
        load_covtype,
        load_electricity,
        load_fashion_mnist,
        load_kin8nm,
        load_sensorless,
    ):
        with pytest.raises(DataFileError, match="was not found"):
            load(download=False)
    with pytest.raises(DataFileError, match="UCI HAR Dataset"):
        load_har()


def test_both_forms_of_a_table_are_read(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [[*np.arange(48) * 0.5, 3], [*np.arange(48) - 7.0, 11]]
    plain = "\n".join(" ".join(str(v) for v in row) for row in rows).encode()
    lines = [",".join(f"f{j}" for j in range(48)) + ",class"]
    table = gzip.compress("\n".join([*lines, plain.decode().replace(" ", ",")]).encode())
    for name, contents in (("ORIGINAL", plain), ("TABLE", table)):
        file = getattr(sensorless, name)
        (places[0] / file.name).write_bytes(contents)
        known = replace(file, sha256=hashlib.sha256(contents).hexdigest())
        monkeypatch.setattr(sensorless, name, known)
        X, y = load_sensorless()
        assert X.tolist() == [row[:48] for row in rows]
        assert y.tolist() == [3, 11]


@pytest.mark.parametrize(
    ("module", "load", "width"), [(covtype, load_covtype, 54), (electricity, load_electricity, 6)]
)
def test_tables_with_and_without_a_header_are_read(
    places: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    load: Callable[[], Any],
    width: int,
) -> None:
    lines = [",".join(map(str, [*range(7, 7 + width), label])) for label in (1, 0)]
    header = ",".join("a" for _ in range(width + 1))
    for name in ("ORIGINAL", "TABLE"):
        file = getattr(module, name)
        has_header = name == "TABLE" or module is electricity
        contents = "\n".join([header, *lines] if has_header else lines).encode()
        contents = gzip.compress(contents) if file.name.endswith(".gz") else contents
        (places[0] / file.name).write_bytes(contents)
        known = replace(file, sha256=hashlib.sha256(contents).hexdigest())
        others = [one for one in module.FILES if one is not file]
        monkeypatch.setattr(module, name, known)
        monkeypatch.setattr(module, "FILES", (known, *others))
        X, y = load()
        assert X.tolist() == [list(range(7, 7 + width))] * 2
        assert y.tolist() == [1, 0]


def test_the_digest_of_what_is_inside_ignores_how_it_was_packed(places: tuple[Path, Path]) -> None:
    file = DataFile("folder/a.gz", SHA, "Ask.", digest_inside=True)
    (places[0] / "folder").mkdir()
    for contents in (gzip.compress(CONTENTS, mtime=1), gzip.compress(CONTENTS, 1, mtime=2)):
        (places[0] / file.name).write_bytes(contents)
        assert find(file)[1] == places[0] / file.name
    for contents in (gzip.compress(CONTENTS + b"5"), gzip.compress(CONTENTS)[:-9], b"no archive"):
        (places[0] / file.name).write_bytes(contents)
        with pytest.raises(DataFileError, match="damaged or another version"):
            find(file)


def test_a_download_may_go_into_a_folder_of_the_cache(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "b.gz").write_bytes(gzip.compress(CONTENTS))
    url = (tmp_path / "b.gz").as_uri()
    file = DataFile("folder/a.gz", SHA, "Ask.", url=url, digest_inside=True)
    assert find(file)[1] == places[1] / "folder" / "a.gz"


def test_pictures_are_read_from_their_bytes(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    images = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 51, 255, 102, 0, 204])
    labels = bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 0])
    (places[0] / "fashion-mnist").mkdir()
    known = []
    for file, inside in zip(fashion_mnist.FILES["test"], (images, labels), strict=True):
        (places[0] / file.name).write_bytes(gzip.compress(inside))
        known.append(replace(file, sha256=hashlib.sha256(inside).hexdigest()))
    monkeypatch.setitem(fashion_mnist.FILES, "test", tuple(known))
    X, y = load_fashion_mnist("test")
    np.testing.assert_allclose(X, [[0.0, 0.2, 1.0], [0.4, 0.0, 0.8]])
    assert y.tolist() == [7, 0]
    with pytest.raises(ValueError, match="part='final' is not known"):
        load_fashion_mnist("final")


@pytest.mark.slow
def test_a_complete_archive_of_har_is_preferred(places: tuple[Path, Path]) -> None:
    folder = places[0] / "UCI HAR Dataset"
    for side, n in ROWS.items():
        (folder / side).mkdir(parents=True)
        y = np.repeat(np.arange(1, 7), ACTIVITIES[side])
        np.savetxt(folder / side / f"X_{side}.txt", np.zeros((n, 561)), fmt="%d")
        np.savetxt(folder / side / f"y_{side}.txt", y, fmt="%d")
        np.savetxt(folder / side / f"subject_{side}.txt", np.ones(n), fmt="%d")
    name, train, test = load_har()
    assert (name, train.X.shape, test.X.shape) == ("HAR", (7352, 561), (2947, 561))
    np.savetxt(folder / "test" / "X_test.txt", np.zeros((10, 561)), fmt="%d")
    with pytest.raises(DataFileError, match="is not the published archive"):
        load_har()


def test_kin8nm(real_data: Path) -> None:
    assert (real_data / FILES[0].name).exists()
    X, y = load_kin8nm()
    assert (X.shape, y.shape) == ((8192, 8), (8192,))
    assert X[0, 0] == -1.5119208e-02
    assert y[0] == 0.53652416


def test_har(real_data: Path) -> None:
    assert (real_data / PARTS["train"].name).exists()
    name, train, test = load_har()
    assert name in ("HAR", "HAR-265")
    assert (len(train.X), len(test.X)) == (7352, 2947)
    assert not set(train.subject.tolist()) & set(test.subject.tolist())
    assert np.bincount(train.y)[1:].tolist() == ACTIVITIES["train"]


def there(folder: Path, name: str) -> None:
    if not (folder / name).is_file():
        pytest.skip(f"{name} is not in {folder}; name its folder in OKSPCA_DATA")


def test_electricity(real_data: Path) -> None:
    there(real_data, electricity.TABLE.name)
    X, y = load_electricity()
    assert X.shape == (45312, 6)
    assert np.bincount(y).tolist() == [26075, 19237]
    assert X[1].tolist() == [0.021277, 0.051699, 0.415055, 0.003467, 0.422915, 0.414912]


@pytest.mark.slow
def test_covtype(real_data: Path) -> None:
    there(real_data, covtype.TABLE.name)
    X, y = load_covtype()
    assert X.shape == (581012, 54)
    assert np.bincount(y)[1:].tolist() == [211840, 283301, 35754, 2747, 9493, 17367, 20510]
    assert X[0, :5].tolist() == [2596.0, 51.0, 3.0, 258.0, 0.0]
    assert np.all(X[:, 10:14].sum(axis=1) == 1.0)


@pytest.mark.slow
def test_fashion_mnist(real_data: Path) -> None:
    there(real_data, fashion_mnist.FILES["train"][0].name)
    for part, n in (("train", 60000), ("test", 10000)):
        X, y = load_fashion_mnist(part)
        assert X.shape == (n, 784)
        assert (X.min(), X.max()) == (0.0, 1.0)
        assert np.bincount(y).tolist() == [n // 10] * 10


@pytest.mark.slow
def test_sensorless(real_data: Path) -> None:
    assert real_data
    X, y = load_sensorless()
    assert X.shape == (58509, 48)
    assert np.bincount(y)[1:].tolist() == [5319] * 11
