"""Whatever is asked while another thread learns is answered from one state, and a true one."""

import pytest

from tests.threads.readings import SCENES, answers_of_a_replay, answers_while_learning


@pytest.mark.parametrize("name", SCENES)
def test_every_answer_is_one_of_a_replay(name: str) -> None:
    scene = SCENES[name]
    known, answers = answers_of_a_replay(scene), answers_while_learning(scene)
    assert len({reading for reading, _ in answers}) > 1
    assert {reading for reading, digest in answers if (reading, digest) not in known} == set()
