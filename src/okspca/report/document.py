"""One HTML page about a fitted model, in a single file that fetches nothing from a network."""

import hashlib
import math
import shlex
import warnings
from typing import Any

from okspca.diagnostics.stability_picture import draw as draw_stability
from okspca.errors import RankWarning
from okspca.files.fit_options import OPTIONS, words_of
from okspca.files.samples import Sample, profile, target_profile
from okspca.report.inspection import inspect
from okspca.report.page import Code, Part, Picture, Section, page
from okspca.report.pictures.style import file_of
from okspca.report.portrait import PICTURES, Portrait
from okspca.report.provenance import versions
from okspca.report.tables import Table
from okspca.state.streams import DATE, ONE_HOT, StreamRecord

MOST_COLUMNS = 200
NO_ROWS = (
    "No rows were at hand to draw this: name the input files after the model, as in "
    "okspca report model.okspca rows.csv."
)
CAPTIONS = {
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
        Section("The embedding", [pictures["embedding"], *_scores(portrait)]),
        Section("What drives each component", [pictures["relevance"]]),
        Section("How good it is", _worth(told, portrait, pictures)),
        Section("The data", _data(portrait)),
        Section("Settings", [_settings(told)]),
        Section("How to reproduce this", _reproduction(portrait)),
    ]
    rows = f"{told['rows']:,} rows, {told['inputs']} inputs"
    words = f"{len(told['classes'])} classes" if told["classes"] is not None else "a number"
    lead = (
        f"{rows} and {words} as the target {portrait.target!r}: reduced to "
        f"{told['basis']['rank']} supervised component{'s' * (told['basis']['rank'] != 1)}. "
        f"{_sentence(told['basis']['in_words'])}"
    )
    return page(f"okspca report: {portrait.path.name}", lead, sections)


def drawn(portrait: Portrait) -> dict[str, Part]:
    """Draw every picture, or say what it takes."""
    found: dict[str, Part] = {}
    with warnings.catch_warnings():
        # The page itself says how many components there are.
        warnings.simplefilter("ignore", RankWarning)
        for name, draw in PICTURES.items():
            figure = draw(portrait)
            found[name] = NO_ROWS if figure is None else Picture(file_of(figure), CAPTIONS[name])
    return found


def _scores(portrait: Portrait) -> list[Part]:
    """The running scores as a table."""
    found = portrait.scores()
    if found is None:
        return ["Fit with --evaluate to see here how well the components predict new rows."]
    rows = [
        (f"the {portrait.model.n_components} components", f"{found.embedding:.4f}"),
        ("all inputs, not reduced", f"{found.inputs:.4f}"),
        ("nothing but the targets so far", f"{found.neither:.4f}"),
    ]
    title = f"Running {found.measure} over {found.rows:,} rows, predicted before they were learned"
    note = "Each time by the same linear ridge regression, fitted to the rows before."
    return [Table(title, ("predicted from", found.measure), rows, note)]


def _worth(told: dict[str, Any], portrait: Portrait, pictures: dict[str, Part]) -> list[Part]:
    """Certificate, stability, spectrum and course."""
    proof = told["basis"]["certificate"] or {}
    rows = [(name.replace("_", " "), _shown(value)) for name, value in proof.items()]
    parts: list[Part] = [_sentence(line) for line in told["errors"]]
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
    words += ["--missing", record.missing] if record.missing != "raise" else []
    caps = [len(e.categories) for e in record.encodings if e.kind == ONE_HOT]
    words += ["--one-hot", str(max(caps))] if caps else []
    words += ["--dates"] if any(e.kind == DATE for e in record.encodings) else []
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
