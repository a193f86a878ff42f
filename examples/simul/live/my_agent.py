# SPDX-License-Identifier: Apache-2.0
"""An agent of one's own: waits for a comma or the end, then copies what it has heard."""

from assay.tasks.simul.live.agents import END, GET, SEND, Agent, register_agent


@register_agent("my_agent")
class MyAgent(Agent):
    """Writes clause by clause."""

    @staticmethod
    def add_args(parser):
        parser.add_argument("--upper", action="store_true", help="write capital letters")

    def init_states(self):
        return {"heard": [], "written": 0, "over": False}

    def update_states(self, states, new_state):
        if new_state["segment"] == END:
            states["over"] = True
        else:
            states["heard"].append(new_state["segment"])
        return states

    def policy(self, states):
        ready = states["over"] or states["heard"][-1:] == [","]
        waiting = states["heard"][states["written"] :]
        if waiting and ready:
            states["written"] = len(states["heard"])
            words = " ".join(waiting)
            return {"key": SEND, "value": words.upper() if self.args.upper else words}
        if states["over"]:
            return {"key": SEND, "value": END}
        return {"key": GET, "value": None}
