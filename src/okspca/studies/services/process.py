"""The process that is timed: reads one job on standard input, prints its rows.

Started by :mod:`okspca.studies.services.launch` as ``python -m okspca.studies.services.process``.
"""

import json
import sys

from okspca.numerics.announcing import unannounced
from okspca.studies.services.timed import pin, run_timed


def main() -> None:
    """Run the job."""
    job = json.load(sys.stdin)
    cores = pin(job["core"])
    with unannounced():
        rows = run_timed(job["build"], job["cells"], job["n_rows"])
    json.dump({"cores": cores, "rows": rows}, sys.stdout)


if __name__ == "__main__":
    main()
