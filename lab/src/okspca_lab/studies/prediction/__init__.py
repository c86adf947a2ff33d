"""The prediction study: six tasks, ten seeds, reduced pipelines, controls, same-target diagnostics.

`tasks` (data and splits) → `methods` (representations) → `protocol` (seeds, probe, score) → `fits`
(one cell of the run) → `results` (rows by name) → `comparison` with `published`, `tables`,
`figures` → `study` (the whole run), reached by `okspca reproduce prediction`.
"""
