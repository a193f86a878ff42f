# SPDX-License-Identifier: Apache-2.0
"""Speech in, speech out: an agent that listens, and one that speaks what the first has understood.

Both stand for models: words are pairs of tones, as telephones dial.
"""

from simuleval.agents import AgentPipeline, SpeechToTextAgent, TextToSpeechAgent
from simuleval.agents.actions import ReadAction, WriteAction
from simuleval.data.segments import SpeechSegment
from simuleval.utils import entrypoint

from assay.tasks.simul.live.agents.tones import ToneListener, dial

RATE = 16_000


class Listen(SpeechToTextAgent):
    """Writes a word when its tone is over."""

    def reset(self):
        super().reset()
        self.listener = ToneListener(RATE)
        self.heard = self.written = 0

    def policy(self, states=None):
        source, over = self.states.source, self.states.source_finished
        self.listener.hear([round(32768 * sample) for sample in source[self.heard :]])
        self.heard = len(source)
        if over:
            self.listener.finish()
        words = self.listener.words[self.written :]
        self.written = len(self.listener.words)
        return WriteAction(" ".join(words), finished=over) if words or over else ReadAction()


class Speak(TextToSpeechAgent):
    """Says each word as it comes."""

    def reset(self):
        super().reset()
        self.said = 0

    def policy(self, states=None):
        source, over = self.states.source, self.states.source_finished
        words = " ".join(source[self.said :]).split()
        self.said = len(source)
        if not words and not over:
            return ReadAction()
        sound = [sample / 32768 for word in words for sample in dial(word, RATE).tolist()]
        return WriteAction(SpeechSegment(content=sound, sample_rate=RATE, finished=over), over)


@entrypoint
class Interpreter(AgentPipeline):
    """What the first writes is the source of the second."""

    pipeline = [Listen, Speak]  # noqa: RUF012  # agents for SimulEval are written so
