"""The paper's numbers on services, as printed (sections 5 and S5)."""

from typing import NamedTuple

#: d_x, D_x, D_y, k, n of each regime (Table 4; its d_y is one throughout).
WORKLOADS = {
    "C2": ("20", "64", "2", "1", "4096"),
    "C4": ("64", "256", "4", "3", "4096"),
    "C11": ("48", "256", "11", "10", "4096"),
    "R128": ("10", "128", "128", "4", "4096"),
    "R256": ("64", "256", "256", "8", "2048"),
}

_SCHEDULES = ("every-1", "every-10", "every-100", "every-1000", "bernoulli")


class Group(NamedTuple):
    """Adam's time over exact-request's (Tables 5 and S8)."""

    median: str
    low: str
    high: str
    faster: str
    inclusive: str


def _groups(text: str) -> dict[str, Group]:
    lines = (line.split() for line in text.strip().splitlines())
    return {name: Group(*line) for name, line in zip(_SCHEDULES, lines, strict=True)}


GROUPS = {
    "C2": _groups("""
        1.726 1.617 1.841 0 1.726
        2.210 2.013 2.427 0 2.209
        2.242 2.090 2.360 0 2.241
        2.044 1.846 2.424 0 2.044
        2.199 1.804 2.289 0 2.198"""),
    "C4": _groups("""
        1.806 1.716 1.911 0 1.806
        2.259 2.232 2.759 0 2.258
        2.488 2.337 2.584 0 2.486
        2.452 2.117 2.648 0 2.452
        2.541 2.246 2.758 0 2.540"""),
    "C11": _groups("""
        1.513 1.251 2.013 0 1.512
        2.628 2.317 2.887 0 2.627
        2.830 2.615 2.873 0 2.829
        2.886 2.750 3.239 0 2.884
        2.899 2.654 3.118 0 2.890"""),
    "R128": _groups("""
        0.277 0.261 0.286 5 0.277
        0.923 0.892 1.144 3 0.923
        1.841 1.744 1.964 0 1.841
        2.097 0.287 2.613 1 2.096
        1.719 1.637 1.775 0 1.719"""),
    "R256": _groups("""
        0.085 0.081 0.101 5 0.085
        0.567 0.497 0.932 5 0.567
        1.625 1.332 2.283 0 1.624
        1.622 1.455 2.021 0 1.622
        1.435 1.130 2.321 0 1.434"""),
}

#: Median time of exact-request with a request after every observation, in milliseconds.
ABSOLUTE_MS = {"C2": "492.9", "C4": "594.2", "C11": "880.8", "R128": "5,642", "R256": "18,840"}


class Joint(NamedTuple):
    """Cost and quality with a request after every observation (Tables 6, S10 and S11)."""

    ratio: str
    rho: str
    distance: str
    angle: str
    matched: str
    positive: str
    shortfall: str
    stale: str


def _joint(text: str) -> dict[str, Joint]:
    lines = (line.split() for line in text.strip().splitlines())
    return {line[0]: Joint(*line[1:]) for line in lines}


JOINT = {
    "C2": _joint("""
        exact-on-request 1.000 1.0000 0 6.6e-07 20473 20473 0 0
        adam 1.726 0.9946 0.0383 1.59 20473 20473 0 0
        projected-gradient 1.798 0.9994 0.0013 0.07 20473 20473 0 0
        cache-10 0.714 0.9977 0.0271 1.11 20435 20473 38 18390
        cache-100 0.572 0.9920 0.0731 2.99 19985 20473 488 19785
        exact-each 0.984 1.0000 0 6.6e-07 20473 20473 0 0
        binary 0.878 1.0000 1.6e-14 4.5e-07 20473 20473 0 0"""),
    "C4": _joint("""
        exact-on-request 1.000 1.0000 0 1.4e-06 20474 20474 0 0
        adam 1.806 0.9898 0.199 7.33 20474 20474 0 0
        projected-gradient 1.752 0.9990 0.0472 1.91 20474 20474 0 0
        cache-10 0.624 0.9962 0.102 3.56 20427 20474 47 18390
        cache-100 0.569 0.9797 0.308 10.36 19985 20474 489 19785
        exact-each 1.019 1.0000 0 1.4e-06 20474 20474 0 0
        contrast 1.129 1.0000 1.5e-15 1.3e-06 20474 20474 0 0"""),
    "C11": _joint("""
        exact-on-request 1.000 1.0000 0 2.2e-06 20473 20473 0 0
        adam 1.513 0.9812 0.653 16.49 20473 20473 0 0
        projected-gradient 1.458 0.9971 0.243 6.89 20473 20473 0 0
        cache-10 0.516 0.9966 0.229 6.26 20363 20473 110 18390
        cache-100 0.423 0.9756 0.727 15.04 19985 20473 488 19785
        exact-each 1.022 1.0000 0 2.2e-06 20473 20473 0 0
        contrast 0.948 1.0000 3.8e-15 1.7e-06 20473 20473 0 0"""),
    "R128": _joint("""
        exact-on-request 1.000 1.0000 0 1.8e-06 20475 20475 0 0
        adam 0.277 0.9905 0.658 28.83 20475 20475 0 0
        projected-gradient 0.280 0.9971 0.447 17.11 20475 20475 0 0
        cache-10 0.193 0.9979 0.0951 3.48 20435 20475 40 18390
        cache-100 0.107 0.9930 0.299 9.92 19985 20475 490 19785
        exact-each 0.979 1.0000 0 1.8e-06 20475 20475 0 0"""),
    "R256": _joint("""
        exact-on-request 1.000 1.0000 0 2.2e-06 10235 10235 0 0
        adam 0.085 0.9719 2.31 87.67 10210 10235 25 0
        projected-gradient 0.113 0.9201 2.98 87.94 10226 10235 9 0
        cache-10 0.134 0.9931 0.252 8.67 10187 10235 48 9175
        cache-100 0.047 0.9612 0.815 23.28 9745 10235 490 9645
        exact-each 1.016 1.0000 0 2.2e-06 10235 10235 0 0"""),
}

