"""What an entry of the journal changes in a ledger: now, or in a replay."""

from okspca.serve.entries import Entry
from okspca.serve.rows import KINDS
from okspca.state.ledger import Ledger


def apply(ledger: Ledger, number: int, entry: Entry) -> None:
    """Change a ledger as an entry says."""
    ledger.applied = number
    for source in entry.forgotten:
        ledger.sources.pop(source, None)
    for source, taken in entry.taken:
        ledger.sources[source] = taken + 1
    ledger.n_inputs = ledger.n_inputs or next(
        (rows.shape[1] for rows in (entry.X, entry.S) if len(rows)), 0
    )
    if len(entry.Y):
        ledger.n_outputs = entry.Y.shape[1]
    if entry.labels:
        ledger.label_kind = KINDS[type(entry.labels[0])]
        ledger.labels |= dict.fromkeys(entry.labels)
    for name in (*entry.labelled, *entry.expired, *entry.evicted):
        del ledger.pending[name]
    ledger.pending |= dict(zip(entry.stored, entry.S, strict=True))
    ledger.n_labelled += len(entry.labelled)
    ledger.n_expired += len(entry.expired)
    ledger.n_evicted += len(entry.evicted)
    ledger.n_set_aside += len(entry.aside)
