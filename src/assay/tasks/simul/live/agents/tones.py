# SPDX-License-Identifier: Apache-2.0
"""Words as pairs of tones, the way telephones dial: making the audio, and understanding it.

A tone lasts 80 ms or more and is followed by at least 40 ms of silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOW = (697, 770, 852, 941)
HIGH = (1209, 1336, 1477, 1633)
SYMBOLS = ("1", "2", "3", "A", "4", "5", "6", "B", "7", "8", "9", "C", "*", "0", "#", "D")
TONE_MS, GAP_MS, WINDOW_MS = 120, 80, 20
_LOUD = 500.0
"""Root mean square of a window that is not silence."""


def dial(symbols: Sequence[str], rate: int = 16_000) -> NDArray[np.int16]:
    """Audio of some symbols, with silence around each.

    >>> len(dial("12")) == 16 * (80 + 2 * (120 + 80))
    True
    """
    import numpy as np

    time = np.arange(rate * TONE_MS // 1000) / rate
    gap = np.zeros(rate * GAP_MS // 1000)
    parts = [gap]
    for symbol in symbols:
        row, column = divmod(SYMBOLS.index(symbol), 4)
        tone = np.sin(2 * np.pi * LOW[row] * time) + np.sin(2 * np.pi * HIGH[column] * time)
        parts += [6000 * tone, gap]
    return np.rint(np.concatenate(parts)).astype(np.int16)


class ToneListener:
    """Takes audio as it comes and gives the words heard so far in `words`.

    >>> listener = ToneListener()
    >>> listener.hear(dial("3").tolist())
    >>> listener.words
    ['3']
    """

    def __init__(self, rate: int = 16_000) -> None:
        self.words: list[str] = []
        self._rate = rate
        self._window = rate * WINDOW_MS // 1000
        self._pending: list[int] = []
        self._heard: list[str] = []

    def hear(self, samples: Sequence[int]) -> None:
        """More audio."""
        self._pending.extend(samples)
        while len(self._pending) >= self._window:
            window = self._pending[: self._window]
            del self._pending[: self._window]
            symbol = self._symbol(window)
            if symbol is not None:
                self._heard.append(symbol)
            else:
                self.finish()

    def finish(self) -> None:
        """Silence: the tone before it was a word."""
        if len(self._heard) > 1:  # a single window is the edge of a tone, or noise
            self.words.append(max(set(self._heard), key=self._heard.count))
        self._heard.clear()

    def _symbol(self, window: Sequence[int]) -> str | None:
        import numpy as np

        audio = np.asarray(window, dtype=np.float64)
        if np.sqrt(np.mean(audio * audio)) < _LOUD:
            return None
        turns = 2j * np.pi * np.arange(len(audio)) / self._rate
        row, column = (
            int(np.argmax([abs(np.sum(audio * np.exp(-turns * hertz))) for hertz in group]))
            for group in (LOW, HIGH)
        )
        return SYMBOLS[4 * row + column]