#: Shortfalls and loss of the steps 0.1, 0.3, 1 and 3 (Table S7), and the step selected.
CANDIDATES = {
    "C2": (("0", "0.00955"), ("0", "0.00358"), ("0", "0.00076"), ("0", "0.16788")),
    "C4": (("0", "0.03017"), ("0", "0.01075"), ("0", "0.00239"), ("0", "0.00081")),
    "C11": (("0", "0.09772"), ("0", "0.03602"), ("0", "0.00981"), ("0", "0.00292")),
    "R128": (("0", "0.03005"), ("0", "0.01138"), ("0", "0.00304"), ("0", "0.09884")),
    "R256": (("10", "0.07625"), ("20", "0.03354"), ("18", "0.01298"), ("16", "0.07763")),
}

#: Service wall, service CPU, total wall, total CPU in milliseconds (Table S9).
REPEATS = {
    "Adam 0": ("683.60", "609.38", "683.79", "609.38"),
    "Adam 1": ("692.76", "609.38", "692.97", "609.38"),
    "Adam 2": ("661.37", "656.25", "661.61", "656.25"),
    "Exact-request 0": ("302.66", "296.88", "302.85", "296.88"),
    "Exact-request 1": ("295.91", "265.62", "296.09", "265.62"),
    "Exact-request 2": ("299.18", "296.88", "299.54", "296.88"),
    "Accum.-A 0": ("247.13", "203.12", "247.31", "203.12"),
    "Accum.-A 1": ("260.19", "250.00", "260.37", "250.00"),
    "Accum.-A 2": ("266.83", "218.75", "267.03", "218.75"),
    "Accum.-B 0": ("249.48", "218.75", "249.70", "218.75"),
    "Accum.-B 1": ("233.59", "234.38", "233.80", "234.38"),
    "Accum.-B 2": ("258.21", "218.75", "258.42", "218.75"),
}
REPEAT_COLUMNS = ("service wall (ms)", "service CPU (ms)", "total wall (ms)", "total CPU (ms)")

#: r_ref, q_ref, q_out, rho, largest angle, d_P, relative gap (Table S12), and d_P^2 / 2 (text).
TERMINAL = {
    6200: ("16", "8", "8", "0.996425", "84.109", "1.8307", "0.000446", "1.68"),
    6201: ("15", "8", "8", "0.995430", "88.699", "1.9698", "0.000497", "1.94"),
    6202: ("13", "8", "8", "0.994618", "86.733", "2.4510", "0.000192", "3.00"),
    6203: ("14", "8", "8", "0.992189", "87.106", "2.4293", "0.000382", "2.95"),
    6204: ("14", "8", "8", "0.995622", "89.407", "2.1019", "0.000342", "2.21"),
}

#: Counts over all schedules (running text of sections 5.3 and S5.3).
TOTALS = {
    "requests": "689,028",
    "positive": "688,828",
    "matched": "685,784",
    "shortfall": "3,044",
    "missing": "2,915",
    "unequal": "129",
    "stale": "181,473",
    "valid": "685,913",
    "not_initialised": "2,975",
    "no_target": "140",
}
#: What of these the periodic schedules alone must give: it follows from the schedules.
PERIODIC = {"requests": "682,830", "not_initialised": "2,925", "stale": "179,745"}
