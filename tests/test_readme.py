"""The examples in the README run, and its first screen shows what a newcomer needs."""

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_examples_run_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for block in blocks():
        exec(compile(block, str(README), "exec"), names)
    printed = capsys.readouterr().out
    assert "captures at least 0.999999999 of the best objective" in printed
    assert "degrees from the exact subspace" in printed
    assert names["basis"].rank == 2


def test_first_screen() -> None:
    first_screen = README.read_text(encoding="utf-8").splitlines()[:30]
    text = "\n".join(first_screen)
    assert "make demo" in text
    assert "pip install" in text
    assert "docs/images/demo.png" in text
    assert len(blocks()[0].strip().splitlines()) <= 10
    assert (README.parent / "docs/images/demo.png").exists()


def test_it_can_be_read_at_a_sitting() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "lab/README.md"])
def test_links_lead_to_files(page: str) -> None:
    path = README.parent / page
    links = re.findall(r"\]\(([^):#]+)\)", path.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (path.parent / link).exists()] == []
