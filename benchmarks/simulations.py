# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.simulations [--seed N]`: the table of docs/explanation/statistics.md, made
again, with `--seed` from other draws."""

from __future__ import annotations

import argparse
import os


def main() -> None:
    """One line per claim: how often it happened, and how often it may."""
    parser = argparse.ArgumentParser("python -m benchmarks.simulations", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="another number makes other draws")
    # Before numpy is imported: its own threads make small products slower.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["ASSAY_SIMULATION_SEED"] = str(parser.parse_args().seed)
    from assay.aggregate.test_simulations import CLAIMS

    print("| how often | of what | found | has to be |\n|---|---|---|---|")
    for title, claims in CLAIMS.items():
        for claim in claims:
            rate = claim.rates()[claim.key]
            bounds = f"{100 * claim.low:g} to {100 * claim.high:g} %"
            held = "" if claim.low <= rate <= claim.high else " **missed**"
            print(f"| {title} | {claim.text} | {100 * rate:.1f} % | {bounds}{held} |", flush=True)


if __name__ == "__main__":
    main()
