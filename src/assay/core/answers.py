# SPDX-License-Identifier: Apache-2.0
"""Short answers without what does not matter in them: the normalisation of question answering.

SQuAD's: lower case, no ASCII punctuation, no English articles, single spaces. Punctuation goes
before articles do and leaves no space behind, so "a-b" becomes "ab" and "the-cat" "thecat".
"""

from __future__ import annotations

import re
import string

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def bare_answer(text: str) -> str:
    """The answer as SQuAD compares it.

    >>> bare_answer("  The U.S. Army, an example!")
    'us army example'
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())
