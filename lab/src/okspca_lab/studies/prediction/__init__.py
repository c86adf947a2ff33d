"""The prediction study: six tasks, ten seeds, reduced pipelines, controls, same-target diagnostics.

`tasks` (data and splits) → `methods` (representations) → `protocol` (seeds, probe, score) → `fits`
and experiments (parts of the run) → `plan`, `cells` (the run) → `results` (rows by name) →
`compare` with `published`, `tables`, `figures` → `page`.  `beyond` goes past the paper.
"""
