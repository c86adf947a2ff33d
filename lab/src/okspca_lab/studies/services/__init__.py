"""The service study: what it costs to supply a basis, and how good, fresh and complete it is.

The way of the data: `plan` lists cells; `timed`, `process` and `launch` time them in processes of
their own (passes A0 and B); `quality` walks the streams untimed (pass C) and `accounting` counts;
`selection` picks the step of the projected gradient; `study` keeps all rows on disk; the rest makes
tables, figures, the comparison with the paper and the page.
"""
