"""Disks that are full or read-only, damaged folders, two services for one, by the command."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from okspca.serve.entries import frames
from okspca.serve.learner import MODEL_FILE
from tests.serve.served import Process, process

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and mounts of POSIX")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this user may not mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk: Path, leave: int = 0) -> Path:
    """Fill a disk to the last byte, then leave so much."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(1024)):
            continue
    os.truncate(ballast, max(ballast.stat().st_size - leave, 0))
    return ballast


def test_a_full_disk_loses_nothing_and_learning_goes_on_when_there_is_room(
    small_disk: Path,
) -> None:
    with process(small_disk / "models", checkpoint_seconds=1000.0) as served:
        served.up()
        served.create()
        done = 0
        while served.learn(done + 1, 20).status == 200 and done < 20:
            done += 1
        ballast = fill(small_disk)
        while (answer := served.learn(done + 1, 20)).status == 200:
            done += 1
        assert answer.status == 507
        assert "The disk is full" in answer.json["error"]
        assert "The disk is full" in (served.reasons() or {})["plant"]
        assert served.ask("POST", "/models/plant/predict", {"x": [1.0, 2.0]}).status == 200
        refused = served.ask("POST", "/models/plant/checkpoint")
        assert refused.status == 507
        assert "no checkpoint can be written" in refused.json["error"]
        assert served.ask("PUT", "/models/other", {"kind": "regressor"}).status == 507
        assert served.next_number() == done + 1
        # It dies, and begins again on the full disk.
        served.ends_by(signal.SIGKILL)
        served.up()
        assert served.next_number() == done + 1
        assert served.learn(done + 1, 20).status == 507
        assert served.ask("POST", "/models/plant/predict", {"x": [1.0, 2.0]}).status == 200
        ballast.unlink()
        # It becomes ready by itself: who reads that it is not would send nothing.
        served.until(lambda: served.reasons() == {})
        assert served.learn(done + 1, 20).json == {"learned": 20, "set_aside": 0, "repeated": False}
        assert served.ask("POST", "/models/plant/checkpoint").status == 200
        served.until(lambda: served.rows() == 20 * (done + 1))
        assert served.ask("PUT", "/models/other", {"kind": "regressor"}).status == 201
        assert served.ends_by(signal.SIGTERM) == -signal.SIGTERM
        assert "Traceback" not in served.log.read_text()


def test_no_room_for_a_checkpoint_is_told_and_stops_nobody(small_disk: Path) -> None:
    with process(small_disk / "models", checkpoint_seconds=0.1) as served:
        served.up()
        served.create()
        assert served.learn(1).status == 200
        ballast = fill(small_disk, leave=8192)
        for number in range(2, 8):
            assert served.learn(number).status == 200
        served.until(lambda: "no checkpoint" in (served.reasons() or {}).get("plant", ""))
        assert served.learn(8).status == 200
        # It may be asked to end all the same, and begins again with all that it learned.
        assert served.ends_by(signal.SIGTERM) == -signal.SIGTERM
        assert "Traceback" not in served.log.read_text()
        served.start()
        served.until(lambda: served.reasons() is not None and served.rows() == 8)
        assert served.learn(9).status == 200
        ballast.unlink()
        served.until(lambda: served.reasons() == {})
        assert served.ask("POST", "/models/plant/checkpoint").json == {"checkpoint": 9}


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir(mode=0o555)
    with process(folder) as served:
        said = served.refuses_to_start()
    assert said.startswith(f"The folder {folder} cannot be written (Permission denied)")


def test_a_folder_that_becomes_read_only_loses_nothing(tmp_path: Path) -> None:
    with process(tmp_path / "models", segment_bytes=300) as served:
        served.up()
        served.create()
        folder = served.folder / "plant"
        assert served.learn(1).status == 200
        for path in (folder / "journal", folder):
            path.chmod(0o555)
        number = 2
        while (answer := served.learn(number)).status == 200:
            number += 1
        assert answer.status == 503
        assert "The journal cannot be written (Permission denied)" in answer.json["error"]
        assert "Permission denied" in (served.reasons() or {})["plant"]
        assert served.ask("POST", "/models/plant/checkpoint").status == 503
        assert served.ask("POST", "/models/plant/predict", {"x": [1.0, 2.0]}).status == 200
        served.ends_by(signal.SIGTERM)
        assert "Traceback" not in served.log.read_text()
        for path in (folder, folder / "journal"):
            path.chmod(0o755)
        served.up()
        assert served.next_number() == number
        assert served.rows() == number - 1
        assert served.learn(number).status == 200


def begun(served: Process, n: int = 4) -> Path:
    """A service that has learned, and was killed; where its last segment is."""
    served.up()
    served.create()
    for number in range(1, n + 1):
        assert served.learn(number).status == 200
    served.ends_by(signal.SIGKILL)
    return sorted((served.folder / "plant" / "journal").glob("*.journal"))[-1]


def test_a_torn_end_of_the_journal_is_cut_off(tmp_path: Path) -> None:
    with process(tmp_path / "models") as served:
        segment = begun(served)
        ends = [end for end, _, _ in frames(segment.read_bytes())]
        whole = segment.read_bytes()
        for cut in (ends[-2] + 1, ends[-2] + 25, ends[-1] - 1):
            segment.write_bytes(whole[:cut])
            served.up()
            assert f"{cut - ends[-2]} bytes of an entry that is not whole" in served.log.read_text()
            # The last one was never acknowledged, as far as the disk knows.
            assert served.next_number() == len(ends)
            assert served.learn(len(ends)).json["learned"] == 1
            served.until(lambda: served.rows() == len(ends))
            served.ends_by(signal.SIGKILL)


def spoil(path: Path, place: int) -> None:
    """Change one byte."""
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("what", ["entry", "segment", "model", "lost model", "foreign model"])
def test_a_damaged_folder_is_refused_as_a_whole(tmp_path: Path, what: str) -> None:
    with process(tmp_path / "models", segment_bytes=150) as served:
        segment = begun(served, 6)
        model = served.folder / "plant" / MODEL_FILE
        segments = sorted(segment.parent.iterdir())
        if what == "entry":
            spoil(segments[1], 30)
            expected = f"{segments[1]} is damaged at byte 0"
        elif what == "segment":
            segments[1].unlink()
            expected = f"entry {segments[1].stem.lstrip('0')} is missing"
        elif what == "model":
            spoil(model, model.stat().st_size // 2)
            expected = f"{model} cannot be loaded: "
        elif what == "lost model":
            model.unlink()
            expected = f"{model}: No such file or directory"
        else:
            foreign = served.folder.with_name("foreign.okspca")
            python = f"from okspca import OKSPCA; OKSPCA().save({str(foreign)!r})"
            subprocess.run([sys.executable, "-c", python], check=True)
            shutil.copy(foreign, model)
            expected = f"{model} was not written by a service"
        said = served.refuses_to_start()
    assert said.startswith("The service cannot begin: The model plant cannot be opened: ")
    assert expected in said


def test_a_folder_has_one_service(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    with process(folder) as served, process(folder) as other:
        served.up()
        served.create()
        said = other.refuses_to_start()
        assert served.process is not None
        assert f"{folder} belongs to a service that runs (process {served.process.pid})" in said
        assert served.learn(1).status == 200
        served.ends_by(signal.SIGKILL)
        other.up()
        assert other.next_number() == 2


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with process(tmp_path / "one") as served, process(tmp_path / "two") as other:
        served.up()
        other.port = served.port
        assert f"it cannot listen at http://127.0.0.1:{served.port}" in other.refuses_to_start()
