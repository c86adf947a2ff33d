"""A table on a page, in Markdown and in a terminal."""

from okspca.report.tables import Table


def test_a_table_has_three_faces() -> None:
    table = Table("T", ("name", "value", "word"), [("a", "1", "w")], note="Note.", words=(2,))
    assert "| --- | ---: | --- |" in table.markdown()
    assert "Note." in table.markdown()
    assert "<td class='text'>a</td><td>1</td>" in table.html()
    assert len(table.rich().columns) == 3
