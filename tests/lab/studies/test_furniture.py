"""What all studies share: comparison with the paper, rows on disk, tables, pages."""

from pathlib import Path
from typing import Any

import pytest

from okspca.report.page import Section, page
from okspca_lab.studies.comparison import (
    Comparison,
    Decades,
    Factor,
    Given,
    Holds,
    Same,
    Verdict,
    Within,
    agreement,
    compared,
    comparison_table,
    counted,
    rounding_of,
    score_tolerance,
    write_comparison,
)
from okspca_lab.studies.rows import OtherSettingsError, RowFile, read_rows

ROOT = Path(__file__).resolve().parents[3]
SETTINGS = {"seeds": [100, 101], "tasks": ["Kin8nm"]}


@pytest.mark.parametrize(
    ("printed", "half"),
    [("0.6630", 0.00005), ("4,000", 0.0), ("5.315e-07", 5e-11), ("-0.0564", 0.00005), ("4", 0.0)],
)
def test_the_last_printed_digit_is_known(printed: str, half: float) -> None:
    assert rounding_of(printed) == pytest.approx(half)


@pytest.mark.parametrize(
    ("tolerance", "paper", "ours", "agrees"),
    [
        (Within(0.02), "0.404", 0.4243, True),
        (Within(0.02), "0.404", 0.4246, False),
        (Factor(2.0), "0.0300", 0.061, False),
        (Factor(2.0), "0.0300", 0.0599, True),
        (Factor(2.0, (0.01, 0.09)), "0.0300", 0.071, True),
        (Factor(2.0), "-0.1", 0.1, False),
        (Decades(0.5), "0.999951", 0.99985, True),
        (Decades(0.5), "0.999951", 0.9998, False),
        (Decades(0.5), "1.000000", 0.9999995, True),
        (Decades(0.5), "1.000000", 1.0, True),
        (Decades(0.5), "1.000000", 0.99999, False),
        (Same(), "4,000", 4000.0, True),
        (Same(), "4,000", 4001.0, False),
    ],
)
def test_tolerances(tolerance: Any, paper: str, ours: float, agrees: bool) -> None:
    line = compared("table", "row", "column", paper, ours, tolerance)
    assert line.verdict is (Verdict.AGREES if agrees else Verdict.DIFFERS)


def test_a_number_that_was_not_produced_is_neither_right_nor_wrong() -> None:
    lines = [
        compared("t", "r", "c", "1.0", ours, Within(0.1)) for ours in (None, float("nan"), 1.0)
    ]
    assert [line.verdict for line in lines] == [Verdict.NOT_RUN, Verdict.NOT_RUN, Verdict.AGREES]
    assert agreement(lines) == (1, 1)


def test_the_score_tolerance_is_two_standard_errors_or_more() -> None:
    assert score_tolerance([0.5, 0.5, 0.5]).width == 0.02
    wide = score_tolerance([0.0, 1.0, 0.0, 1.0])
    assert wide.width == pytest.approx(2.0 * (2.0 * (1.0 / 3.0) / 4.0) ** 0.5)
    assert score_tolerance([0.0, 1.0, 0.0, 1.0], paper_sd=0.0).width < wide.width


def test_comparison_is_written_as_flat_rows(tmp_path: Path) -> None:
    lines = [Comparison("Table 2", "Kin8nm", "exact", "0.413", 0.4132, "±0.02", Verdict.AGREES)]
    write_comparison(tmp_path / "comparison.csv", lines)
    assert (tmp_path / "comparison.csv").read_text() == (
        "artefact,row,column,paper,ours,tolerance,verdict,note,kind\n"
        "Table 2,Kin8nm,exact,0.413,0.4132,±0.02,agrees,,result\n"
    )


def test_rows_survive_and_a_cut_off_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "rows.jsonl"
    file = RowFile(path, SETTINGS)
    file.add({"seed": 100}, [{"score": 0.1 + 0.2}], seconds=1.0)
    file.add({"seed": 101}, [{"score": 1.0}, {"score": None}], seconds=2.0)
    with path.open("a") as stream:
        stream.write('{"cell":{"seed":102},"rows":[{"sco')
    again = RowFile(path, SETTINGS)
    assert again.rows == [{"score": 0.1 + 0.2}, {"score": 1.0}, {"score": None}]
    assert (again.has({"seed": 101}), again.has({"seed": 102})) == (True, False)
    assert again.seconds == 3.0
    again.add({"seed": 102}, [], seconds=0.0)
    assert RowFile(path, SETTINGS).has({"seed": 102})


def test_rows_of_other_settings_are_not_continued(tmp_path: Path) -> None:
    RowFile(tmp_path / "rows.jsonl", SETTINGS)
    with pytest.raises(OtherSettingsError, match="other settings; choose another --out"):
        RowFile(tmp_path / "rows.jsonl", {**SETTINGS, "seeds": [100]})


def test_reading_rows_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert read_rows(path, SETTINGS) == []
    RowFile(path, SETTINGS).add({"seed": 100}, [{"score": 1.0}], seconds=1.0)
    with path.open("a") as stream:  # as a run that goes on elsewhere leaves it
        stream.write('{"cell":{"seed":102},"rows":[{"sco')
    before = path.read_bytes()
    assert read_rows(path, SETTINGS) == [{"score": 1.0}]
    assert path.read_bytes() == before
    with pytest.raises(OtherSettingsError, match="other settings; choose another --out"):
        read_rows(path, {})


def test_text_is_escaped_and_verdicts_are_marked() -> None:
    line = compared("t", "a < b", "c", "1.0", 3.0, Within(0.1))
    text = page("A & B", "lead", [Section("Part one", [comparison_table("T", [line]), "x > y"])])
    for expected in ("A &amp; B", "a &lt; b", "x &gt; y", "class='text differs'", "id='part-one'"):
        assert expected in text


def test_results_settings_and_orderings_are_counted_apart() -> None:
    lines = [
        compared("tab", "task", "score", "0.5", 0.5, Within(0.02)),
        compared("tab", "task", "score", "0.5", 0.9, Within(0.02)),
        compared("tab", "task", "rows", "4,000", 4000, Given()),
        compared("text", "task", "A is above B", "1", 0.0, Holds()),
        compared("text", "task", "B is above C", "1", None, Holds()),
    ]
    assert counted(lines) == (
        "1 of 2 published results agree, 0 of 1 orderings hold, "
        "1 of 1 settings are equal (by construction)."
    )


def test_which_checkpoint_is_worst_agrees_only_if_it_is_the_same() -> None:
    """A factor wide enough for any checkpoint of the stream would not be a comparison."""
    lines = (ROOT / "results" / "prediction" / "comparison.csv").read_text().splitlines()
    line = next(line for line in lines if "worst checkpoint of all seeds" in line)
    assert "23,404" in line
    assert ",equal,differs," in line
