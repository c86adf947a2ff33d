"""What a run leaves on disk: rows of each pass, how they were made, and trajectories."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from okspca import outputs
from okspca.report.provenance import provenance
from okspca_lab.studies.rows import OtherSettingsError, Row, RowFile

#: One file for each pass, so that the untimed one can run beside the others.
FILES = {"A0": "timing.jsonl", "B": "batches.jsonl", "C": "quality.jsonl"}
VERSION = 1


def open_rows(folder: Path, name: str, build: str, *, quick: bool) -> RowFile:
    """Open the rows of a pass."""
    return RowFile(folder / FILES[name], _settings(name, build, quick=quick))


def read_rows(folder: Path, name: str, build: str, *, quick: bool) -> list[Row]:
    """Read the rows of a pass that may still be running elsewhere; change nothing."""
    path = folder / FILES[name]
    if not path.exists():
        return []
    first, *lines = path.read_text(encoding="utf-8").rpartition("\n")[0].splitlines()
    if json.loads(first).get("settings") != _settings(name, build, quick=quick):
        message = f"{path} holds rows of a run with other settings; choose another --out."
        raise OtherSettingsError(message)
    return [row for line in lines for row in json.loads(line)["rows"]]


def _settings(name: str, build: str, *, quick: bool) -> dict[str, object]:
    """What the rows of a pass depend on."""
    settings = {"study": "services", "version": VERSION, "build": build, "pass": name}
    return {**settings, "quick": quick}


def keep_trajectories(
    folder: Path, regime: str, seed: int, found: Mapping[str, Mapping[str, Any]]
) -> None:
    """Write one file per method."""
    folder.mkdir(parents=True, exist_ok=True)
    for method, arrays in found.items():
        with outputs.replacing(folder / f"{regime}-{seed}-{method}.npz") as file:
            np.savez_compressed(file, **arrays)


def keep_provenance(folder: Path, name: str, command: str, seconds: float) -> None:
    """Write down how the rows of a pass were made."""
    told = provenance(command, jobs=1, seconds=seconds)
    if name != "C":
        told["timed"] = "fresh processes, one at a time, each bound to one core"
    path = folder / f"provenance-{name}.json"
    outputs.write(path, json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def read_provenance(out: Path) -> dict[str, dict[str, str]]:
    """Read how everything was made, by build and pass."""
    return {
        f"{path.parent.name} build, pass {path.stem.removeprefix('provenance-')}": json.loads(
            path.read_text(encoding="utf-8")
        )
        for path in sorted(out.glob("*/provenance-*.json"))
    }
