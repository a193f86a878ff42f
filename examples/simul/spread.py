# SPDX-License-Identifier: Apache-2.0
"""A latency metric as one registers it for SimulEval: the time from the first word to the last."""

from simuleval.evaluator.scorers.latency_scorer import LatencyScorer, register_latency_scorer


@register_latency_scorer("Spread")
class Spread(LatencyScorer):
    """Time from the first unit to the last."""

    def compute(self, ins):
        """The spread of one stream."""
        times = getattr(ins, self.timestamp_type)
        return times[-1] - times[0]
