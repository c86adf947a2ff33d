"""A search for the input map, on disk: where it stands, and the rows that are kept for it."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from okspca.estimators.intake import Intake
from okspca.estimators.map_search import FACTORS, MapSearch
from okspca.estimators.presets import asked_of, frequencies_of
from okspca.estimators.rows_form import read_rows, write_rows
from okspca.features import CosineMap
from okspca.features.ladder import DRAWN, MIXED, RUNGS, SCALED, Place
from okspca.pipeline import PipelineState
from okspca.state.fields import Sink, Source
from okspca.state.front_ends import MAPS
from okspca.state.pipelines import Shared, read_pipeline, write_pipeline

#: What only a search has that was begun again.
FRESH = ("began_at", "rows_before")


def write_search(sink: Sink, search: MapSearch, shared: Shared) -> None:
    """Write what is known about the map, which is the one of the pipeline, and the rows kept."""
    place = search.place
    sink.put("known", place.relevance is not None)
    sink.put("is_final", search.is_final)
    sink.put("rung", place.rung)
    sink.put("pilot_rows", search.pilot_rows)
    sink.array("scales", place.scales)
    if place.factor != 1.0:
        sink.put("factor", place.factor)
    if place.n_components is not None:
        sink.put("n_components", place.n_components)
    if place.relevance is not None:
        sink.array("relevance", place.relevance)
    sink.put("mixes", place.mixture is not None)
    if place.mixture is not None:
        sink.array("mixture", place.mixture)
    for name in FRESH:
        if getattr(search, name):
            sink.put(name, getattr(search, name))
    if search.is_final and search.drawn is not None:
        MAPS.write(sink.inside("drawn"), search.drawn)
    if search.blank is not None:
        blank = copy.copy(search.blank)
        blank.target_map = shared.labels or blank.target_map
        write_pipeline(sink.inside("blank"), blank, shared)
        sink.put("climbed_at", search.climbed_at)
        # As one block: how the rows were cut must not tell.
        sink.put("n_blocks", 1 if search.held else 0)
        if search.held:
            first, *more = search.held
            write_rows(sink, "0", first.followed_by(*more))


def read_search(
    source: Source, shared: Shared, pipeline: PipelineState, intake: Intake, model: Any
) -> MapSearch:
    """Read a search that accompanies a pipeline."""
    feature_map, top = pipeline.input_map, frequencies_of(model)
    if not isinstance(feature_map, CosineMap):
        return source.refuse("rung", "of another map")
    known, is_final = source.flag("known"), source.flag("is_final")
    place, pilot_rows = _read_place(source, feature_map, int(model.pilot_rows), top)
    if known:
        place = place._replace(relevance=source.array("relevance", (feature_map.n_inputs,)))
        if place.relevance is not None and place.relevance.min() < 0.0:
            source.refuse("known", "negative")
    place = _read_choices(source, place, pipeline)
    drawn = _read_drawn(source, feature_map)
    search = MapSearch(None, place, top, pilot_rows, asked=asked_of(model), drawn=drawn)
    if not is_final:
        blank = read_pipeline(source.inside("blank"), shared)
        if blank.rows or not _is_drawn_alike(blank, pipeline):
            source.refuse("blank", "not blank")
        n_blocks, n_inputs = source.count("n_blocks"), feature_map.n_inputs
        held = (read_rows(source, str(number), n_inputs, intake) for number in range(n_blocks))
        search = replace(search, blank=blank, held=tuple(held), drawn=None)
        search = replace(search, climbed_at=_read_last_climb(source, search))
        if search.n_held > pipeline.rows:
            source.refuse("n_blocks", n_blocks)
    began_at, rows_before = (source.count(n) if n in source.names() else 0 for n in FRESH)
    search = replace(search, began_at=began_at, rows_before=rows_before)
    if search.began_at > pipeline.rows + search.rows_before:
        source.refuse("began_at", search.began_at)
    source.close()
    return search


def _read_choices(source: Source, place: Place, pipeline: PipelineState) -> Place:
    """Read what rows have chosen beside the map, if anything."""
    factor, n_components = 1.0, None
    if "factor" in source.names():
        factor = source.number("factor")
    if "n_components" in source.names():
        n_components = source.count("n_components", least=1)
        if n_components != pipeline.n_components:
            source.refuse("n_components", n_components)
    if factor not in (1.0, *FACTORS):
        source.refuse("factor", factor)
    return place._replace(factor=factor, n_components=n_components)


def _read_drawn(source: Source, used: CosineMap) -> CosineMap | None:
    """Read the map as drawn, where it is another one than the map in use and was kept."""
    if not source.is_object("drawn"):
        return None
    drawn = MAPS.read(source.inside("drawn"))
    shapes = [(one.n_inputs, one.n_features) for one in (drawn, used)]
    if type(drawn) is not type(used) or shapes[0] != shapes[1]:
        return source.refuse("drawn", "of another shape")
    return drawn


def _read_last_climb(source: Source, search: MapSearch) -> int:
    """Read after which row the last climb was due that was made; none was put off at first."""
    passed = (0, *(row for row in search.times if row <= search.n_held))
    climbed_at = source.count("climbed_at") if "climbed_at" in source.names() else passed[-1]
    # After the last climb there is no search.
    if climbed_at not in passed or climbed_at == search.times[-1]:
        source.refuse("climbed_at", climbed_at)
    return climbed_at


def _is_drawn_alike(blank: PipelineState, pipeline: PipelineState) -> bool:
    """Whether a pipeline could have come from this one by learning another map."""
    drawn, used = blank.input_map, pipeline.input_map
    return type(drawn) is type(used) and (drawn.n_inputs, drawn.n_features) == (
        used.n_inputs,
        used.n_features,
    )


def _read_place(
    source: Source, feature_map: CosineMap, pilot_rows: int, top: str
) -> tuple[Place, int]:
    """Read where the search stands, and how many rows it may keep."""
    d = feature_map.n_inputs
    if "rung" not in source.names():  # written when scales or mixtures were all there was
        scales = source.array("scales", (d, d) if top == MIXED else (d,))
        if scales.ndim == 2:
            rung = DRAWN if np.array_equal(scales, np.eye(d)) else MIXED
            return Place(feature_map, rung, np.ones(d), scales), pilot_rows
        rung = DRAWN if (scales == 1.0).all() else SCALED
        return Place(feature_map, rung, scales), pilot_rows
    rung, pilot_rows = source.text("rung"), source.count("pilot_rows", least=1)
    if rung not in RUNGS[: RUNGS.index(top) + 1]:
        source.refuse("rung", rung)
    scales = source.array("scales", (d,))
    mixture = source.array("mixture", (d, d)) if source.flag("mixes") else None
    return Place(feature_map, rung, scales, mixture), pilot_rows
