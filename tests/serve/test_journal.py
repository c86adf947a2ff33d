"""The journal: what is acknowledged is there after a crash, and damage is never overlooked."""

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okspca.errors import StateError
from okspca.serve.entries import Entry, entries, framed
from okspca.serve.journal import BrokenJournalError, Journal, NoRoomError


def entry(number: int) -> Entry:
    rows = np.full((2, 3), float(number))
    return Entry(rows, ["a", "b"], taken=(("line-3", number),), stored=("x",), S=rows[:1])


def written(folder: Path, n: int, **settings: Any) -> Journal:
    journal = Journal(folder, **settings)
    assert list(journal.replay(after=0)) == []
    for number in range(1, n + 1):
        journal.append(number, framed(number, entry(number)))
    return journal


def numbers(folder: Path, after: int = 0, **settings: Any) -> list[int]:
    return [number for number, _ in Journal(folder, **settings).replay(after)]


def test_entries_come_back_as_they_were(tmp_path: Path) -> None:
    written(tmp_path, 3).close()
    for number, found in Journal(tmp_path).replay(after=0):
        expected = entry(number)
        np.testing.assert_array_equal(found.X, expected.X)
        np.testing.assert_array_equal(found.S, expected.S)
        assert found.labels == expected.labels
        assert found.taken == expected.taken
        assert found.stored == expected.stored


def test_a_gap_is_stored_as_it_is() -> None:
    rows = np.array([[np.nan, 1.0]])
    found = next(entries(framed(1, Entry(rows, None, np.zeros((1, 1))))))[1]
    np.testing.assert_array_equal(found.X, rows)


@pytest.mark.parametrize("cut", [1, 10, 19, 20, 21, 100])
def test_a_torn_entry_is_cut_off(tmp_path: Path, cut: int) -> None:
    journal = written(tmp_path, 2)
    journal.close()
    path = next(tmp_path.iterdir())
    whole = path.read_bytes()
    path.write_bytes(whole + framed(3, entry(3))[:cut])
    journal = Journal(tmp_path)
    assert [number for number, _ in journal.replay(after=0)] == [1, 2]
    assert path.read_bytes() == whole
    journal.append(3, framed(3, entry(3)))
    journal.close()
    assert numbers(tmp_path) == [1, 2, 3]


@pytest.mark.parametrize("place", [5, 30, 100])
def test_damage_that_entries_follow_is_refused(tmp_path: Path, place: int) -> None:
    written(tmp_path, 3).close()
    path = next(tmp_path.iterdir())
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(StateError, match="damaged at byte 0"):
        numbers(tmp_path)
    assert path.read_bytes() == bytes(data)


def test_damage_in_an_earlier_segment_is_refused(tmp_path: Path) -> None:
    written(tmp_path, 4, segment_bytes=1).close()
    paths = sorted(tmp_path.iterdir())
    assert len(paths) == 4
    paths[1].write_bytes(paths[1].read_bytes()[:-1])
    with pytest.raises(StateError, match="damaged"):
        numbers(tmp_path)


def test_a_missing_segment_is_refused(tmp_path: Path) -> None:
    written(tmp_path, 4, segment_bytes=1).close()
    sorted(tmp_path.iterdir())[1].unlink()
    with pytest.raises(StateError, match="entry 2 is missing"):
        numbers(tmp_path)
    # What a checkpoint holds need not be there.
    assert numbers(tmp_path, after=2) == [3, 4]


