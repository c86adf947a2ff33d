"""Every public way of reading a model, and models to read while they learn.

``python -m tests.threads.readings --answers 100000`` compares so many answers with a replay and
writes a tally.
"""

import argparse
import json
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import RandomState

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.comparators import CCIPCA, CIPLS, OneVsRestReducer, Unreduced
from okspca.errors import NotReadyError
from okspca.moments import CrossMoment
from okspca.numerics.arrays import Floats
from tests.contracts.fingerprint import fingerprint
from tests.threads.meeting import answers_of

PROBE = RandomState(99).normal(size=(4, 4))
#: By name: the attribute that a model must have to be asked, and how it is asked.
READINGS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    **{
        name: (name, methodcaller(name, PROBE))
        for name in ("transform", "predict", "predict_proba", "decision_function")
    },
    **{
        name: (name, methodcaller(name, PROBE[0]))
        for name in ("transform_one", "predict_one", "predict_proba_one")
    },
    **{
        name: (name, methodcaller(name))
        for name in (
            *("basis", "diagnose", "estimate_stability", "error_lines", "solver_health"),
            *("to_bytes", "get_feature_names_out"),
        )
    },
    **{
        name: (name, attrgetter(name))
        for name in (
            *("components_", "singular_values_", "classes_", "n_samples_seen_", "task_"),
            *("input_map_", "target_map_", "relevance_", "prequential_score_"),
            *("input_standardizer_", "target_standardizer_", "mean_", "explained_variance_"),
        )
    },
    "maintained basis": ("basis", lambda model: model.basis(kind="maintained")),
    "uncertified basis": ("basis", lambda model: model.basis(certify=False)),
    "moment": ("moment_", lambda model: _content(model.moment_)),
}
BLOCKS = (1, 1, 7, 1, 3, 20, 1, 1, 33, 2)


@dataclass(frozen=True)
class Scene:
    """A model with a stream that it learns while others read."""

    make: Callable[[], Any]
    labels: bool
    start: int = 40
    n: int = 240

    @property
    def X(self) -> Any:  # noqa: N802 - the letter it has in the maths
        """Inputs."""
        return RandomState(5).normal(size=(self.n, 4))

    @property
    def y(self) -> Any:
        """Responses, or classes of which one comes late."""
        f = np.sin(self.X[:, 0]) + self.X[:, 1] ** 2
        if not self.labels:
            return f
        classes = np.digitize(f, [0.3, 1.2])
        classes[self.start + 60 :: 5] = 3
        return classes

    def begun(self) -> Any:
        """A model that has learned the first rows."""
        model, X, y = self.make(), self.X[: self.start], self.y[: self.start]
        declared = {"classes": [0, 1, 2, 3]} if isinstance(model, OneVsRestReducer) else {}
        return model.partial_fit(X, y, **declared)

    def go_on(self, model: Any, after: Callable[[], None] = lambda: None) -> None:
        """Learn the rest in blocks of all sizes, some of them rows of their own."""
        X, y = self.X, self.y
        places, turn = [self.start], 0
        while places[-1] < self.n:
            places.append(min(places[-1] + BLOCKS[turn % len(BLOCKS)], self.n))
            turn += 1
        for start, stop in pairwise(places):
            if stop - start == 1 and hasattr(model, "learn_one"):
                model.learn_one(X[start], y[start].item())
            else:
                model.partial_fit(X[start:stop], y[start:stop])
            after()


