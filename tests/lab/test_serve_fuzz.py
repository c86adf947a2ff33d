"""Bad requests, some hundred of them; the ordeal sends a hundred thousand."""

from pathlib import Path

import pytest

from okspca_lab.ordeals.any_http import Reply
from okspca_lab.ordeals.serve_fuzz import MOST_GROWTH, Size, faults, grown, run
from okspca_lab.ordeals.serve_requests import Shot, Shots


def test_bad_requests_leave_a_service_as_it_was(tmp_path: Path) -> None:
    tally = run(range(600), tmp_path)
    assert tally.failures == []
    assert tally.requests == 600
    assert tally.learned.total() > 8
    assert {200, 400, 401, 403, 404, 422} <= tally.statuses.keys()


def test_a_request_is_made_from_its_number() -> None:
    shots = Shots(0)
    assert [shots.shot(n) for n in range(200)] == [Shots(0).shot(n) for n in range(200)]
    assert shots.shot(1) != Shots(1).shot(1)


@pytest.mark.parametrize(
    ("role", "status", "body", "why"),
    [
        ("admin", 500, b'{"error": "Oh."}', "status 500"),
        ("admin", 503, b'{"error": "Oh."}', "status 503"),
        ("", 200, b"{}", "without a token"),
        ("", 404, b'{"error": "Oh."}', "without a token"),
        ("ask", 400, b"oh", "no JSON"),
        ("ask", 400, b'{"error": ""}', "no sentence"),
        ("ask", 400, b'{"error": "a\\nb"}', "no sentence"),
        ("ask", 400, b'{"error": "see /srv/okspca/plant"}', "too much"),
    ],
)
def test_a_wrong_answer_is_noticed(role: str, status: int, body: bytes, why: str) -> None:
    shot = Shot("asked", b"", role, "/models")
    assert why in " ".join(faults(shot, Reply(status, "", body), "/srv/okspca"))


def test_growth_is_noticed() -> None:
    sizes = [Size(10, 9, 9)] * 20
    assert grown(sizes) == []
    for last in (Size(MOST_GROWTH + 11, 9, 9), Size(10, 12, 9), Size(10, 9, 12)):
        assert len(grown([*sizes, last])) == 1
