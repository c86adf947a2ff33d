"""Modules of engines that are not installed hold no examples that could run."""

from importlib.util import find_spec

ENGINES = {"dask": "dask", "spark": "pyspark", "river": "river"}
collect_ignore = [
    "src/okspca/moved",  # importing a former name warns
]
collect_ignore += [
    f"src/okspca/distributed/{name}.py"
    for name, engine in ENGINES.items()
    if find_spec(engine) is None
]
