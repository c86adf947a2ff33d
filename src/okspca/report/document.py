"""One HTML page about a fitted model, in a single file that fetches nothing from a network."""

import hashlib
import math
import shlex
import warnings
from typing import Any

from matplotlib.figure import Figure

from okspca.diagnostics.stability_picture import draw as draw_stability
from okspca.errors import RankWarning
from okspca.files.comparison import Scores
from okspca.files.fit_options import OPTIONS, words_of
from okspca.files.samples import Sample, profile, target_profile
from okspca.files.verdict import (
    NOT_EVALUATED,
    NOT_SCORED,
    Setting,
    in_words,
    left_out,
    method_names,
    other_words,
)
from okspca.report.charts import Plot, levels_chart
from okspca.report.inspection import inspect
from okspca.report.page import Chart, Code, Part, Picture, Section, page
from okspca.report.pictures.levels import draw_levels
from okspca.report.pictures.style import file_of
from okspca.report.portrait import PICTURES, Portrait, charts
from okspca.report.provenance import versions
from okspca.report.tables import Table
from okspca.state.streams import DATE, ONE_HOT, StreamRecord

MOST_COLUMNS = 200
NO_ROWS = (
    "No rows were at hand to draw this: name the input files after the model, as in "
    "okspca report model.okspca rows.csv."
)
ABOUT_EXACTNESS = (
    "This section is not about usefulness. It says how exactly the stated objective was solved (a "
    "proof about arithmetic: a useless one can be solved exactly too) and, where that was asked "
    "for, how far other rows of the same kind would move the answer (an estimate)."
)
CAPTIONS = {
    "levels": (
        "How well more or fewer components of the same objective predict, each time by the same "
        "linear readout."
    ),
    "embedding": "Rows in the coordinates of the embedding. The model may have learned these rows.",
    "spectrum": "Singular values of the cross-moment between features of inputs and of the target.",
    "quality": "How things stood on the way through the stream.",
    "relevance": (
        "Root mean square of the derivative of each component by each standardised input, in "
        "standard deviations of the component."
    ),
}
MISSING_WORDS = {
    "raise": "stop the run",
    "skip": "their rows are left out",
    "impute": "filled in with the mean so far",
}


def report(portrait: Portrait) -> str:
    """Write the page."""
    told = inspect(portrait.path)
    pictures = drawn(portrait)
    sections = [
        Section("Does it help?", _help(portrait)),
        Section("The embedding", [pictures["embedding"]]),
        Section("What drives each component", [pictures["relevance"]]),
        Section("Exactness and reproducibility", _worth(told, portrait, pictures)),
        Section("The data", _data(portrait)),
        Section("Settings", [_settings(told)]),
        Section("How to reproduce this", _reproduction(portrait)),
    ]
    return page(f"okspca report: {portrait.path.name}", opening(portrait), sections)


def opening(portrait: Portrait) -> str:
    """The verdict: whether the reduction helps, by how much, and whether k is enough."""
    found = portrait.scores()
    if found is not None:
        return in_words(found, portrait.setting)
    record = portrait.record
    return NOT_EVALUATED if record is None or record.evaluation is None else NOT_SCORED


def drawn(portrait: Portrait) -> dict[str, Part]:
    """Draw every picture, or say what it takes."""
    found: dict[str, Part] = {}
    with warnings.catch_warnings():
        # The page itself says how many components there are.
        warnings.simplefilter("ignore", RankWarning)
        plots = charts(portrait)
        for name, draw in PICTURES.items():
            figure = draw(portrait)
            found[name] = NO_ROWS
            if figure is not None:
                found[name] = _figure(figure, CAPTIONS[name], plots.get(name, []))
    return found


def _figure(figure: Figure, caption: str, plots: list[Plot]) -> Part:
    """A picture, with its data where there are any."""
    picture = Picture(file_of(figure), caption)
    return Chart(picture, plots) if plots else picture


