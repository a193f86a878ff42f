# SPDX-License-Identifier: Apache-2.0
"""Agents: what a translation system has to offer so that it can be run live.

    from assay.tasks.simul.live.agents import Agent, GET, SEND, register_agent

`Agent` is the class of the 2020 evaluation; `TranslationAgent` fills in all of it but what to read,
what to write and the model. Agents written for SimulEval run through import shims.
"""

from __future__ import annotations

from assay.tasks.simul.live.agents.agent import END, GET, SEND, Agent
from assay.tasks.simul.live.agents.registry import register_agent
from assay.tasks.simul.live.agents.translation import TranslationAgent

__all__ = ["END", "GET", "SEND", "Agent", "TranslationAgent", "register_agent"]
