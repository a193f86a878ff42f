# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.simulations`: the table of docs/explanation/statistics.md, made again."""

from __future__ import annotations

import os


def main() -> None:
    """One line per claim: how often it happened, and how often it may."""
    # Before numpy is imported: its own threads make small products slower.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from assay.aggregate.test_simulations import CLAIMS

    print("| how often | of what | found | has to be |\n|---|---|---|---|")
    for title, claims in CLAIMS.items():
        for claim in claims:
            rate = claim.rates()[claim.key]
            bounds = f"{100 * claim.low:g} to {100 * claim.high:g} %"
            print(f"| {title} | {claim.text} | {100 * rate:.1f} % | {bounds} |", flush=True)


if __name__ == "__main__":
    main()
