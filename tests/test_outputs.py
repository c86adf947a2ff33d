"""Where files may be written, and that they are whole or as they were."""

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from okspca import outputs
from okspca.outputs import ENDINGS, HTML, TEXT, PlaceError, check, kind_of, replacing, write

SAMPLES = {
    ".png": b"\x89PNG\r\n\x1a\n\0\0",
    ".svg": b"<?xml version='1.0'?>\n<!DOCTYPE svg>\n<svg width='1'>",
    ".pdf": b"%PDF-1.4\n%\xac\xdc",
    ".html": b"<!doctype html>\n<html>",
    ".parquet": b"PAR1\x15\0",
    ".arrow": b"ARROW1\0\0",
    ".feather": b"ARROW1\0\0",
    ".npz": b"PK\x03\x04\x14\0",
    ".csv": b'"a","b"\n1,2\n',
}


@pytest.mark.parametrize("ending", [*ENDINGS, ".csv"])
@pytest.mark.parametrize("held", SAMPLES)
def test_a_file_is_replaced_by_its_own_kind_only(ending: str, held: str, tmp_path: Path) -> None:
    path = tmp_path / f"result{ending}"
    path.write_bytes(SAMPLES[held])
    if kind_of(Path(f"x{held}")) is kind_of(path):
        write(path, SAMPLES[ending])
        assert path.read_bytes() == SAMPLES[ending]
        return
    with pytest.raises(PlaceError, match=r"it holds something else than an? "):
        write(path, SAMPLES[ending])
    assert path.read_bytes() == SAMPLES[held]
    assert os.listdir(tmp_path) == [path.name]


def test_an_empty_file_is_replaced_and_the_kind_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.touch()
    write(path, "<!doctype html>", HTML)
    write(path, "<!DOCTYPE HTML>\n", HTML)
    with pytest.raises(PlaceError):
        write(path, "text", TEXT)


@pytest.mark.parametrize("how", ["name", "other name", "link", "hard link", "standard input"])
def test_an_input_is_never_written_over(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, other = tmp_path / "rows.csv", tmp_path / "other.csv"
    rows.write_text("a,b\n")
    if how == "link":
        other.symlink_to(rows)
    if how == "hard link":
        os.link(rows, other)
    out = {"name": rows, "other name": tmp_path / ".." / tmp_path.name / "rows.csv"}.get(how, other)
    with rows.open() as file:
        given: object = rows
        if how == "standard input":
            monkeypatch.setattr(sys, "stdin", file)
            given, out = "-", rows
        with pytest.raises(PlaceError, match="it is an input"):
            write(out, "new", inputs=[str(given)])
    assert rows.read_text() == "a,b\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_what_is_no_regular_file_stays_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(PlaceError, match="not a regular file"):
            write(tmp_path / name, "new")
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)
    with pytest.raises(IsADirectoryError):
        write(tmp_path, "new")


def test_the_null_device_takes_everything_and_stays(tmp_path: Path) -> None:
    null = tmp_path / "null"
    try:
        os.mknod(null, stat.S_IFCHR | 0o600, os.stat(os.devnull).st_rdev)
    except (AttributeError, PermissionError):
        pytest.skip("only the superuser can make a device")
    (tmp_path / "link").symlink_to(null)
    for place in (null, tmp_path / "link"):
        write(place, "nothing of this is kept")
    assert stat.S_ISCHR(null.lstat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["link", "null"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_is_not_finished_leaves_the_old_file(error: BaseException, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")

    def stopped_half_way() -> None:
        with replacing(path) as file:
            file.write(b"half of the ne")
            raise error

    with pytest.raises(type(error)) as caught:
        stopped_half_way()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]
    if isinstance(caught.value, OSError):
        assert caught.value.filename == str(path)


def test_what_came_in_the_meantime_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"

    def overtaken() -> None:
        with replacing(path) as file:
            file.write(b"new")
            path.write_bytes(SAMPLES[".png"])

    with pytest.raises(PlaceError):
        overtaken()
    assert path.read_bytes() == SAMPLES[".png"]


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "absent" / "table.csv", "new")
    assert caught.value.filename == str(tmp_path / "absent" / "table.csv")


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "table.csv", tmp_path / "link.csv"
    write(path, "one")
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~outputs.umask()
    path.chmod(0o640)
    link.symlink_to(path)
    write(link, "two")
    assert link.is_symlink()
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("two", 0o640)


@pytest.mark.parametrize("system", ["as it is", "without /proc"])
def test_threads_leave_the_mask_of_new_files_as_it_is(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if system != "as it is":

        def absent() -> str:
            raise FileNotFoundError

        monkeypatch.setattr(outputs, "_process_status", absent)
    before = os.umask(0o027)
    try:
        found: list[int] = []
        ask = [threading.Thread(target=lambda: found.append(outputs.umask())) for _ in range(50)]
        for thread in ask:
            thread.start()
        for thread in ask:
            thread.join()
        assert found == [0o027] * 50
    finally:
        assert os.umask(before) == 0o027


def test_a_folder_is_asked_for(tmp_path: Path) -> None:
    outputs.check_folder(tmp_path)
    outputs.check_folder(tmp_path / "new")
    (tmp_path / "file").touch()
    for wrong in (tmp_path / "file", "-"):
        with pytest.raises(PlaceError):
            outputs.check_folder(wrong)


def test_checking_writes_nothing(tmp_path: Path) -> None:
    check(tmp_path / "absent.csv")
    assert not os.listdir(tmp_path)
