# SPDX-License-Identifier: Apache-2.0
"""Formulas by hand, and against the same formulas written as loops over one stream."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.batch import Batch
from assay.core.metric import Metric
from assay.core.text import TextLists, Texts
from assay.tasks.simul.atd import PIECE_MS
from assay.tasks.simul.latency import fairseq_latency
from assay.tasks.simul.ragged import Ragged
from assay.tasks.simul.registry import metric
from assay.tasks.simul.streams import Emission, Streams
from assay.tasks.simul.units import unit_counts

NAN = math.nan


def value(name: str, emission: Emission, reference: str = "") -> float:
    batch = Batch(Streams.of([emission]), TextLists.single(Texts.of([reference])))
    return one(metric(name), batch)


def one(measure: Metric, batch: Batch) -> float:
    return float(measure.per_example(measure.measure(batch))[measure.scores[0].name][0])


# Source of 1000 ms; 4 units at 250, 500, 1000, 1000; a reference of 2 units: ideal steps of 500.
# AL: (250-0 + 500-500 + 1000-1000) / 3; LAAL and DAL against 4 units: steps of 250.
# LAAL: (250 + 250 + 500) / 3. DAL: g = 250, 500, 1000, 1250 less 0, 250, 500, 750 = 250, 250, 500, 500.
FOUR = Emission("a b c d", [250.0, 500.0, 1000.0, 1000.0], 1000.0, [300.0, 600.0, 1200.0, 1300.0])
SPOKEN = Emission(
    "", [400.0, 400.0, 2000.0], 2400.0, [500.0, 500.0, 2500.0], durations=[350.0, 250.0, 700.0]
)
TEXT = Emission("x y z", [1.0, 2.0, 3.0], 3.0, source_type="text")


@pytest.mark.parametrize(
    ("name", "emission", "reference", "wanted"),
    [
        ("AL@simuleval", FOUR, "a b", 250 / 3),
        ("LAAL", FOUR, "a b", 1000 / 3),
        ("AP", FOUR, "a b", 2750 / 2000),
        ("DAL", FOUR, "a b", 375.0),
        ("YAAL", FOUR, "a b", 250.0),  # 250, 250; the third was written at the end
        ("StartOffset", FOUR, "", 250.0),
        ("StartOffset_CA", FOUR, "", 300.0),
        ("EndOffset", FOUR, "", 0.0),
        ("EndOffset_CA", FOUR, "", 300.0),
        ("RTF", FOUR, "", 1.0),
        ("NumChunks", FOUR, "", 4.0),
        ("AL@simuleval(length=prediction)", FOUR, "a b", 1000 / 3),
        ("AL@simuleval", FOUR, "", 1000 / 3),  # without a reference, its own length
        # Spoken: 400-750, 750-1000, 2000-2700. One gap, of 1000 ms.
        ("EndOffset", SPOKEN, "", 300.0),
        ("RTF", SPOKEN, "", 2700 / 2400),
        ("DiscontinuitySum", SPOKEN, "", 1000.0),
        ("DiscontinuityAve", SPOKEN, "", 1000.0),
        ("DiscontinuityNum", SPOKEN, "", 1.0),
        ("DiscontinuitySum", FOUR, "", NAN),
        # Computation-aware: pieces at 500, 500 and 2500 end at 850, 1100 and 3200.
        ("EndOffset_CA", SPOKEN, "", 800.0),
        ("RTF_CA", SPOKEN, "", 3200 / 2400),
        # ATD of words: each rendered when it has been read, and lasting one word: 1, 1, 1.
        ("ATD", TEXT, "", 1.0),
        # Spoken chunks: 600 ms in two pieces, 700 ms in three. Source pieces: 300 and 100 ms until
        # 400, then 1600 ms in six. Ends 700, 1000, 2300, 2600, 2700; rendered: 300, 400, 700,
        # 1000, 1300: with as many pieces before, nothing has run ahead.
        ("ATD", SPOKEN, "", (400 + 600 + 1600 + 1600 + 1400) / 5),
        ("LongYAAL", Emission("a b", [500.0, 9000.0], 1000.0, to_end=9000.0), "a b", 500.0),
        ("LongYAAL", Emission("a b", [500.0, 8999.0], 1000.0, to_end=9000.0), "a b", 4499.5),
        ("StreamLAAL", FOUR, "a b", 1 / 3),
        ("LAAL", Emission("", [], 1000.0), "a b", NAN),
        ("LAAL", Emission("a", [0.0], 0.0), "a b", NAN),
        ("LAAL", Emission("a", [5.0], 0.0), "a b", 5.0),
        # SimulEval counts no character in an empty reference: there is no pace to hold up against.
        ("AL@simuleval(unit=char,counting=simuleval)", Emission("a", [5.0], 9.0), "", NAN),
        ("AL@simuleval(unit=char,counting=simuleval)", Emission("a", [9.5], 9.0), "", 9.5),
        ("AP", Emission("a", [5.0], 0.0), "a b", NAN),
        ("DAL", Emission("a", [5.0], 0.0), "a b", NAN),
        ("LAAL_CA", TEXT, "x y z", NAN),  # words have no milliseconds
        ("AL@fairseq", Emission("a", [1.0], 1.0, source_type="text", end=2.0), "", 1.0),
        ("NormalisedErasure", Emission("a b", [1.0, 2.0], 3.0, deleted=1.0), "", 0.5),
        ("NormalisedErasure", FOUR, "", NAN),
    ],
)  # fmt: skip
def test_by_hand(name: str, emission: Emission, reference: str, wanted: float) -> None:
    assert value(name, emission, reference) == pytest.approx(wanted, nan_ok=True)


def test_rounding_makes_no_gap_between_pieces_of_speech() -> None:
    # Each piece waits for the one before; as sums the starts differ in the last digit.
    waiting = Emission("", [0.1, 0.2, 0.3, 0.4], 9.0, durations=[0.7, 0.1, 0.7, 0.6])
    assert value("DiscontinuityNum", waiting) == 0
    assert math.isnan(value("DiscontinuityAve", waiting))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 900), st.floats(0, 900)), min_size=1, max_size=12))
def test_gaps_are_those_of_a_loop(pieces: list[tuple[float, float]]) -> None:
    gaps, end = [], pieces[0][0]
    for delay, duration in pieces:
        gaps.append(max(delay - end, 0.0))
        end = max(delay, end) + duration
    spoken = Emission("", [p[0] for p in pieces], 500.0, durations=[p[1] for p in pieces])
    assert value("DiscontinuitySum", spoken) == pytest.approx(sum(gaps), abs=1e-9)
    assert value("DiscontinuityNum", spoken) == sum(gap > 0 for gap in gaps)
    assert value("EndOffset", spoken) == end - 500.0


def test_an_end_mark_of_text_does_not_lengthen_the_source_of_other_metrics() -> None:
    # In fairseq's way of counting the words after the last have the position of the end mark.
    marked = Emission("x y z", [1.0, 2.0, 4.0], 3.0, source_type="text", end=4.0)
    assert value("LAAL", marked, "x y z") == value("LAAL", TEXT, "x y z")


def test_fairseq_stops_at_the_first_unit_behind_the_end() -> None:
    # Delays fall again: the original leaves out only the unit behind each that has read all.
    found = fairseq_latency(Ragged.of([[2, 4, 1, 4]]), np.array([4.0]))
    assert found["AL"][0] == (2 + 3) / 2


# -- against loops ------------------------------------------------------------------------------


def loop_lagging(times: list[float], source: float, length: float) -> float:
    total = 0.0
    for i, time in enumerate(times):
        total += time - i * source / length
        if time >= source:
            return total / (i + 1)
    return total / len(times)


def loop_dal(times: list[float], source: float) -> float:
    step, last, total = source / len(times), 0.0, 0.0
    for i, time in enumerate(times):
        last = time if i == 0 else max(time, last + step)
        total += last - i * step
    return total / len(times)


def loop_yaal(times: list[float], source: float, length: float) -> float:
    early = []
    for i, time in enumerate(times):
        if time >= source:
            break
        early.append(time - i * source / length)
    return sum(early) / len(early) if early else NAN


def loop_atd(
    delays: list[float],
    elapsed: list[float] | None,
    durations: list[float] | None,
    of_text: bool,
) -> float:
    """As published: pieces of source and target in lists, one unit after the other."""
    chunks: list[tuple[float, list[int]]] = []
    for i, delay in enumerate(delays):
        if chunks and chunks[-1][0] == delay:
            chunks[-1][1].append(i)
        else:
            chunks.append((delay, [i]))
    ends: list[float] = []  # when each piece of source has ended
    until: list[int] = []  # pieces of source up to each chunk
    read = 0.0
    for delay, _ in chunks:
        left, size = delay - read, 1.0 if of_text else PIECE_MS
        while left > 0:
            read += min(size, left)
            left -= min(size, left)
            ends.append(read)
        until.append(len(ends))
    units: list[tuple[int, float, float, float]] = []  # chunk, delay, length, computation
    late = [e - d for e, d in zip(elapsed, delays, strict=True)] if elapsed else [0.0] * len(delays)
    if elapsed and not any(elapsed):
        late = [0.0] * len(delays)
    for c, (delay, members) in enumerate(chunks):
        before = late[members[0] - 1] if members[0] else 0.0
        if durations is not None:
            said = sum(durations[i] for i in members)
            pieces = []
            while said > 0:
                pieces.append(min(PIECE_MS, said))
                said -= PIECE_MS
            share = (late[members[-1]] - before) / len(pieces)
            units += [(c, delay, p, share) for p in pieces]
            continue
        for i in members:
            units.append((c, delay, 1.0 if of_text else 0.0, late[i] - (late[i - 1] if i else 0.0)))
    total, end = 0.0, 0.0
    for t, (c, delay, length, computing) in enumerate(units, start=1):
        end = max(delay, end) + length + computing
        targets = sum(1 for other, *_ in units if other < c)
        pieces_before = until[c - 1] if c else 0
        s = min(t - max(0, targets - pieces_before), until[c])
        total += end - (ends[s - 1] if s > 0 else 0.0)
    return total / len(units)


rising = st.lists(st.integers(0, 40), min_size=1, max_size=12).map(
    lambda steps: [float(v) for v in np.cumsum(steps)]
)


@settings(max_examples=150, deadline=None)
@given(rising, st.integers(1, 300), st.integers(1, 15))
def test_lagging_is_that_of_a_loop(delays: list[float], source: int, words: int) -> None:
    emission = Emission("", delays, float(source), [d + i for i, d in enumerate(delays, 1)])
    reference, n = " ".join("w" * words), len(delays)
    longer = max(n, words)
    cases = {
        "AL@simuleval": loop_lagging(delays, source, words),
        "LAAL": loop_lagging(delays, source, longer),
        "LAAL_CA": loop_lagging(emission.elapsed, source, longer),
        "DAL": loop_dal(delays, source),
        "DAL_CA": loop_dal(emission.elapsed, source),
        "YAAL": loop_yaal(delays, source, longer),
        "AP": sum(delays) / source / words,
    }
    for name, wanted in cases.items():
        found = value(name, emission, reference)
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9, nan_ok=True), name


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 90), st.integers(1, 900)), min_size=1, max_size=10),
    st.sampled_from(["text", "speech", "spoken"]),
    st.booleans(),
)  # fmt: skip
def test_token_delay_is_that_of_a_loop(
    steps: list[tuple[int, int, int]], kind: str, silent: bool
) -> None:
    size = 1 if kind == "text" else 170
    delays = [float(d) for d in np.cumsum([s[0] * size for s in steps])]
    elapsed = [0.0 if silent else d + s[1] for d, s in zip(delays, steps, strict=True)]
    durations = [float(s[2]) for s in steps] if kind == "spoken" else None
    emission = Emission(
        "", delays, delays[-1] + 1, elapsed, "text" if kind == "text" else "speech", durations=durations
    )  # fmt: skip
    found = value("ATD", emission), value("ATD_CA", emission)
    of_text = kind == "text"
    assert found[0] == pytest.approx(loop_atd(delays, None, durations, of_text), abs=1e-9)
    assert found[1] == pytest.approx(loop_atd(delays, elapsed, durations, of_text), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="ab \t\n\x1c\x85\u00a0\u3000\u2009é字", max_size=12), max_size=6))
def test_words_are_those_of_split(texts: list[str]) -> None:
    column = Texts.of(texts)
    shorter = [len(t.split()) for t in texts[1:-1]]
    assert unit_counts(column[1:-1], "word").tolist() == shorter
    assert unit_counts(column, "word").tolist() == [len(t.split()) for t in texts]
    assert unit_counts(column, "word", "simuleval").tolist() == [len(t.split(" ")) for t in texts]
    assert unit_counts(column, "char").tolist() == [len("".join(t.split())) for t in texts]


def test_pieces_need_a_model() -> None:
    from assay.core.errors import InputError, UsageError

    with pytest.raises(UsageError, match="needs the model"):
        unit_counts(Texts.of(["a"]), "spm")
    pytest.importorskip("sentencepiece")
    with pytest.raises(InputError, match="cannot be read as a SentencePiece model"):
        unit_counts(Texts.of(["a"]), "spm", model="/nowhere.model")
