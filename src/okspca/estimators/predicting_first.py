"""Predictors that predict a block before they learn it, and keep the score."""

from functools import reduce
from typing import Any, TypeGuard

from okspca.estimators.building import Rows
from okspca.estimators.learned import SCORE, Record
from okspca.estimators.okspca import OKSPCA
from okspca.estimators.prequential import PrequentialScore
from okspca.numerics.arrays import Floats
from okspca.pipeline import Pipeline, PipelineState


class PredictingFirst(OKSPCA):
    """A model that predicts every block before it learns it, if asked to."""

    prequential: bool

    @property
    def prequential_score_(self) -> float:
        """Score of all blocks that were predicted before they were learned."""
        score = None if self._learned is None else self._learned.score
        if score is None:
            message = (
                "prequential_score_ exists with prequential=True, once a block was predicted "
                "before it was learned: from the second call of partial_fit on."
            )
            raise AttributeError(message)
        return self._score_of(score)

    def _merged_companions(self, mine: PipelineState, theirs: PipelineState) -> dict[str, Any]:
        """Merge the prequential scores, where this model keeps one."""
        scores = [p.companions[SCORE] for p in (mine, theirs) if SCORE in p.companions]
        if not self.prequential or not scores:
            return {}
        return {SCORE: reduce(PrequentialScore.merged, scores)}

    def _suffices(self, pipeline: Pipeline | None) -> TypeGuard[Pipeline]:
        """Whether the pipeline alone has to see a row."""
        return super()._suffices(pipeline) and not self.prequential

    def _run(self, learned: Record, rows: Rows, **companions: Any) -> None:
        """Predict admitted rows, then learn them."""
        pipeline = learned.pipeline
        if self.prequential and len(rows) and pipeline is not None:
            actual, errors = self._errors(pipeline, rows)
            before = pipeline.state.companions.get(SCORE) or PrequentialScore.empty(actual.shape[1])
            companions[SCORE] = before.after(actual, errors, rows.weights)
        super()._run(learned, rows, **companions)

    def _errors(self, pipeline: Pipeline, rows: Rows) -> tuple[Floats, Floats]:
        """Actual values of rows and errors of their prediction, one column per output."""
        raise NotImplementedError

    def _score_of(self, sums: PrequentialScore) -> float:
        """Turn sums over rows into a score."""
        raise NotImplementedError
