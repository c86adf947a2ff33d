"""What a page says about where its numbers come from."""

from okspca.report.provenance import command_line, provenance


def test_provenance_names_versions_and_no_path() -> None:
    told = provenance(command_line(["/opt/x/okspca", "reproduce", "population"]), jobs=1)
    assert told["command"] == "okspca reproduce population"
    assert "numba" in told["versions"]
    assert "took" not in told
