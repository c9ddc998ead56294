"""Claims about the locality diagnostic and the log-space ablation, on the validation images."""

from __future__ import annotations

from ...config import load_protocol
from ..estimates import Estimate, concatenate, count, span
from ..measured import Measured
from ..provenance import Scope
from ..subjects import FIXED, FULL, SCALAR
from .published import Tabled
from .registry import Topic
from .rules import ALPHA, COUNT, Bound, Equals, Ordering, Tie

topic = Topic("Locality diagnostic", Scope.LOCALITY)
ablated = Topic("Log-space ablation", Scope.ABLATION)
fields = Topic("Log-space ablation", Scope.LOCALITY)

BANDWIDTH = "gblsr_bandwidth"
FULL_LINEAR, BANDWIDTH_LINEAR = LINEAR = ("gblsr_full_linear", "gblsr_bandwidth_linear")
LOG = (BANDWIDTH, FULL)
TESTS = load_protocol()["diagnostics"]["thresholds"]
MARGINS = load_protocol()["diagnostics"]["margins"]


# --- the linear arms ------------------------------------------------------------------------------


@topic.claim(
    where="§6.2, §7, A.2, Figure 3",
    sentence="Median variation of the bandwidth within an image (T1), GB-LSR-Full-Linear",
    rule=Equals(),
    published="0.0127",
    note="Printed as about 0.013 in the running text.",
)
def cov_median(run: Measured) -> Estimate:
    return run.locality(FULL_LINEAR, "t1")


@topic.claim(
    where="A.3, Figure 3",
    sentence="The same for GB-LSR-Bandwidth-Linear",
    rule=Equals(),
    published="0.0114",
)
def cov_median_bandwidth(run: Measured) -> Estimate:
    return run.locality(BANDWIDTH_LINEAR, "t1")


@topic.claim(
    where="A.2, Figure 3",
    sentence="The histogram of these variations peaks near 0.013: their most frequent value to "
    "three decimals, GB-LSR-Full-Linear",
    rule=Equals(),
    published="0.013",
)
def cov_peak(run: Measured) -> Estimate:
    return run.locality(FULL_LINEAR, "t1_peak")


@topic.claim(
    where="A.2, Figure 3",
    sentence="Essentially no image varies by more than 0.05 within it: 99th percentile of the "
    "variation, higher of the two linear arms",
    rule=Bound(),
    published=f"<= {TESTS['t1_cov_median']}",
    note="The paper shows a histogram; “essentially no” is read as at most one image in a hundred.",
)
def cov_no_mass(run: Measured) -> Estimate:
    return run.locality(LINEAR, "t1_p99")


@topic.claim(
    where="A.2",
    sentence="Mean bandwidth over all patches and images, GB-LSR-Full-Linear",
    rule=Equals(),
    published="0.7345",
)
def bandwidth_mean(run: Measured) -> Estimate:
    return run.locality(FULL_LINEAR, "global_mean")


@topic.claim(
    where="A.2",
    sentence="Standard deviation of the bandwidth over all patches and images, GB-LSR-Full-Linear",
    rule=Equals(),
    published="0.0121",
)
def bandwidth_std(run: Measured) -> Estimate:
    return run.locality(FULL_LINEAR, "global_std")


@topic.claim(
    where="A.2",
    sentence="Share of images whose bandwidths span less than 5 % of the allowed range (T2), "
    "GB-LSR-Full-Linear",
    rule=Equals(),
    published="0.9844",
)
def collapsed(run: Measured) -> Estimate:
    return run.locality(FULL_LINEAR, "t2")


@topic.claim(
    where="A.2",
    sentence="Gap in mean bandwidth between texture and smooth patches (T3), GB-LSR-Full-Linear",
    rule=Equals(),
    published="0.0086",
    note="Read as relative to the mean bandwidth: only so is T3 missed by the factor of 6 that the "
    "paper names.",
)
def region_gap(run: Measured) -> Estimate:
    return run.locality(FULL_LINEAR, "t3")


@topic.claim(
    where="A.2",
    sentence="Variance of the bandwidth within images, GB-LSR-Full-Linear",
    rule=Equals(),
    published="1.07e-4",
)
def variance_within(run: Measured) -> Estimate:
    return run.locality(FULL_LINEAR, "var_within")


@topic.claim(
    where="Figure 4",
    sentence="Share of the bandwidth's variance that lies within images (T4), Full-Linear and "
    "Bandwidth-Linear",
    rule=Equals(),
    published="0.73 / 0.79",
)
def within_share(run: Measured) -> Estimate:
    return run.locality(LINEAR, "t4")


@topic.claim(
    where="A.2, Figure 4",
    sentence="The variance within images dominates that across images: its share exceeds a half "
    "(lower of Full-Linear and Bandwidth-Linear)",
    rule=Ordering(),
    published="> 0.5",
)
def within_dominates(run: Measured) -> Estimate:
    return run.locality(LINEAR, "t4")


@topic.claim(
    where="§6.2, A.2",
    sentence="Locality tests met by Full-Linear and Bandwidth-Linear, of four",
    rule=COUNT,
    published="0 / 0",
    unit="of 4",
)
def tests_met_linear(run: Measured) -> Estimate:
    return run.locality(LINEAR, "tests_met")