def test_segments_go_when_a_checkpoint_has_them(tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    journal = written(tmp_path / "journal", 5, segment_bytes=1, keep=keep)
    before = journal.n_bytes
    journal.truncate(3)
    assert 0 < journal.n_bytes < before
    assert len(list(keep.iterdir())) == 3
    journal.append(6, framed(6, entry(6)))
    journal.close()
    assert numbers(tmp_path / "journal", after=3) == [4, 5, 6]
    # The segment that is written to stays, whatever a checkpoint has.
    assert numbers(tmp_path / "journal", after=6) == []


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = written(tmp_path, 1)
    whole = next(tmp_path.iterdir()).read_bytes()
    write = os.write

    def half(handle: int, data: Any) -> int:
        if len(data) > 50:
            return write(handle, data[:50])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("okspca.serve.journal.os.write", half)
    with pytest.raises(NoRoomError):
        journal.append(2, framed(2, entry(2)))
    monkeypatch.undo()
    assert next(tmp_path.iterdir()).read_bytes() == whole
    journal.append(2, framed(2, entry(2)))
    journal.close()
    assert numbers(tmp_path) == [1, 2]


def test_room_is_looked_for_as_long_as_the_entry_that_found_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = written(tmp_path, 1)
    whole = next(tmp_path.iterdir()).read_bytes()
    frame, write, room = framed(2, entry(2)), os.write, 60

    def little(handle: int, data: Any) -> int:
        if len(data) > room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr("okspca.serve.journal.os.write", little)
    with pytest.raises(NoRoomError):
        journal.append(2, frame)
    assert not journal.has_room()
    room = len(frame)
    assert journal.has_room()
    assert next(tmp_path.iterdir()).read_bytes() == whole
    journal.append(2, frame)
    journal.close()
    assert numbers(tmp_path) == [1, 2]


def test_a_segment_that_cannot_be_begun_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = written(tmp_path, 1, segment_bytes=1)

    def full(folder: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("okspca.serve.journal.flush_folder", full)
        with pytest.raises(NoRoomError):
            journal.append(2, framed(2, entry(2)))
    assert len(list(tmp_path.iterdir())) == 1
    journal.append(2, framed(2, entry(2)))
    journal.close()
    assert numbers(tmp_path) == [1, 2]


def test_an_entry_that_nobody_could_read_again_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = written(tmp_path, 1)
    monkeypatch.setattr("okspca.serve.journal.MOST_BYTES", 100)
    with pytest.raises(ValueError, match="more than 100; send fewer rows"):
        journal.append(2, framed(2, entry(2)))
    journal.close()
    assert numbers(tmp_path) == [1]


def test_segments_that_could_not_be_moved_are_moved_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = tmp_path / "kept"
    journal = written(tmp_path / "journal", 5, segment_bytes=1, keep=keep)
    before, replace, left = journal.n_bytes, os.replace, 1

    def seldom(path: Any, other: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.EACCES, "Permission denied")
        replace(path, other)

    with monkeypatch.context() as patch:
        patch.setattr("okspca.serve.journal.os.replace", seldom)
        with pytest.raises(OSError, match="Permission denied"):
            journal.truncate(3)
    assert journal.n_bytes == before * 4 / 5
    journal.truncate(3)
    assert len(list(keep.iterdir())) == 3
    assert journal.n_bytes == before * 2 / 5
    journal.close()


def test_segments_are_kept_on_another_disk_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = tmp_path / "kept"
    journal = written(tmp_path / "journal", 3, segment_bytes=1, keep=keep)
    replace = os.replace

    def within_one_disk(path: Any, other: Any) -> None:
        if Path(path).parent != Path(other).parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        replace(path, other)

    monkeypatch.setattr("okspca.serve.journal.os.replace", within_one_disk)
    journal.truncate(2)
    journal.close()
    assert numbers(keep) == [1, 2]
    assert numbers(tmp_path / "journal", after=2) == [3]


def test_the_folder_of_a_journal_is_itself_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[Path] = []
    monkeypatch.setattr("okspca.serve.journal.flush_folder", flushed.append)
    written(tmp_path / "journal", 1).close()
    assert tmp_path in flushed
    assert tmp_path / "journal" in flushed


def test_after_a_failed_sync_nothing_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = written(tmp_path, 1)

    def fail(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("okspca.serve.journal._sync", fail)
    with pytest.raises(BrokenJournalError):
        journal.append(2, framed(2, entry(2)))
    monkeypatch.undo()
    with pytest.raises(BrokenJournalError, match="could not be synced"):
        journal.append(2, framed(2, entry(2)))


def test_every_entry_is_synced_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = written(tmp_path, 1)
    synced: list[int] = []
    monkeypatch.setattr(
        "okspca.serve.journal._sync", lambda handle: synced.append(os.fstat(handle).st_size)
    )
    frame = framed(2, entry(2))
    before = next(tmp_path.iterdir()).stat().st_size
    journal.append(2, frame)
    assert synced == [before + len(frame)]


def test_a_strange_file_is_no_segment(tmp_path: Path) -> None:
    (tmp_path / "copy of 1.journal").write_bytes(b"")
    with pytest.raises(StateError, match="is no segment"):
        numbers(tmp_path)
