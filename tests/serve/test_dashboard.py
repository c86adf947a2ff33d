"""The dashboard in a real browser, against a server that runs, ends and comes back."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.serve.browser import CHROMIUM, DRIVER, Browser, until
from tests.serve.serving import Serving

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="no Chromium is installed"),
    pytest.mark.skipif(find_spec("uvicorn") is None, reason="no web server is installed"),
]
TAB = "\ue004"
ENTER = "\ue007"
HOSTILE = "<img src=x onerror=\"document.title='taken over'\">"
CHARTS = ("score", "monitor", "certificate", "stability", "rates")
#: How many pixels of a canvas are inked, and in how many colours.
INK = """
const canvas = document.querySelector(arguments[0] + ' canvas');
if (!canvas || !canvas.width) return [0, 0];
const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const inks = new Uint32Array(data.buffer);
const drawn = inks.filter(ink => ink >>> 24 > 200);
return [drawn.length, new Set(drawn).size];
"""
#: Contrast of the texts with what they stand on, by the formula of WCAG 2.
CONTRASTS = """
const light = name => {
  const told = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  const [r, g, b] = told.match(/[0-9a-f]{2}/gi).map(part => parseInt(part, 16) / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const pairs = 'ink/card ink/ground quiet/card quiet/ground ours/card card/ours bad/card ' +
  'bad/ground ink/badly quiet/badly good/ground';
return pairs.split(' ').map(told => {
  const pair = told.split('/'), [low, high] = pair.map(light).sort((a, b) => a - b);
  return [...pair, (high + 0.05) / (low + 0.05)];
});
"""
#: What can be reached that has no name, or pictures without words.
NAMELESS = """
const named = node => node.getAttribute('aria-label') || node.textContent.trim() ||
  (node.labels && node.labels.length);
const shown = node => node.offsetParent !== null;
return [...document.querySelectorAll('a, button, select, input, [role=img], [tabindex="0"]')]
  .filter(node => shown(node) && !named(node)).map(node => node.outerHTML.slice(0, 120));
"""


@pytest.fixture(scope="module")
def serving() -> Iterator[Any]:
    server = Serving()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with Browser(tmp_path) as opened:
        opened.resize(1400, 1000)
        yield opened
        assert opened.complaints() == []


def show(browser: Browser, serving: Any, model: str) -> None:
    """Open the page anew and wait until it shows a model."""
    browser.open("about:blank")
    browser.open(f"{serving.url}/#{model}")
    until(lambda: rows(browser) > 0, "rows of the model")


def connection(browser: Browser) -> str:
    return str(browser.run("return document.getElementById('connection').dataset.state"))


def figure(browser: Browser, name: str) -> str:
    """One of the figures at the top."""
    both = "[...document.querySelectorAll('#figures div')].map(box => [...box.children])"
    script = f"return {both}.map(cells => cells.map(cell => cell.textContent))"
    return str(dict(browser.run(script)).get(name, ""))


def rows(browser: Browser) -> int:
    told = figure(browser, "rows learned").replace(",", "")
    return int(told) if told.isdigit() else 0


def ink(browser: Browser, selector: str) -> list[int]:
    found: list[int] = browser.run(INK, selector)
    return found


def summary(browser: Browser, name: str) -> str:
    """What a picture tells those who do not see it."""
    script = "return document.querySelector(arguments[0]).getAttribute('aria-label')"
    return str(browser.run(script, f"#{name} .plot"))


def start_of(browser: Browser) -> str:
    """Since when the page knows what happened."""
    return summary(browser, "rates").split(" to ")[0]


@pytest.mark.parametrize("model", ["plant", "grades"])
def test_every_chart_shows_data_that_move(model: str, browser: Browser, serving: Any) -> None:
    show(browser, serving, model)
    until(lambda: min(ink(browser, f"#{name}")[0] for name in CHARTS) > 500, "the charts")
    assert all("now" in summary(browser, name) for name in CHARTS)
    until(lambda: ink(browser, "#embedding")[1] > 20, "the latest rows")
    assert browser.run("return document.querySelectorAll('#inputs .bars li').length") == 6
    seen = rows(browser)
    before = [summary(browser, name) for name in ("rates", "embedding")]
    until(lambda: rows(browser) > seen, "more rows")
    until(lambda: [summary(browser, n) for n in ("rates", "embedding")] != before, "other values")
    assert connection(browser) == "live"
    assert figure(browser, "of the best, proven").startswith("99.")
    assert " rows learned, " in browser.text("#status")


def test_a_model_of_one_component_is_drawn_over_its_rows(browser: Browser, serving: Any) -> None:
    show(browser, serving, "line")
    until(lambda: ink(browser, "#embedding")[1] > 20, "the latest rows")
    script = "return ['across', 'up'].map(id => document.getElementById(id).value)"
    assert browser.run(script) == ["row", "0"]
    assert "keeps no score" in browser.text("#score")
    assert "stability=8" in browser.text("#stability")


def test_names_are_shown_as_text(browser: Browser, serving: Any) -> None:
    show(browser, serving, "plant")
    listed = "return [...document.querySelectorAll('#inputs .name')].map(n => n.textContent)"
    until(lambda: HOSTILE in browser.run(listed), "the name of the column")
    until(lambda: HOSTILE in browser.text("#alarms"), "an alarm that names it")
    browser.choose("#model", "grades")
    until(lambda: "low <b>" in browser.text("#embedding"), "the name of the class")
    assert browser.run("return document.querySelectorAll('main img, main b b').length") == 0
    assert browser.run("return document.title").endswith("okspca")


def test_alarms_are_listed_with_contributions_and_announced(browser: Browser, serving: Any) -> None:
    show(browser, serving, "plant")
    until(lambda: browser.text("#announcer"), "an alarm that comes while the page is open")
    assert "out of control" in browser.text("#announcer")
    live = "document.querySelectorAll('[aria-live], [role=status], [role=alert]')"
    assert browser.run(f"return [...{live}].map(n => n.id)") == ["announcer"]
    buttons = "document.querySelectorAll('#alarms li button')"
    until(lambda: browser.run(f"return {buttons}.length > 1"), "two alarms")
    browser.run(f"{buttons}[1].click()")
    chosen = "return document.querySelector('#alarms li.chosen button').dataset.key"
    alarm = browser.run(chosen)
    seen = rows(browser)
    until(lambda: rows(browser) > seen, "more rows")
    assert browser.run(chosen) == alarm
    assert "out of control" in browser.text("#alarms .chosen-title")


def test_nothing_moves_while_it_pauses(browser: Browser, serving: Any) -> None:
    show(browser, serving, "plant")
    browser.click("#pause")
    seen = rows(browser)
    shown = browser.picture()
    browser.run("return new Promise(done => setTimeout(done, 1500))")
    assert rows(browser) == seen
    assert browser.picture() == shown
    assert "paused" in browser.text("#connection")
    browser.click("#pause")
    until(lambda: rows(browser) > seen, "the rows of now")


def test_light_and_dark(browser: Browser, serving: Any) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    grounds = []
    for theme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=theme)
        show(browser, serving, "grades")
        grounds.append(browser.run(ground))
        poor = [pair for pair in browser.run(CONTRASTS) if pair[2] < 4.5]
        assert poor == []
    assert grounds[0] != grounds[1]
    # A choice outweighs the system, and outlasts the page.
    browser.click("#theme")
    assert "light" in browser.text("#theme")
    assert browser.run(ground) == grounds[0]
    show(browser, serving, "grades")
    assert browser.run(ground) == grounds[0]


def test_everything_is_reached_by_keyboard_and_has_a_name(browser: Browser, serving: Any) -> None:
    show(browser, serving, "plant")
    until(lambda: HOSTILE in browser.text("#alarms"), "alarms")
    browser.click("#pause")
    assert browser.run(NAMELESS) == []
    wanted = browser.run(
        "return [...document.querySelectorAll('a, button, select, [tabindex=\"0\"]')]"
        ".filter(n => n.offsetParent !== null && !n.closest('#alarms')).length"
    )
    browser.run("document.body.tabIndex = -1; document.body.focus(); window.met = new Set()")
    note = (
        "const n = document.activeElement; if (!n.closest('#alarms')) met.add(n);"
        "return [met.size, getComputedStyle(n).outlineStyle, n.className]"
    )
    met = 0
    for _ in range(wanted + 120):
        browser.press(TAB)
        met, outline, name = browser.run(note)
        assert outline != "none", name
        if met >= wanted:
            break
    assert met >= wanted
    browser.run("document.querySelector('#card-score .table').focus()")
    browser.press(ENTER)
    cells = "return [...document.querySelectorAll('#score th')].map(n => n.textContent)"
    assert browser.run(cells) == ["time", "recent rows", "all rows", "baseline"]
    browser.click("#pause")


def test_every_picture_has_a_table(browser: Browser, serving: Any) -> None:
    show(browser, serving, "grades")
    until(lambda: ink(browser, "#stability")[0] > 500, "the charts")
    browser.run("document.querySelectorAll('.head .table').forEach(button => button.click())")
    filled = (
        "return [...document.querySelectorAll('.wide')].map(n => n.querySelectorAll('td').length)"
    )
    assert min(browser.run(filled)) >= 4
    first = "return [...document.querySelectorAll('#embedding td:first-child')]"
    assert set(browser.run(f"{first}.map(n => n.textContent)")) == {
        "low <b>",
        "middle",
        "high",
        "extreme",
    }


@pytest.mark.parametrize("width", [360, 390])
def test_a_phone_needs_no_scrolling_sideways(width: int, browser: Browser, serving: Any) -> None:
    browser.resize(width, 844, mobile=True)
    show(browser, serving, "plant")
    until(lambda: ink(browser, "#score")[0] > 500, "the charts")
    until(lambda: HOSTILE in browser.text("#alarms"), "an alarm with a long name")
    assert browser.run("return document.documentElement.scrollWidth") == width
    wide = (
        "return [...document.querySelectorAll('.card, header *')].filter(node =>"
        "node.getBoundingClientRect().right > arguments[0] + 0.5).map(node => node.outerHTML)"
    )
    assert browser.run(wide, width) == []
    assert browser.run("return document.querySelector('#embedding canvas').clientWidth") <= width


def test_memory_stays_bounded(browser: Browser, serving: Any) -> None:
    show(browser, serving, "plant")
    script = """
    const {Store} = await import('/static/store.js');
    const store = new Store();
    const alarm = i => ({time: i, row: i, statistic: 'spe', sentence: '', inputs: {}});
    for (let i = 0; i < 20000; i++)
      store.take({time: i, rows: i, alarms: Array.from({length: 20}, (_, j) => alarm(i + j))});
    const lengths = Object.values(store.columns).map(column => column.length);
    const times = store.columns.time;
    const found = [Math.max(...lengths), Math.min(...lengths), times[0], times[times.length - 1],
      times.every((time, i) => !i || time > times[i - 1]), store.alarms.length, store.known.size];
    store.take({time: 20010, alarms: [], history: {time: [20001, 20002], rows: [1, 2]}});
    return [...found, store.columns.time, store.columns.rows];
    """
    most, least, first, last, is_ordered, alarms, known, times, numbers = browser.run(script)
    assert most == least <= 600
    assert (first, last, is_ordered) == (0, 19999, True)
    assert alarms == known == 100
    # A server that began anew tells its own history.
    assert (times, numbers) == ([20001, 20002, 20010], [1, 2, None])


def test_only_alarms_that_come_later_are_announced(browser: Browser, serving: Any) -> None:
    show(browser, serving, "plant")
    script = """
    const {Store} = await import('/static/store.js'), store = new Store();
    const alarm = i => ({time: i, row: i, statistic: 'spe', sentence: '', inputs: {}});
    const states = [[1, 2], [1, 2], [1, 2, 3], [2, 3, 4, 5], []];
    return states.map((rows, i) => store.take({time: i, alarms: rows.map(alarm)}).map(a => a.row));
    """
    assert browser.run(script) == [[], [], [3], [4, 5], []]


def test_the_page_comes_back_after_the_server(tmp_path: Path) -> None:
    server = Serving()
    server.start()
    try:
        with Browser(tmp_path) as browser:
            browser.resize(1400, 1000)
            show(browser, server, "grades")
            until(lambda: " to " in summary(browser, "rates"), "a history")
            began, seen = start_of(browser), rows(browser)
            server.stop()
            until(lambda: connection(browser) == "waiting", "word of the loss")
            until(lambda: "reconnecting in" in browser.text("#connection"), "the time to wait")
            assert "as of" in browser.text("#connection")
            assert rows(browser) >= seen  # what was known stays
            assert start_of(browser) == began
            server.start()
            until(lambda: connection(browser) == "live", "the server again")
            until(lambda: start_of(browser) != began, "the history of a server that began anew")
            again = rows(browser)
            until(lambda: rows(browser) > again, "more rows")
            until(lambda: ink(browser, "#score")[0] > 500, "the charts")
            server.delete("grades")
            until(lambda: browser.run("return location.hash") == "#plant", "another model")
            names = "return [...document.querySelectorAll('#model option')].map(n => n.value)"
            assert browser.run(names) == ["plant", "line"]
            server.delete("plant")
            until(lambda: browser.run("return location.hash") == "#line", "the last model")
            server.delete("line")
            until(lambda: "There is no model" in browser.text("#status"), "word of that")
            lost = [text for text in browser.complaints() if "net::ERR" not in text]
            assert [text for text in lost if "404" not in text] == []
    finally:
        server.stop()


def test_who_is_not_known_logs_in_first(tmp_path: Path) -> None:
    server = Serving({"look": "ask", "all": "admin"})
    server.start()
    place = "return location.pathname"
    try:
        with Browser(tmp_path) as browser:
            browser.open(f"{server.url}/#grades")
            until(lambda: browser.run(place) == "/login", "the login page")
            enter(browser, "wrong")
            until(lambda: "not known" in browser.text("#trouble"), "the refusal")
            enter(browser, "look")
            until(lambda: rows(browser) > 0, "the dashboard")
            assert browser.run("return document.getElementById('model').value") == "grades"
            # Rows that were set aside are not for everybody.
            until(lambda: "kept aside" in browser.text("#aside"), "rows set aside")
            assert browser.run("return document.querySelector('#aside a').hidden")
            # Sessions end with the server.
            server.stop()
            server.start()
            until(lambda: browser.run(place) == "/login", "the login page again")
            enter(browser, "all")
            until(lambda: rows(browser) > 0, "the dashboard again")
            until(lambda: "kept aside" in browser.text("#aside"), "rows set aside")
            assert not browser.run("return document.querySelector('#aside a').hidden")
            browser.click("#logout")
            until(lambda: browser.run(place) == "/login", "the login page at the end")
            browser.open(f"{server.url}/")
            until(lambda: browser.run(place) == "/login", "no way back")
            assert [text for text in browser.complaints() if "Content Security" in text] == []
    finally:
        server.stop()


def enter(browser: Browser, token: str) -> None:
    """Type a token."""
    browser.run("document.getElementById('token').value = arguments[0]", token)
    browser.click("#login button")


def test_a_script_of_somebody_else_is_noticed(tmp_path: Path, serving: Any) -> None:
    """The check for complaints can fail: what the policy forbids is on the console."""
    with Browser(tmp_path) as browser:
        show(browser, serving, "plant")
        assert browser.complaints() == []
        browser.run(
            "const planted = document.createElement('script');"
            "planted.textContent = 'document.title = \"taken over\"'; document.body.append(planted)"
        )
        until(lambda: any("Content Security" in text for text in browser.complaints()), "a word")
        assert browser.run("return document.title") != "taken over"


def test_nothing_glides_where_motion_is_not_wanted(browser: Browser, serving: Any) -> None:
    glides = "return getComputedStyle(document.querySelector('.bar')).transitionDuration"
    for wish, duration in (("no-preference", "0.3s"), ("reduce", "0s")):
        browser.prefer(prefers_reduced_motion=wish)
        show(browser, serving, "plant")
        until(lambda: browser.run("return document.querySelector('.bar') !== null"), "bars")
        assert browser.run(glides) == duration


def test_the_address_names_the_model(browser: Browser, serving: Any) -> None:
    show(browser, serving, "plant")
    browser.run("location.hash = '#line'")
    until(lambda: "line" in browser.run("return document.title"), "the other model")
    browser.run("location.hash = '#%'")
    browser.run("location.hash = '#grades'")
    until(lambda: "grades" in browser.run("return document.title"), "the third model")


def test_the_status_in_words(browser: Browser, serving: Any) -> None:
    show(browser, serving, "plant")
    script = """
    const {status, proven, bound} = await import('/static/words.js');
    const state = {rows: 120345, rows_per_second: 2011, time: 1000, monitor: {},
      certificate: {rho_lower: 0.99999949, angle_upper: 1.01e-7}};
    const alarm = {time: 880, statistic: 'spe trend', inputs: {flow: 0.9}};
    return [status(state, []).join(' '), status(state, [alarm])[0],
      status({...state, time: 2000}, [alarm])[0], status({rows: 0, time: 0}, [])[0],
      ...[0.5, 0.9999999999, 1, null].map(proven), ...[0.0101, 2, 0, null].map(bound)];
    """
    told = [text.replace("\xa0", " ") for text in browser.run(script)]
    assert told[:4] == [
        "In control. 120,345 rows learned, 2,011 a second; at least 99.99994 % of the best "
        "objective, proven within 1.1e-7 degrees.",
        "Alarm 2 min ago: trend of SPE, most from flow.",
        "In control.",
        "Waiting for rows.",
    ]
    # Both are rounded to the safe side.
    assert told[4:8] == ["50.0 %", "99.99999 %", "100 %", "–"]
    assert told[8:] == ["0.011", "2", "0", "–"]


def test_the_page_needs_no_other_server(browser: Browser, serving: Any) -> None:
    show(browser, serving, "plant")
    until(lambda: ink(browser, "#score")[0] > 500, "the charts")
    fetched = browser.run("return performance.getEntriesByType('resource').map(e => e.name)")
    assert len(fetched) > 10
    assert [name for name in fetched if not name.startswith((serving.url, "data:"))] == []


def test_the_library_is_vendored_with_its_licence() -> None:
    folder = Path(__file__).parents[2] / "src" / "okspca" / "serve" / "dashboard" / "uplot"
    assert "Permission is hereby granted" in (folder / "LICENSE").read_text(encoding="utf-8")
    assert "uPlot (v1.6.32)" in (folder / "uPlot.iife.min.js").read_text(encoding="utf-8")
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["LICENSE", "uPlot.iife.min.js", "uPlot.min.css"]
