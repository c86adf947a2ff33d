"""Real data: where files are looked for, what is checked, and what people are told."""

import gzip
import hashlib
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from okspca.datasets import DataFileError, load_har, load_kin8nm, load_sensorless, sensorless
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
    for load in (load_kin8nm, load_sensorless):
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


@pytest.mark.slow
def test_sensorless(real_data: Path) -> None:
    assert real_data
    X, y = load_sensorless()
    assert X.shape == (58509, 48)
    assert np.bincount(y)[1:].tolist() == [5319] * 11
