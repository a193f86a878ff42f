# SPDX-License-Identifier: Apache-2.0
"""An agent as one writes it for SimulEval 1.1. It runs here without SimulEval."""

from simuleval.agents import TextToTextAgent
from simuleval.agents.actions import ReadAction, WriteAction
from simuleval.utils import entrypoint


@entrypoint
class Copy(TextToTextAgent):
    """Stays two words behind and copies."""

    def policy(self):
        states = self.states
        if len(states.source) - len(states.target) < 2 and not states.source_finished:
            return ReadAction()
        place = len(states.target)
        last = states.source_finished and place + 1 >= len(states.source)
        return WriteAction(states.source[place], finished=last)