def _help(portrait: Portrait) -> list[Part]:
    """What was compared, in a table and by the number of components."""
    found, record = portrait.scores(), portrait.record
    parts: list[Part] = [_model_words(portrait), other_words(found, portrait.model)]
    if found is None:
        if record is not None and record.inputs:
            command = fit_command(portrait)
            words = command if "--evaluate" in command else f"{command} --evaluate"
            parts += ["This command fits the same model and evaluates it:", Code(words)]
        return parts
    setting = portrait.setting
    parts.append(_comparison(found, portrait, setting))
    if found.levels:
        figure = draw_levels(found, setting.k, setting.most)
        plots = levels_chart(found, setting.k, setting.most)
        parts.append(_figure(figure, CAPTIONS["levels"], plots))
    return parts


def _model_words(portrait: Portrait) -> str:
    """Say what was reduced to what."""
    model = portrait.model
    classes = len(model.classes_) if portrait.classes else 0
    target = f"one of {classes} classes" if classes else "a number"
    rank, columns = model.basis().rank, f"{model.n_features_in_:,} inputs"
    n_inputs = model.input_map_.n_inputs
    if n_inputs != model.n_features_in_:
        columns += f", each with another that tells where it was missing ({n_inputs:,} in all)"
    return (
        f"The model has learned {model.n_samples_seen_:,} rows of {columns}; "
        f"its target, {portrait.target!r}, is {target}. It delivers {rank} supervised "
        f"component{'s' * (rank != 1)} of {model.n_components_} asked for."
    )


def _comparison(found: Scores, portrait: Portrait, setting: Setting) -> Table:
    """Scores of all methods, best first, with the differences from the embedding."""
    names, rows = method_names(found, setting), []
    for name, entry in sorted(found.entries.items(), key=lambda pair: -pair[1].score):
        gap, own = entry.above_embedding, name == "embedding"
        apart = "–" if own else f"{gap.size:+.3f} ± {2.0 * gap.error:.3f}"
        balanced = () if entry.balanced is None else (f"{entry.balanced:.3f}",)
        # Rounded first, so that nothing is written as a negative zero.
        score = f"{round(entry.score, 3) + 0.0:.3f}"
        rows.append((names[name], score, *balanced, apart))
    more = ("mean over classes",) if portrait.classes else ()
    header = ("predicted from", found.measure, *more, "beside this model")
    how = ", predicted before they were learned"
    if portrait.held_out is not None:
        left = portrait.held_out.left_out
        how = " that the model has not learned" + (f"; {left:,} left out" if left else "")
    title = f"{found.measure.capitalize()} over {found.rows:,} rows{how}"
    note = (
        "Each time by the same linear readout, fitted to the rows before. Differences are given "
        f"with twice their standard error. {left_out(found)}"
    )
    return Table(title, header, rows, note.strip())


def _worth(told: dict[str, Any], portrait: Portrait, pictures: dict[str, Part]) -> list[Part]:
    """Certificate, stability, spectrum and course."""
    proof = told["basis"]["certificate"] or {}
    rows = [(name.replace("_", " "), _shown(value)) for name, value in proof.items()]
    parts: list[Part] = [ABOUT_EXACTNESS, *(_sentence(line) for line in told["errors"])]
    if rows:
        parts.append(Table("Certificate: proven for the rows seen", ("what", "value"), rows))
    parts += [pictures["spectrum"], pictures["quality"]]
    stability = portrait.stability()
    if stability is not None:
        caption = "Estimated distance to the population's subspace. An estimate, not a proof."
        parts += [Picture(file_of(draw_stability(stability)), caption)]
    return parts


def _data(portrait: Portrait) -> list[Part]:
    """Where the rows came from and what they hold."""
    parts: list[Part] = []
    if portrait.record is not None:
        parts.append(_stream_table(portrait.record))
    if portrait.sample is None:
        return [*parts, NO_ROWS]
    return [*parts, _column_table(portrait.sample, portrait.record), _target_table(portrait)]