@topic.claim(
    where="A.2",
    sentence="Least and greatest factor by which GB-LSR-Full-Linear misses T1, T2 and T3",
    rule=Equals(),
    published="2 / 6",
    unit="×",
)
def missed_by(run: Measured) -> Estimate:
    return span(
        concatenate(
            TESTS["t1_cov_median"] / run.locality(FULL_LINEAR, "t1"),
            run.locality(FULL_LINEAR, "t2") / TESTS["t2_fraction_collapsed"],
            TESTS["t3_region_gap"] / run.locality(FULL_LINEAR, "t3"),
        )
    )


# --- the log-space arms ---------------------------------------------------------------------------


@ablated.claim(
    where="A.3, Table 9",
    sentence="PSNR on the validation images of Fixed, Scalar, Bandwidth and Full",
    rule=Equals(),
    published=Tabled(3),
    unit="dB",
)
def ablation_psnr(run: Measured) -> Estimate:
    return run.ablation((FIXED, SCALAR, BANDWIDTH, FULL), "psnr")


@ablated.claim(
    where="A.3, Figure 5, Table 9",
    sentence="PSNR step from GB-LSR-Fixed to GB-LSR-Scalar on the validation images",
    rule=Equals(),
    published="+2.096",
    unit="dB",
)
def step_fixed_scalar(run: Measured) -> Estimate:
    return -run.ablation(FIXED, "delta_psnr")


@ablated.claim(
    where="A.3, Table 9",
    sentence="PSNR step from GB-LSR-Scalar to GB-LSR-Bandwidth on the validation images",
    rule=Equals(),
    published="-0.091",
    unit="dB",
)
def step_scalar_bandwidth(run: Measured) -> Estimate:
    return run.ablation(BANDWIDTH, "delta_psnr")


@ablated.claim(
    where="A.3, Figure 5, Table 9",
    sentence="PSNR step from GB-LSR-Scalar to GB-LSR-Full on the validation images",
    rule=Equals(),
    published="+0.234",
    unit="dB",
)
def step_scalar_full(run: Measured) -> Estimate:
    return run.ablation(FULL, "delta_psnr")


@ablated.claim(
    where="Table 9",
    sentence="Both log-space steps are inside seed noise (lowest p of the pooled t-test)",
    rule=Tie(),
    published=f">= {ALPHA}",
)
def steps_in_noise(run: Measured) -> Estimate:
    return run.ablation((*LOG, SCALAR), "psnr")


@ablated.claim(
    where="A.3, Table 9",
    sentence="Both log-space steps are wrong-signed on LPIPS: it rises from GB-LSR-Scalar to "
    "GB-LSR-Bandwidth and to GB-LSR-Full (lower of the two)",
    rule=Ordering(),
    published="> 0",
)
def steps_worse_in_lpips(run: Measured) -> Estimate:
    return run.ablation(LOG, "delta_lpips")


@ablated.claim(
    where="A.3, Figure 5, Table 9",
    sentence="LPIPS of GB-LSR-Bandwidth and GB-LSR-Full minus GB-LSR-Scalar on the validation "
    "images",
    rule=Equals(),
    published="+0.042 / +0.069",
)
def ablation_lpips(run: Measured) -> Estimate:
    return run.ablation(LOG, "delta_lpips")


@fields.claim(
    where="A.3",
    sentence="Median variation of the bandwidth within an image (T1), GB-LSR-Bandwidth and "
    "GB-LSR-Full",
    rule=Equals(),
    published="0.0100 / 0.0101",
)
def cov_log(run: Measured) -> Estimate:
    return run.locality(LOG, "t1")


@fields.claim(
    where="Figure 6",
    sentence="Variance of the bandwidth within images, GB-LSR-Bandwidth and GB-LSR-Full",
    rule=Equals(),
    published="3.2e-5 / 3.7e-5",
)
def variance_within_log(run: Measured) -> Estimate:
    return run.locality(LOG, "var_within")


@fields.claim(
    where="Figure 6",
    sentence="Share of variance within images of the log-space arms clears T4's 0.25 (lower of the "
    "two)",
    rule=Bound(),
    published=f">= {TESTS['t4_within_fraction']}",
)
def within_share_log(run: Measured) -> Estimate:
    return run.locality(LOG, "t4")


@fields.claim(
    where="A.3, Figure 6, Table 9",
    sentence="Locality tests met by GB-LSR-Bandwidth and GB-LSR-Full, of four",
    rule=COUNT,
    published="0 / 0",
    unit="of 4",
)
def tests_met_log(run: Measured) -> Estimate:
    return run.locality(LOG, "tests_met")


@fields.claim(
    where="A.3, Table 9",
    sentence="Criterion A: log-space arms that meet all four tests",
    rule=COUNT,
    published="0",
    unit="of 2",
)
def criterion_a(run: Measured) -> Estimate:
    return count(run.locality(LOG, "criterion_a"))


@ablated.claim(
    where="A.3, Table 9",
    sentence="Criterion B: log-space arms that beat GB-LSR-Scalar by the set margins",
    rule=COUNT,
    published="0",
    unit="of 2",
)
def criterion_b(run: Measured) -> Estimate:
    return count(run.ablation(LOG, "criterion_b"))


@ablated.claim(
    where="A.3",
    sentence="PSNR gain of the log-space arms on texture and mixed patches, highest of four",
    rule=Bound(about=MARGINS["psnr_texture"]),
    published="<= 0",
    unit="dB",
    note="The paper says match or regress; a match is a gain inside seed noise, and of at most a "
    f"quarter of the {MARGINS['psnr_texture']:.2f} dB that criterion B asks for.",
)
def regions_not_better(run: Measured) -> Estimate:
    gains = [run.ablation(LOG, f"delta_psnr_{region}") for region in ("texture", "mixed")]
    return concatenate(*gains)