SMALL: dict[str, Any] = {"n_random_features": 24, "random_state": 0}
SEARCHING = {"start": 480, "n": 560}
SCENES = {
    "number": Scene(lambda: OKSPCA(2, **SMALL, stability=4), labels=False),
    "labels": Scene(lambda: OKSPCA(2, **SMALL, align=True), labels=True),
    "adam": Scene(lambda: OKSPCA(2, **SMALL, solver="adam"), labels=True),
    "window": Scene(lambda: OKSPCA(2, **SMALL, window=64), labels=False),
    "whitened": Scene(lambda: OKSPCA(2, **SMALL, objective="whitened", stability=4), labels=True),
    "held back": Scene(lambda: OKSPCA(2, **SMALL, bandwidth="median"), labels=False, **SEARCHING),
    "relevance": Scene(lambda: OKSPCA(1, **SMALL, frequencies="scaled"), labels=False, **SEARCHING),
    "mixed": Scene(
        lambda: OKSPCA(1, **SMALL, frequencies="mixed", objective="whitened", pilot_rows=530),
        labels=False,
        **SEARCHING,
    ),
    "trained": Scene(
        lambda: OKSPCA(1, **SMALL, frequencies="trained", pilot_rows=530), labels=True, **SEARCHING
    ),
    "regressor": Scene(lambda: OKSPCARegressor(2, **SMALL, prequential=True), labels=False),
    "classifier": Scene(lambda: OKSPCAClassifier(3, **SMALL, prequential=True), labels=True),
    "classifier with relevance": Scene(
        lambda: OKSPCAClassifier(3, **SMALL, frequencies="scaled", prequential=True),
        labels=True,
        **SEARCHING,
    ),
    "cipls": Scene(lambda: CIPLS(2, **SMALL), labels=False),
    "ccipca": Scene(lambda: CCIPCA(2, **SMALL), labels=False),
    "one-vs-rest": Scene(lambda: OneVsRestReducer(CIPLS(2, **SMALL), random_state=0), labels=True),
    "unreduced": Scene(lambda: Unreduced(**SMALL), labels=False),
}


def read(model: Any, name: str) -> tuple[str, str]:
    """Fingerprint of an answer; of its message, where the model says that it has none yet."""
    try:
        answer = READINGS[name][1](model)
    except (AttributeError, NotReadyError) as failure:
        answer = str(failure)
    return name, fingerprint(answer)


def answers_while_learning(scene: Scene) -> list[tuple[str, str]]:
    """Fingerprints of what four readers were told while a model learned."""
    model, turns = scene.begun(), threading.local()
    names = readings_of(model)

    def ask() -> tuple[str, str]:
        # Each reader begins elsewhere, so that all kinds of questions meet.
        turns.next = getattr(turns, "next", threading.get_ident()) + 1
        return read(model, names[turns.next % len(names)])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers: list[tuple[str, str]] = answers_of(lambda: scene.go_on(model), ask)
    return answers


def answers_of_a_replay(scene: Scene) -> set[tuple[str, str]]:
    """Fingerprints of all that may be told: every reading after every call."""
    model = scene.begun()
    known: set[tuple[str, str]] = set()

    def ask() -> None:
        known.update(read(model, name) for name in readings_of(model))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ask()
        scene.go_on(model, ask)
    return known


def readings_of(model: Any) -> list[str]:
    """Names of the readings that a model has, by now or later."""
    return [name for name, (needed, _) in READINGS.items() if hasattr(type(model), needed)]


def _content(moment: CrossMoment) -> tuple[Floats, ...]:
    """What a moment holds."""
    return moment.matrix(), *moment.means()


def main() -> None:
    """Let threads ask until there are answers enough, and count those that no replay gives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=None, help="folder of the tally")
    arguments = parser.parse_args()
    known = {name: answers_of_a_replay(scene) for name, scene in SCENES.items()}
    tally = {name: {"answers": 0, "of no replay": 0} for name in SCENES}
    while sum(counts["answers"] for counts in tally.values()) < arguments.answers:
        for name, scene in SCENES.items():
            answers = answers_while_learning(scene)
            tally[name]["answers"] += len(answers)
            tally[name]["of no replay"] += sum(answer not in known[name] for answer in answers)
        print(tally, flush=True)
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "threads.json").write_text(json.dumps(tally, indent=1) + "\n")


if __name__ == "__main__":
    main()
