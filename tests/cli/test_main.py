"""The command line: what it prints, writes and returns."""

import io
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console
from typer.testing import CliRunner, Result

from okspca import __version__
from okspca.cli import app, demo, demo_picture

PNG = b"\x89PNG\r\n\x1a\n"
FEW_ROWS = "600"


def okspca(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_version() -> None:
    result = okspca("--version")
    assert (result.exit_code, result.stdout) == (0, f"okspca {__version__}\n")


def test_help_names_the_demo() -> None:
    result = okspca("--help")
    assert result.exit_code == 0
    assert "demo" in result.stdout


@pytest.mark.slow
def test_demo_prints_a_summary_and_writes_a_picture(tmp_path: Path) -> None:
    out = tmp_path / "picture.png"
    result = okspca("demo", "--rows", FEW_ROWS, "--out", str(out))
    assert result.exit_code == 0, result.output
    for expected in ("Compiling", "objective", "µs/row", "After 600 rows", "measured", "adam"):
        assert expected in result.stdout
    assert "picture.png" in result.stdout.replace("\n", "")
    picture = out.read_bytes()
    assert picture.startswith(PNG)
    width, height = struct.unpack(">II", picture[16:24])
    assert 800 < width < 2000
    assert 400 < height < 1200
    assert 30_000 < len(picture) < 300_000


def test_demo_without_matplotlib_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A module that is None in sys.modules cannot be imported.
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "okspca.cli.demo_picture", raising=False)
    out = tmp_path / "picture.png"
    result = okspca("demo", "--rows", FEW_ROWS, "--out", str(out))
    assert result.exit_code == 0
    assert "After 600 rows" in result.stdout
    assert result.stdout.splitlines()[-1] == (
        "The picture needs matplotlib: pip install 'okspca[plot]'"
    )
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--rows", "99"], "Invalid value for '--rows'"),
        (["--rows", "many"], "Invalid value for '--rows'"),
        (["--seed", "-1"], "Invalid value for '--seed'"),
        (["--out", "picture.jpg"], "picture.jpg is not the name of a PNG file"),
        (["--out", "no/such/place/p.png"], "is not a directory"),
    ],
)
def test_demo_refuses_bad_options_before_any_work(
    arguments: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "run", lambda *_: pytest.fail("work was done"))
    result = okspca("demo", *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert "Traceback" not in result.output


def test_demo_refuses_a_directory_as_its_picture(tmp_path: Path) -> None:
    place = tmp_path / "directory.png"
    place.mkdir()
    result = okspca("demo", "--out", str(place))
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_demo_refuses_a_place_without_permission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The superuser may write everywhere, so the answer of the system is replaced.
    monkeypatch.setattr(os, "access", lambda *_: False)
    result = okspca("demo", "--out", str(tmp_path / "picture.png"))
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


@pytest.mark.slow
def test_demo_explains_a_picture_that_cannot_be_written_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    result = okspca("demo", "--rows", "100", "--out", str(tmp_path / "picture.png"))
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "No space left on device" in result.stderr


def test_heavy_modules_are_not_imported_for_help() -> None:
    """They come when a command runs, so that help and version come at once."""
    code = "import sys, okspca.cli; print(*{'numpy', 'scipy', 'sklearn', 'numba'} & {*sys.modules})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


@pytest.mark.slow
def test_demo_works_where_output_knows_only_ascii(tmp_path: Path) -> None:
    out = tmp_path / "picture.png"
    result = CliRunner(charset="ascii").invoke(app, ["demo", "--rows", "100", "--out", str(out)])
    assert result.exit_code == 0
    assert "proven (?)" in result.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_interrupt_is_one_line_and_exit_code_130(tmp_path: Path) -> None:
    out = tmp_path / "picture.png"
    code = "import okspca.cli; okspca.cli.app()"
    arguments = [sys.executable, "-c", code, "demo", "--rows", "1000000", "--out", str(out)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        try:
            _, complaint = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert complaint.decode().split("\n") == ["", "Interrupted before the end.", ""]
    assert not out.exists()


@pytest.fixture(scope="module")
def short_run() -> demo.DemoResult:
    return demo.run(1000, 1, Console(file=io.StringIO()))


def test_both_solvers_meet_the_same_moment(short_run: demo.DemoResult) -> None:
    exact, adam = (contender.model.moment_.matrix() for contender in short_run.contenders)
    np.testing.assert_allclose(exact, adam, rtol=0.0, atol=1e-12 * np.abs(exact).max())


def test_only_the_exact_solver_is_exact(short_run: demo.DemoResult) -> None:
    exact, adam = (contender.history[-1].angle for contender in short_run.contenders)
    assert exact is not None
    assert adam is not None
    assert exact < 1e-9 < adam


def test_measured_angles_respect_the_bounds_shown(short_run: demo.DemoResult) -> None:
    shown = [point for contender in short_run.contenders for point in contender.history]
    proven = [(x.angle, x.angle_upper) for x in shown if x.angle_upper is not None]
    assert len(proven) > len(shown) / 2
    assert all(angle is not None and angle <= bound for angle, bound in proven)


def test_held_out_rows_are_not_in_the_stream(short_run: demo.DemoResult) -> None:
    assert all(contender.model.n_samples_seen_ == 1000 for contender in short_run.contenders)
    assert short_run.labels.shape == (demo.HELD_OUT,)
    exact, adam = short_run.accuracies
    assert adam < exact <= short_run.attainable


def test_exactness_shows_in_what_is_found() -> None:
    """The reason for the demo: a late class that only the exact solver has turned to."""
    result = demo.run(4000, 0, Console(file=io.StringIO()))
    exact, adam = result.found
    assert exact > 0.9
    assert adam < exact - 0.15


@pytest.mark.parametrize("rows", [100, 777, 20_000, 20_500, 100_000])
def test_blocks_cover_the_stream_once(rows: int) -> None:
    blocks = list(demo.blocks(rows))
    assert [block.start for block in blocks] == [0, *(block.stop for block in blocks[:-1])]
    assert blocks[-1].stop == rows
    assert all(0 < block.stop - block.start <= demo.LARGEST_BLOCK for block in blocks)
    assert len(blocks) >= 19


@pytest.mark.parametrize("bound", [0.1, 0.99951985051, 0.9999999999999, 1.0])
def test_lower_bounds_are_never_rounded_up(bound: float) -> None:
    assert bound - 1e-9 < float(demo.at_least(bound).removeprefix("≥ ")) <= bound


@pytest.mark.parametrize("angle", [0.0, 1.2e-10, 3.01e-5, 0.991, 1.61, 60.4, 90.0])
def test_upper_bounds_are_never_rounded_down(angle: float) -> None:
    shown = float(demo.at_most(angle).removeprefix("≤ ").removesuffix("°"))
    assert angle <= shown <= 1.1 * angle


def test_the_picture_leaves_gaps_where_nothing_is_known() -> None:
    contender = demo.Contender.of("exact", 0)
    known = demo.Checkpoint(10, 1.0, 0.9, 3.0, 0.0, 2, 0, 5.0)
    unknown = demo.Checkpoint(20, 1.0, None, None, None, 2, 0, 5.0)
    contender.history = [known, unknown]
    axes: Axes = Figure().subplots()
    demo_picture.draw_quality(axes, [contender])
    measured, proven = (np.asarray(line.get_ydata()) for line in axes.lines)
    np.testing.assert_array_equal(measured, [demo_picture.SMALLEST_ANGLE, np.nan])
    np.testing.assert_array_equal(proven, [3.0, np.nan])


def test_unknown_numbers_are_words() -> None:
    assert demo.at_least(None) == demo.at_most(None) == "none"
    assert demo.degrees(None) == "undefined"
