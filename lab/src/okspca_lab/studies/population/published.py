"""The numbers that the paper states in the text of section 4."""

#: Rows of the stream, our column, what it is, the number as printed, the tolerance.
PAPER = (
    (256, "rho_sample_online", "objective ratio, sample, online", "0.995834", 0.003),
    (256, "d_stat", "d_stat", "1.416004", 0.1),
    (256, "rho_population_online", "objective ratio, population, online", "0.731", 0.03),
    (256, "rho_population_exact", "objective ratio, population, exact", "0.731", 0.03),
    (256, "d_total_online", "d_total", "1.395", 0.1),
    (32768, "d_stat", "d_stat", "0.1281", 0.02),
    (32768, "d_total_online", "d_total", "0.1292", 0.02),
    (32768, "d_opt_online", "d_opt", "0.01128", 0.005),
)
