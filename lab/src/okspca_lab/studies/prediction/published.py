"""The published numbers of sections 3, S2 and S3, as they are printed."""

TASK_COLUMNS = ("n_train", "n_test", "d_x", "D_x", "D_y", "k")
TASKS_TABLE = {
    "XOR-Gauss": ("4,000", "1,000", "20", "64", "2", "1"),
    "Spirals-3": ("4,000", "1,000", "20", "64", "3", "2"),
    "Friedman-1": ("4,000", "1,000", "10", "128", "128", "4"),
    "HAR": ("7,352", "2,947", "561", "1,024", "6", "5"),
    "Sensorless": ("46,807", "11,702", "48", "256", "11", "10"),
    "Kin8nm": ("6,553", "1,639", "8", "128", "128", "4"),
}

#: Mean and standard deviation of R² by method and task.
REGRESSION = {
    "OKSPCA": {"Friedman-1": ("0.6630", "0.0417"), "Kin8nm": ("0.4130", "0.0247")},
    "RFF-CIPLS": {"Friedman-1": ("0.7194", "0.0242"), "Kin8nm": ("0.4546", "0.0236")},
    "CIPLS": {"Friedman-1": ("0.7224", "0.0161"), "Kin8nm": ("0.4043", "0.0002")},
    "CCIPCA": {"Friedman-1": ("0.3012", "0.1298"), "Kin8nm": ("0.1828", "0.0979")},
    "RFF-CCIPCA": {"Friedman-1": ("0.2893", "0.1150"), "Kin8nm": ("0.1747", "0.0957")},
}
#: Full, extracted, exact, exact minus full.
SAME_TARGET = {
    "Friedman-1": ("0.662962", "0.662963", "0.663103", "0.000141"),
    "Kin8nm": ("0.413004", "0.413005", "0.413032", "0.000027"),
}
#: k, original F1, exact F1, rho, largest angle, projector distance.
CLASSIFICATION = {
    "XOR-Gauss": ("1", "0.5960", "0.5962", "0.999745", "0.882", "0.0218"),
    "Spirals-3": ("2", "0.3663", "0.3648", "0.998824", "2.373", "0.0683"),
    "HAR": ("5", "0.8528", "0.8527", "0.999539", "1.462", "0.0448"),
    "Sensorless": ("10", "0.7625", "0.7625", "0.999951", "0.459", "0.0151"),
}
#: Bandwidths of inputs and of a numeric response.
BANDWIDTHS = {
    "XOR-Gauss": ("4.49429", None),
    "Spirals-3": ("4.49160", None),
    "Friedman-1": ("3.20342", "0.709610"),
    "HAR": ("23.0553", None),
    "Sensorless": ("6.40547", None),
    "Kin8nm": ("2.81574", "0.710298"),
}
#: OKSPCA minus RFF-CIPLS-based: mean, lower and upper end of the interval.
PAIRED = {
    "XOR-Gauss": ("-0.0002", "-0.0010", "0.0008"),
    "Spirals-3": ("0.0170", "0.0029", "0.0343"),
    "HAR": ("0.0504", "0.0334", "0.0667"),
    "Sensorless": ("0.1513", "0.1186", "0.1860"),
    "Friedman-1": ("-0.0564", "-0.0706", "-0.0416"),
    "Kin8nm": ("-0.0416", "-0.0489", "-0.0352"),
}
#: Extracted minus exact: mean, lower and upper end of the interval.
PAIRED_SAME_TARGET = {
    "Friedman-1": ("-0.00014", "-0.00153", "0.00099"),
    "Kin8nm": ("-0.00003", "-0.00021", "0.00013"),
}
#: Old rank, then mean and standard deviation of old OKSPCA, Raw-X and RFF-X.
CONTROLS = {
    "XOR-Gauss": ("4", ("0.605", "0.035"), ("0.504", "0.016"), ("0.660", "0.032")),
    "Spirals-3": ("5", ("0.369", "0.013"), ("0.378", "0.009"), ("0.360", "0.010")),
    "Friedman-1": ("4", ("0.663", "0.042"), ("0.723", "0.016"), ("0.853", "0.015")),
    "HAR": ("20", ("0.883", "0.009"), ("0.954", "0.001"), ("0.939", "0.005")),
    "Sensorless": ("12", ("0.773", "0.025"), ("0.913", "0.000"), ("0.945", "0.003")),
    "Kin8nm": ("4", ("0.413", "0.025"), ("0.404", "0.000"), ("0.657", "0.033")),
}
ADVERSE_SEED = 104
#: Observation, k, numerical rank, comparison rank, rho, largest angle, projector distance.
TRAJECTORY = (
    ("4681", "10", "10", "10", "0.999978", "2.622743", "0.087174"),
    ("11702", "10", "10", "10", "0.999922", "0.689740", "0.029430"),
    ("23404", "10", "10", "10", "0.970687", "78.099077", "1.898569"),
    ("35106", "10", "10", "10", "0.999905", "0.655705", "0.023416"),
    ("46807", "10", "10", "10", "1.000000", "0.163814", "0.006250"),
)
#: Comparison rank, rho, projector distance, largest angle.
REGRESSION_GEOMETRY = {
    "Friedman-1": ("4", "0.999969", "0.1426", "5.347"),
    "Kin8nm": ("4", "0.999980", "0.0300", "1.016"),
}
#: Mean of full minus extracted R², and its largest magnitude over the seeds.
FULL_MINUS_EXTRACTED = {
    "Kin8nm": ("-3.897e-07", "1.358e-06"),
    "Friedman-1": ("-5.315e-07", "1.956e-06"),
}
EXACT_MINUS_FULL = {"Friedman-1": "0.000141", "Kin8nm": "0.000027"}
RHO_RANGE = ("0.998824", "0.999951")
HAR_DEVELOPMENT = ("5,588", "1,764")
METHODS = (
    ("OKSPCA", "shared RFF", "one-hot / target RFF", "rate and clip selected"),
    (
        "RFF-CIPLS / RFF–OVR–RP–CIPLS",
        "shared RFF",
        "scalar / one-vs-rest with a fixed Ck→k projection",
        "inherited; no grid",
    ),
    (
        "CIPLS / OVR–RP–CIPLS",
        "raw, linear",
        "scalar / one-vs-rest with a fixed Ck→k projection",
        "inherited; no grid",
    ),
    ("CCIPCA", "raw, linear", "no target; covariance", "inherited; amnesic 2"),
    ("RFF-CCIPCA", "shared RFF", "no target; covariance", "inherited; no grid"),
    ("Raw-X", "raw, identity", "no reduction; d_x outputs", "untuned control"),
    ("RFF-X", "shared RFF", "no reduction; D_x outputs", "untuned control"),
)
