"""`okspca plot` and `okspca report`: right pictures, and a page that needs no network."""

import base64
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.random import RandomState
from pyarrow import csv
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.cli.plot import KINDS

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
PNG = b"\x89PNG\r\n\x1a\n"
# Runs inside a copy of the page and leaves what it finds where --dump-dom shows it.
PROBE = """<script>addEventListener('load', () => {
  const images = [...document.images].map(image => image.naturalWidth);
  const fetched = performance.getEntriesByType('resource').map(entry => entry.name);
  const wide = document.documentElement.scrollWidth > innerWidth;
  const live = [...document.querySelectorAll('.interactive > canvas')].map(canvas => {
    const inks = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    return inks.filter((ink, i) => i % 4 === 3 && ink > 0).length;
  });
  const found = document.createElement('pre');
  found.id = 'found';
  found.textContent = JSON.stringify({images, fetched, wide, live});
  document.body.append(found);
});</script>"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a number, with everything that can be in it, and one of two classes."""
    place = tmp_path_factory.mktemp("models")
    X = RandomState(0).normal(size=(900, 3)).round(4)
    colour = np.array(["red", "blue", "green"])[np.digitize(X[:, 2], [-0.5, 0.5])]
    y = X[:, 0] + (X[:, 1] > 0)
    rows = pa.table({"a": X[:, 0], "b": X[:, 1], "<c>&": colour, "y": y.round(4)})
    csv.write_csv(rows.append_column("big", [pa.array(y > 0.5)]), place / "rows.csv")
    fit = ("fit", place / "rows.csv", "--random-features", "16", "--quiet", "--one-hot", "2")
    more = ("--target", "y", "--drop", "big", "--evaluate", "--stability", "4")
    for out, options in (("number", more), ("classes", ("--target", "big", "--drop", "y"))):
        result = run(*fit, *options, "--out", place / out)
        assert result.exit_code == 0, result.output
    return place


@pytest.mark.slow
@pytest.mark.parametrize("model", ["number", "classes"])
def test_every_picture_is_drawn(model: str, folder: Path, tmp_path: Path) -> None:
    result = run("plot", folder / model, "--out", tmp_path / "new")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [str(tmp_path / "new" / f"{kind}.png") for kind in KINDS]
    assert all((tmp_path / "new" / f"{kind}.png").read_bytes()[:8] == PNG for kind in KINDS)


def test_one_picture_as_a_drawing(folder: Path, tmp_path: Path) -> None:
    only = ("--only", "spectrum", "--ending", "svg")
    assert run("plot", folder / "number", "--out", tmp_path, *only).exit_code == 0
    assert "<svg" in (tmp_path / "spectrum.svg").read_text()
    assert not (tmp_path / "embedding.svg").exists()


