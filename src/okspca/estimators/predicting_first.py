"""Predictors that predict a block before they learn it, and keep the score."""

from typing import Self

from okspca.estimators.building import Rows
from okspca.estimators.okspca import OKSPCA
from okspca.estimators.prequential import PrequentialScore
from okspca.numerics.arrays import Floats
from okspca.pipeline import Pipeline


class PredictingFirst(OKSPCA):
    """A model that predicts every block before it learns it, if asked to."""

    prequential: bool
    _prequential: PrequentialScore

    @property
    def prequential_score_(self) -> float:
        """Score of all blocks that were predicted before they were learned."""
        if "_prequential" not in self.__dict__:
            message = (
                "prequential_score_ exists with prequential=True, once a block was predicted "
                "before it was learned: from the second call of partial_fit on."
            )
            raise AttributeError(message)
        return self._score_of(self._prequential)

    def merge(self, other: Self) -> Self:
        """Pool another model into this one, and its prequential score where this one keeps one."""
        super().merge(other)
        if self.prequential and "_prequential" in other.__dict__:
            mine = self.__dict__.get("_prequential")
            theirs = other._prequential
            self._prequential = theirs if mine is None else mine.pooled(theirs)
        return self

    def _is_lean(self) -> bool:
        """Whether nothing but the pipeline has to see a row."""
        return super()._is_lean() and not self.prequential

    def _run(self, pipeline: Pipeline, rows: Rows) -> None:
        """Predict admitted rows, then learn them."""
        if not self.prequential or not len(rows):
            super()._run(pipeline, rows)
            return
        actual, errors = self._errors(pipeline, rows)
        before = self.__dict__.get("_prequential") or PrequentialScore.empty(actual.shape[1])
        after = before.after(actual, errors, rows.weights)
        super()._run(pipeline, rows)
        self._prequential = after

    def _errors(self, pipeline: Pipeline, rows: Rows) -> tuple[Floats, Floats]:
        """Actual values of rows and errors of their prediction, one column per output."""
        raise NotImplementedError

    def _score_of(self, sums: PrequentialScore) -> float:
        """Turn sums over rows into a score."""
        raise NotImplementedError
