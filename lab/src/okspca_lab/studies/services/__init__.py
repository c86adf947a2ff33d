"""The service study: what it costs to supply a basis, and how good, fresh and complete it is.

The way of the data: `plan` lists cells; `cells` times them in processes of their own (passes A0 and
B: `launch`, `process`, `timed`) or walks the streams untimed (pass C: `quality`, `accounting`, and
`selection`, which picks the step of the projected gradient); `results` keeps all rows on disk; the
rest makes tables, figures, the comparison with the paper and the page.
"""
