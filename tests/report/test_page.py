"""A page needs nothing from elsewhere, and shows text as it was given."""

from okspca.report.page import Code, Picture, Section, page
from okspca.report.tables import Table


def test_text_is_escaped() -> None:
    table = Table("T < U", ("a < b", "c"), [("d & e", "1")])
    text = page("A & B", "lead", [Section("Part one", [table, "x > y", Code("f < g")])])
    for expected in ("A &amp; B", "a &lt; b", "d &amp; e", "x &gt; y", "f &lt; g", "T &lt; U"):
        assert expected in text
    assert "id='part-one'" in text
    for raw in ("A & B", "a < b", "d & e", "x > y", "f < g", "T < U"):
        assert raw not in text


def test_pictures_are_in_the_page() -> None:
    text = page("P", "", [Section("S", [Picture(b"png", "it's")])])
    assert "data:image/png;base64,cG5n" in text
    assert "it&#x27;s" in text
