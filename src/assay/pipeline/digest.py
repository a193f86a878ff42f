# SPDX-License-Identifier: Apache-2.0
"""What two runs must have in common to be compared: their gold, as one number."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import Batch
from assay.core.text import TextLists, Texts


class GoldDigest:
    """SHA-256 over ids and gold, in order: equal for two runs exactly if they can be paired.

    Depends on the content alone, not on file formats or names. A task cuts its batches at the same
    places for the same gold, as `Examples.batches` promises, so that borders may go into it.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, batch: Batch) -> None:
        """Take in the next batch. What gold does not have is left out."""
        if batch.extra is not None:
            batch = batch.part(0, len(batch) - int(batch.extra.sum()))
        if not len(batch):
            return
        content = getattr(batch.gold, "content", None)
        if content is not None:  # a column that gives its own bytes, ids included
            for part in content():
                self._hash.update(part)
            return
        if batch.ids is not None:
            _digest_texts(self._hash, Texts.of(batch.ids))
        if isinstance(batch.gold, TextLists):
            gold = batch.gold
            self._hash.update(b"1" if gold.each_one else b"n" + _as_bytes(gold.counts()))
            start, stop = int(batch.gold.splits[0]), int(batch.gold.splits[-1])
            _digest_texts(self._hash, batch.gold.values[start:stop])
        else:
            from assay.pipeline.stored import encode_lines

            self._hash.update(encode_lines(batch.gold))

    def hexdigest(self) -> str:
        """The digest of everything so far."""
        return self._hash.hexdigest()


def _digest_texts(digest: Any, texts: Texts) -> None:
    packed = texts.compact()
    digest.update(_as_bytes(packed.ends - packed.starts))
    digest.update(packed.data)


def _as_bytes(numbers: NDArray[np.int64]) -> bytes:
    return numbers.astype("<u4").tobytes()  # lengths and counts of one block