def _stream_table(record: StreamRecord) -> Table:
    """What was read."""
    rows = [
        ("inputs", ", ".join(record.inputs) or "merged models"),
        ("target column", record.target),
        ("rows read", f"{record.rows_read:,}"),
        ("rows left out", f"{record.rows_skipped:,}"),
        ("values filled in", f"{record.values_imputed:,}"),
        ("missing values", MISSING_WORDS[record.missing]),
    ]
    return Table("What was read", ("what", "value"), rows, words=(1,))


def _column_table(sample: Sample, record: StreamRecord | None) -> Table:
    """What each input column holds."""
    found = profile(sample)
    rows = [
        (c.name, f"{c.missing:,}", *(_shown(v) for v in (c.mean, c.sd, c.least, c.most)))
        for c in found[:MOST_COLUMNS]
    ]
    note = "" if len(found) <= MOST_COLUMNS else f"{len(found) - MOST_COLUMNS} more are left out."
    kinds = {e.kind for e in record.encodings} if record is not None else set()
    if ONE_HOT in kinds:
        note += " Names with = are indicators of the most frequent values of a text column."
    if DATE in kinds:
        note += " Dates are days since 1970."
    title = f"Input columns in the first {len(sample.X):,} rows"
    return Table(title, ("column", "missing", "mean", "sd", "least", "most"), rows, note.strip())


def _target_table(portrait: Portrait) -> Table:
    """How the target is distributed."""
    assert portrait.sample is not None
    counted = target_profile(portrait.sample, portrait.classes)
    total = max(sum(count for _, count in counted), 1)
    rows = [(name, f"{count:,}", f"{100.0 * count / total:.1f} %") for name, count in counted]
    return Table(f"Target {portrait.target!r} in these rows", ("value", "rows", "share"), rows)


def _settings(told: dict[str, Any]) -> Table:
    """All parameters of the model."""
    rows = [(name, str(value)) for name, value in told["parameters"].items()]
    return Table("Parameters", ("name", "value"), rows, words=(1,))


def _reproduction(portrait: Portrait) -> list[Part]:
    """The command, the file's digest and the versions."""
    digest = hashlib.sha256(portrait.path.read_bytes()).hexdigest()
    lines = [f"{portrait.path.name}: SHA-256 {digest}", versions()]
    if portrait.record is None or not portrait.record.inputs:
        return ["The model was made in Python or merged from others.", Code("\n".join(lines))]
    command = fit_command(portrait)
    return [
        "The same command, inputs and versions end in the same bytes.",
        Code("\n".join([command, "", *lines])),
    ]


def fit_command(portrait: Portrait) -> str:
    """The command that makes this model again."""
    record = portrait.record
    assert record is not None
    words = ["okspca", "fit", *record.inputs, "--target", record.target]
    words += ["--out", portrait.path.name]
    for name in record.columns:
        words += ["--columns", name]
    for name, option in OPTIONS.items():
        value = portrait.model.get_params()[name]
        words += words_of(name, value) if value != option.default else []
    # In files of earlier versions only the record knows.
    told = ("raise", portrait.model.missing)
    words += ["--missing", record.missing] if record.missing not in told else []
    caps = [len(e.categories) for e in record.encodings if e.kind == ONE_HOT]
    words += ["--one-hot", str(max(caps))] if caps else []
    words += ["--dates"] if any(e.kind == DATE for e in record.encodings) else []
    words += record.flags
    words += ["--evaluate"] if record.evaluation is not None else []
    return shlex.join(words)


def _shown(value: Any) -> str:
    """A number with few digits; what is unknown is a dash."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float):
        # A lower bound just below one must not be rounded up to it.
        is_near_one = 0.0 < 1.0 - value < 1e-3
        return f"1 − {1.05 * (1.0 - value):.1e}" if is_near_one else f"{value:.4g}"
    return str(value)


def _sentence(words: str) -> str:
    """Begin with a capital letter and end with a full stop."""
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."
