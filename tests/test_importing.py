"""Importing okspca, all of it, changes nothing in other libraries or in the process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from okspca_lab.bench.plain import EXAMPLE

#: Imports every module that can be imported here, and notes which others that brought in.
IMPORT_ALL = """
import json, pkgutil, sys
from importlib import import_module
import okspca

def import_all():
    for module in pkgutil.walk_packages(okspca.__path__, "okspca."):
        if not module.name.endswith("__main__"):
            try:
                import_module(module.name)
            except ImportError:  # an engine that is not installed
                pass
"""
LIST_OTHERS = """
import_all()
print(json.dumps([name for name in sys.modules if name.partition(".")[0] != "okspca"]))
"""
COMPARE = """
import gc, locale, logging, os, random, signal, warnings
for name in json.load(sys.stdin):
    try:
        import_module(name)
    except Exception:  # an alias that a package made for itself
        pass
import matplotlib, numba, numpy as np, sklearn
from numba.core import event
from threadpoolctl import threadpool_info

def state():
    settings = {name: value for name, value in vars(numba.config).items() if name.isupper()}
    signals = [signal.getsignal(number) for number in signal.valid_signals()]
    loggers = {name: (logging.getLogger(name).level, logging.getLogger(name).handlers[:])
               for name in ("", "numba", "matplotlib")}
    pools = sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())
    return {
        "warnings": warnings.filters[:], "errors": np.geterr(), "printing": np.get_printoptions(),
        "events": {kind: heard[:] for kind, heard in event._registered.items() if heard},
        "numba": settings, "signals": signals, "loggers": loggers, "pools": pools,
        "hooks": (sys.excepthook, sys.unraisablehook, sys.displayhook, sys.stdout, sys.stderr),
        "path": sys.path[:], "environment": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL),
        "garbage": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()),
        "random": (random.getstate(), np.random.get_state()[1].tolist()),
        "pictures": (dict(matplotlib.rcParams), matplotlib.get_backend(auto_select=False)),
        "sklearn": sklearn.get_config(), "recursion": sys.getrecursionlimit(),
    }

before = state()
import_all()
after = state()
print([part for part in before if repr(before[part]) != repr(after[part])])
"""
OTHERS_KERNEL = """
import numba, numpy as np
from okspca.numerics.announcing import ANNOUNCER
from okspca.numerics.sums import inner
exec("def of_no_module(x): return x + 1.0", made := {})
assert numba.njit(made["of_no_module"])(1.0) == 2.0
assert ANNOUNCER.compiled == 0
assert inner(np.ones(3), np.ones(3), 0) == 3.0
assert ANNOUNCER.compiled > 0
"""
HEAVY = """
import sys
from okspca import OKSPCA, OKSPCAClassifier
heavy = ("sklearn.neighbors", "sklearn.linear_model", "rich", "okspca.state.pipelines")
print([name for name in heavy if name in sys.modules])
"""
#: A process that learns and answers needs none of these modules, nor what lies below them.
NEEDLESS = (
    "okspca.cli",
    "okspca.comparators",
    "okspca.datasets",
    "okspca.diagnostics.evidence",
    "okspca.diagnostics.monitoring",
    "okspca.diagnostics.same_target",
    "okspca.diagnostics.stability",
    "okspca.diagnostics.words",
    "okspca.distributed",
    "okspca.estimators.ancestry",
    "okspca.estimators.component_choice",
    "okspca.estimators.drift_report",
    "okspca.estimators.drifting",
    "okspca.estimators.explanations",
    "okspca.estimators.held_out",
    "okspca.estimators.judging",
    "okspca.estimators.live_monitor",
    "okspca.estimators.merging",
    "okspca.estimators.monitor",
    "okspca.estimators.monitored",
    "okspca.estimators.one_row",
    "okspca.estimators.predicting_first",
    "okspca.estimators.predictors",
    "okspca.estimators.prequential",
    "okspca.estimators.readouts",
    "okspca.estimators.saving",
    "okspca.features.attribution",
    "okspca.features.component_count",
    "okspca.features.training",
    "okspca.files",
    "okspca.moments.calibration",
    "okspca.moments.class_discriminants",
    "okspca.moments.opinions",
    "okspca.moments.second_opinion",
    "okspca.numerics.discriminants",
    "okspca.numerics.lbfgs",
    "okspca.numerics.platt",
    "okspca.numerics.posteriors",
    "okspca.numerics.signatures",
    "okspca.numerics.softmax",
    "okspca.pipeline.fast_row",
    "okspca.pipeline.fast_row_kernels",
    "okspca.pipeline.merging",
    "okspca.pipeline.one_row",
    "okspca.pipeline.waiting_row",
    "okspca.pipeline.waiting_row_kernels",
    "okspca.report",
    "okspca.services.adam",
    "okspca.services.binary",
    "okspca.services.cached",
    "okspca.services.contrast",
    "okspca.services.exact_each",
    "okspca.services.gradient",
    "okspca.services.projected_gradient",
    "okspca.state",
    "rich",
    "safetensors",
    "sklearn.linear_model",
    "sklearn.neighbors",
)
#: Notes whether all installed packages are looked through, which takes as long as a dozen kernels.
WATCH_METADATA = """
import importlib.metadata
looked, entry_points = [], importlib.metadata.entry_points

def noted(**selection):
    looked.append(selection)
    return entry_points(**selection)

importlib.metadata.entry_points = noted
"""
SHOW_LOADED = """
import json, sys
from numba.core.runtime.nrt import rtsys
from okspca.numerics.compiled import CompiledKernel

homes = [module for name, module in sys.modules.items() if name.startswith("okspca.")]
kernels = {id(one): one for home in homes for one in vars(home).values()
           if isinstance(one, CompiledKernel)}
made = [one.__name__ for one in kernels.values() if "dispatcher" in vars(one)]
print(json.dumps([sorted(sys.modules), looked, rtsys._init, len(made), len(kernels)]))
"""


def python(code: str, given: str = "", **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **variables},
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_no_global_setting_changes() -> None:
    others = python(IMPORT_ALL + LIST_OTHERS)
    assert "numba" in json.loads(others)
    assert python(IMPORT_ALL + COMPARE, others) == "[]\n"


def test_kernels_of_others_compile_and_are_not_counted(tmp_path: Path) -> None:
    python(OTHERS_KERNEL, NUMBA_CACHE_DIR=str(tmp_path))


def test_an_estimator_is_imported_without_what_only_reports_and_files_need() -> None:
    assert python(HEAVY) == "[]\n"


@pytest.mark.skipif(vars(numba.config)["DISABLE_JIT"], reason="nothing is compiled")
def test_a_second_process_loads_no_more_than_the_example_needs() -> None:
    example = WATCH_METADATA + EXAMPLE.replace("5000", "600") + SHOW_LOADED
    python(example)  # compiles what is not in the cache
    modules, looked, has_compiled, made, known = json.loads(python(example).splitlines()[-1])
    loaded = [name for name in modules for home in NEEDLESS if f"{name}.".startswith(f"{home}.")]
    assert loaded == []
    assert looked == []
    assert not has_compiled
    assert 0 < made < known / 2