def test_without_rows_the_rest_is_drawn(folder: Path, tmp_path: Path) -> None:
    X = RandomState(0).normal(size=(50, 2))
    OKSPCA(1, n_random_features=8).fit(X, X[:, 0]).save(tmp_path / "plain")
    result = run("plot", tmp_path / "plain", "--out", tmp_path)
    assert result.exit_code == 0
    assert "embedding: left out" in result.stdout
    assert (tmp_path / "spectrum.png").exists()
    wanted = run("plot", tmp_path / "plain", "--out", tmp_path, "--only", "relevance")
    assert wanted.exit_code == 1
    assert "needs rows" in wanted.stderr
    assert run("report", tmp_path / "plain", "--out", tmp_path / "r.html").exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name"),
    [("report", "page.html"), ("plot", "spectrum.png"), ("transform", "table.parquet")],
)
def test_a_full_disk_leaves_what_was_there(
    command: str, name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    rows = [] if command == "plot" else [folder / "rows.csv"]
    out = tmp_path if command == "plot" else tmp_path / name
    only = ["--only", "spectrum"] if command == "plot" else []
    words = (command, folder / "number", *rows, *only, "--out", out)
    monkeypatch.setattr(os, "fsync", full)
    for before in (None, b"\x89PNG\r\n\x1a\n" if command == "plot" else b""):
        if before is not None:
            (tmp_path / name).write_bytes(before)
        result = run(*words)
        assert result.exit_code == 1
        assert result.stderr == f"{tmp_path / name}: No space left on device.\n"
        found = [path.read_bytes() for path in tmp_path.iterdir()]
        assert found == ([] if before is None else [before])


@pytest.mark.parametrize(
    ("options", "problem", "code"),
    [
        (["--only", "everything"], "--only everything is not known", 2),
        (["--ending", "gif"], "--ending gif is not known", 2),
        (["absent.csv"], "No such file", 1),
    ],
)
def test_wrong_requests_are_one_sentence(
    options: list[str], problem: str, code: int, folder: Path, tmp_path: Path
) -> None:
    result = run("plot", folder / "number", *options, "--out", tmp_path)
    assert result.exit_code == code
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_empty_model_has_nothing_to_draw(tmp_path: Path) -> None:
    OKSPCA(1).save(tmp_path / "empty")
    for command in ("plot", "report"):
        result = run(command, tmp_path / "empty", "--out", tmp_path / "x")
        assert result.exit_code == 1
        assert "nothing to draw" in result.stderr


@pytest.mark.slow
def test_the_report_says_how_to_make_the_same_file(folder: Path, tmp_path: Path) -> None:
    assert run("report", folder / "number", "--out", tmp_path / "r.html").exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    headings = ("Does it help?", "The embedding", "Exactness and", "The data", "Settings", "How to")
    for heading in headings:
        assert f">{heading}" in page
    assert "&lt;c&gt;&amp;=" in page
    assert "<c>" not in page
    assert "Reproducible:" in page
    command = re.search(r"<pre>(okspca fit .*)", page)
    assert command is not None
    words = command[1].replace("&#x27;", "'").replace("&lt;", "<").replace("&gt;", ">")
    for option in ("--one-hot 2", "--evaluate", "--stability 4", "'<c>&amp;'"):
        assert option in words


def probed(page: str) -> str:
    """A page with the probe, which the page's own policy must be told to let run."""
    code = PROBE.removeprefix("<script>").removesuffix("</script>")
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    page = page.replace("script-src ", f"script-src 'sha256-{digest}' ")
    return page.replace("</body>", f"{PROBE}</body>")


def browser(*options: str) -> "subprocess.CompletedProcess[str]":
    assert BROWSER is not None
    switches = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    words = [BROWSER, *switches, "--disable-dev-shm-usage", *options]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize("model", ["number", "classes"])
def test_a_browser_shows_the_report_without_a_network(
    model: str, folder: Path, tmp_path: Path
) -> None:
    report = tmp_path / "report.html"
    assert run("report", folder / model, "--out", report).exit_code == 0
    page = report.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)\s*=\s*['\"]?\s*(https?:|//|file:)", page)
    assert "@import" not in page
    report.write_text(probed(page), encoding="utf-8")
    shown = browser(
        "--dump-dom", "--window-size=1000,900", "--virtual-time-budget=5000", report.as_uri()
    )
    assert "CONSOLE" not in shown.stderr
    told = re.search(r"<pre id=\"found\">(.*?)</pre>", shown.stdout)
    assert told is not None
    found = json.loads(told[1])
    assert len(found["images"]) == page.count("<img")
    assert min(found["images"]) > 300
    assert found["fetched"] == []
    assert not found["wide"]
    # Every figure is live, and something is drawn in each.
    assert len(found["live"]) >= page.count("<figure class='chart'>") >= 3
    assert min(found["live"]) > 1000


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_script_that_is_not_ours_does_not_run(folder: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    assert run("report", folder / "classes", "--out", report).exit_code == 0
    planted = "<script>document.title = 'taken over'</script><img src='https://example.org/x.png'>"
    page = report.read_text(encoding="utf-8").replace("</body>", f"{planted}</body>")
    report.write_text(page, encoding="utf-8")
    shown = browser("--dump-dom", "--virtual-time-budget=5000", report.as_uri())
    assert "<title>taken over" not in shown.stdout
    assert "Content Security Policy" in shown.stderr


def test_the_report_opens_with_the_verdict(folder: Path, tmp_path: Path) -> None:
    result = run("report", folder / "number", "--out", tmp_path / "r.html")
    verdict = result.stdout.splitlines()[0]
    assert "of the variance of 'y'" in verdict
    page = html.unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    lead = re.search(r"<p class='lead'>(.*?)</p>", page)
    assert lead is not None
    assert lead[1].replace("\xa0", " ") == verdict
    assert page.index("lead") < page.index("best objective")


def test_a_report_without_an_evaluation_says_how_to_get_one(folder: Path, tmp_path: Path) -> None:
    result = run("report", folder / "classes", "--out", tmp_path / "r.html")
    assert result.stdout.startswith("Whether this reduction helps is not known")
    page = html.unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert re.search(r"<pre>okspca fit .*rows.csv .*--evaluate</pre>", page)


def test_held_out_rows_judge_a_model(folder: Path, tmp_path: Path) -> None:
    X = RandomState(5).normal(size=(1500, 3)).round(4)
    colour = np.array(["red", "blue", "green"])[np.digitize(X[:, 2], [-0.5, 0.5])]
    big = [None, *(X[1:, 0] + (X[1:, 1] > 0) > 0.5).tolist()]
    rows = pa.table({"a": X[:, 0], "b": X[:, 1], "<c>&": colour, "big": big})
    csv.write_csv(rows, tmp_path / "new.csv")
    before = (folder / "classes").read_bytes()
    words = ("report", folder / "classes", "--held-out", tmp_path / "new.csv")
    result = run(*words, "--out", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert "'big' right in" in result.stdout
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "over 1,244 rows that the model has not learned; 1 left out" in page
    assert (folder / "classes").read_bytes() == before
    csv.write_csv(rows.slice(0, 100), tmp_path / "few.csv")
    few = run(*words[:3], tmp_path / "few.csv", "--out", tmp_path / "r.html")
    assert few.exit_code == 1
    assert "99 rows without gaps and of known classes, of 100; more than 256" in few.stderr


def test_rows_with_gaps_are_judged_as_a_model_that_fills_them_sees_them(tmp_path: Path) -> None:
    random = RandomState(6)
    X, is_missing = random.normal(size=(1200, 2)), random.uniform(size=1200) < 0.4
    sold = np.where(is_missing ^ (random.uniform(size=1200) < 0.05), "yes", "no")
    gaps = pa.array(X[:, 1], mask=is_missing)
    csv.write_csv(pa.table({"a": X[:, 0], "b": gaps, "sold": sold}), tmp_path / "rows.csv")
    filled = ("--missing", "impute", "--missing-indicators", "--evaluate")
    words = ("fit", tmp_path / "rows.csv", "--target", "sold", *filled, "--seed", "0")
    result = run(*words, "--out", tmp_path / "model")
    assert result.exit_code == 0, result.output
    told = " ".join(result.stdout.split())
    inputs = "a linear model of all 4 inputs reaches 9"
    assert re.search(rf"'sold' right in 9\d(\.\d)? % of rows; {inputs}", told)
    held_out = ("--held-out", tmp_path / "rows.csv", "--out", tmp_path / "r.html")
    result = run("report", tmp_path / "model", *held_out)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "over 944 rows that the model has not learned</h" in page.replace("\xa0", " ")
    assert inputs in " ".join(result.stdout.split())
    assert page.count("--missing impute") == 1
    assert "2 inputs, each with another that tells where it was missing (4 in all)" in page
    for files in ((), (tmp_path / "rows.csv",)):
        told = run("explain", tmp_path / "model", *files).stdout
        assert re.search(r"b is missing +\d\d", told)
    told = run("drift", tmp_path / "model", tmp_path / "rows.csv").stdout
    assert told.startswith("The new rows look like those")
    assert "b is missing" in told


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_the_browser_test_can_fail(tmp_path: Path) -> None:
    """A page with an error and a picture from elsewhere is noticed."""
    page = tmp_path / "bad.html"
    script = "<script>console.error('oh no')</script>"
    page.write_text(f"<body><img src='other.png'>{script}{PROBE}</body>")
    shown = browser("--dump-dom", "--virtual-time-budget=5000", page.as_uri())
    assert "oh no" in shown.stderr
    assert '"images":[0]' in shown.stdout
