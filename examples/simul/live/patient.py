# SPDX-License-Identifier: Apache-2.0
"""A policy of one's own on top of the stock agent: the model stays, the decision changes."""

from assay.tasks.simul.live.agents import GET
from assay.tasks.simul.live.agents.waitk import WaitkTextAgent

SMALL = [[word] for word in ("der", "die", "das", "dem", "am", "aus")]


class Patient(WaitkTextAgent):
    """Reads on as long as the last word is an article or a preposition."""

    def decision_from_states(self, states):
        source = states["segments"]["src"]
        if not states["finish_read"] and source[-1:] in SMALL:
            return GET
        return super().decision_from_states(states)
