"""A page needs nothing from elsewhere, and shows text as it was given."""

import base64
import hashlib
import json
import re

from okspca.report.page import Chart, Code, Picture, Section, page
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


def test_nothing_in_the_data_of_a_chart_can_end_it() -> None:
    bad = "</script><img src=x onerror=alert(1)>&"
    chart = Chart(Picture(b"png", "c"), [{"title": bad, "series": [{"name": bad}]}])
    text = page("P", "", [Section("S", [chart])])
    assert bad not in text
    assert "<img src=x" not in text
    data = re.search(r"<script type='application/json'>(.*?)</script>", text)
    assert data is not None
    assert json.loads(data[1])[0]["series"][0]["name"] == bad


def test_a_page_forbids_the_network_and_other_scripts() -> None:
    plain = page("P", "", [Section("S", ["text"])])
    assert "default-src 'none'" in plain
    assert "script-src 'none'" in plain
    chart = page("P", "", [Section("S", [Chart(Picture(b"png", "c"), [])])])
    script = re.findall(r"<script>(.*?)</script>", chart, re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in chart


def test_no_number_is_parted_from_its_sign() -> None:
    assert "<p class='lead'>73&nbsp;% &lt; 80&nbsp;%</p>" in page("P", "73 % < 80 %", [])
