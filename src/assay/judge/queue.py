# SPDX-License-Identifier: Apache-2.0
"""What one judge is asked, and in which order.

Every judge gets an order of their own, shuffled by a seed that is kept, so that no item is always
judged when everybody is tired. Identical predictions are asked about once, whichever systems made
them; predictions for the same description stay together.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from assay.core.judging import Item, Question
from assay.judge.records import append_record, read_records
from assay.judge.sample import frame_digest
from assay.judge.store import Place, Store
from assay.judge.verdict import DECIDED, Purpose, Verdict

ORDERS = "orders.jsonl"
CONTROL_YES = "control-yes:"
CONTROL_NO = "control-no:"


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a queue, and why it is there."""

    item: Item
    purpose: Purpose = ""


class Order(msgspec.Struct, frozen=True):
    """The seed by which the items of a frame were shuffled for a judge."""

    judge: str
    seed: int
    frame: str
    items: int
    time: str = ""


_decoder = msgspec.json.Decoder(Order)


def distinct(items: Iterable[Item]) -> list[Item]:
    """Each prediction for a description once: the first item with it stands for all."""
    found: dict[tuple[str, str], Item] = {}
    for item in items:
        found.setdefault((item.key, item.prediction), item)
    return list(found.values())


def place_of(item: Item, question: Question) -> Place:
    """Under what the answer to a question about an item is found again."""
    return question.name, item.key, item.subject(question)


def asks(
    item: Item, question: Question, questions: Sequence[Question], known: Mapping[Place, Verdict]
) -> bool:
    """Whether a person has to answer this: no rule and nothing `known` answers it already."""
    if question.name in item.matched or place_of(item, question) in known:
        return False
    needed = next((q for q in questions if q.name == question.needs), None)
    if needed is None or needed.name in item.matched:
        return True
    found = known.get(place_of(item, needed))
    return found is None or found.is_yes


def is_open(item: Item, questions: Sequence[Question], known: Mapping[Place, Verdict]) -> bool:
    """Whether any question about the item needs a person."""
    return any(asks(item, question, questions, known) for question in questions)


def wanted(
    items: Iterable[Item],
    questions: Sequence[Question],
    store: Store,
    judge: str,
    *,
    overlap: int | None = None,
) -> list[Item]:
    """The items that this judge should answer.

    Left out is what agrees with gold by rule, what sheets hold verdicts on, and what `overlap`
    others have decided already (default: everybody answers everything).
    """
    others = [said for name, said in store.judges.items() if name != judge]
    mine = store.judges.get(judge, {})
    found = []
    for item in items:
        if not is_open(item, questions, store.sheets):
            continue
        if overlap is not None and is_open(item, questions, mine):
            last = place_of(item, questions[-1])
            decided = sum(last in said and said[last].answer in DECIDED for said in others)
            if decided >= overlap:
                continue
        found.append(item)
    return found


def shuffled(items: Sequence[Item], seed: int, *, by_rank: bool = False) -> list[Item]:
    """The items in the order of this seed; those with one key stay together.

    With `by_rank` the best ones of a key come first: where the first prediction is right, the
    others may not matter any more.
    """
    rng = random.Random(seed)
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.key, []).append(item)
    order = list(groups.values())
    rng.shuffle(order)
    for group in order:
        rng.shuffle(group)
        if by_rank:
            group.sort(key=lambda item: item.rank)
    return [item for group in order for item in group]


def order_seed(judge: str, frame: str) -> int:
    """The seed of a judge who has none yet: their own, and the same wherever they sit down.

    >>> order_seed("anna", "f") == order_seed("anna", "f") != order_seed("bert", "f")
    True
    """
    digest = hashlib.sha256(f"{judge}\x00{frame}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def frame_of(items: Sequence[Item]) -> str:
    """Digest of what is to be judged."""
    return frame_digest(f"{item.key}\x00{item.prediction}" for item in items)


def recorded_order(
    folder: Path, judge: str, items: Sequence[Item], *, seed: int | None, time: str
) -> Order:
    """The order of a judge: the one on record for these items, else a new one, put on record."""
    path = folder / ORDERS
    frame = frame_of(items)
    known = sorted(read_records(path, _decoder, "an order"), key=lambda order: order.time)
    before = [o for o in known if (o.judge, o.frame) == (judge, frame)]
    if before and seed in (None, before[-1].seed):
        return before[-1]
    chosen = order_seed(judge, frame) if seed is None else seed
    order = Order(judge, chosen, frame, len(items), time)
    append_record(path, msgspec.json.encode(order))
    return order


def with_checks(items: Sequence[Item], *, controls: int, repeats: int, seed: int) -> list[Entry]:
    """The queue with items strewn in whose answer is known, and with some that come twice.

    A control shows a gold text as if it were a prediction, which is a yes, or the gold of another
    item, which is a no. A repeat is an item that has been asked at least a third of the queue ago.
    """
    rng = random.Random(seed + 1)
    entries = [Entry(item) for item in items]
    for control in _controls(items, controls, rng):
        entries.insert(rng.randrange(len(entries) + 1), Entry(control, "control"))
    # Repeats go to the later part of the queue: nobody should remember what they said.
    early = items[: 2 * len(items) // 3] if len(items) > 2 else []
    for item in rng.sample(early, min(repeats, len(early))):
        first = next(i for i, e in enumerate(entries) if e.item is item)
        at = rng.randint(min(first + 1 + len(entries) // 3, len(entries)), len(entries))
        entries.insert(at, Entry(item, "repeat"))
    return entries


def _controls(items: Sequence[Item], wanted: int, rng: random.Random) -> list[Item]:
    """Items whose answer is known, each on another item, a yes and a no by turns."""
    sources = [item for item in items if item.references]
    found = []
    for number, item in enumerate(rng.sample(sources, min(wanted, len(sources)))):
        wrong = None if number % 2 == 0 else _gold_of_another(item, sources, rng)
        if wrong is None:
            right = rng.choice(item.references)
            found.append(_shown(item, right, f"{CONTROL_YES}{item.id}"))
        else:
            found.append(_shown(item, wrong, f"{CONTROL_NO}{item.id}"))
    return found


def _gold_of_another(item: Item, sources: Sequence[Item], rng: random.Random) -> str | None:
    """A text that is gold elsewhere and not here; None where all have the same gold."""
    start, n = rng.randrange(len(sources)), len(sources)
    texts = (
        text
        for step in range(n)
        for text in sources[(start + step) % n].references
        if text not in item.references
    )
    return next(texts, None)


def _shown(item: Item, text: str, id: str) -> Item:
    return replace(item, id=id, prediction=text, structure=None, matched=frozenset(), notes=())
