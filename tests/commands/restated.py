# SPDX-License-Identifier: Apache-2.0
"""The rules of judging commands written down a second time, one short function for each sentence.

Nothing here is shared with the task `commands`: no parser, no table of utilities, no reader of
sheets. Templates are those of the few kinds of commands that the tests make. With `old` it is the
program that is replaced, quirk for quirk; else what Assay says of itself.
"""

from __future__ import annotations

import csv
import io
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nltk.stem.snowball import EnglishStemmer

# Keys of descriptions

STEMMER = EnglishStemmer()
STOP = """the has have had here there do how i i'd i'll i'm i've me my myself can could did does
doing must should would you you'd you'll you're you've your yours yourself yourselves he he'd he'll
he's her here's hers herself him himself his she she'd she'll she's it's itself we we'd we'll we're
we've their theirs themselves then there's they they'd they'll they're they've let let's this what's
how's"""
UNITS = """zero - two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen twenty"""
TENS = "thirty forty fifty sixty seventy eighty ninety"
NUMBERS = {word: str(n) for n, word in enumerate(UNITS.split()) if word != "-"}
NUMBERS |= {word: str(n) for n, word in zip(range(30, 100, 10), TENS.split(), strict=True)}
NUMBERS["twenty-four"] = "24"
SHORT = ("i.e", "e.g", "s.a", "s.t", "i.e.", "e.g.", "s.a.", "s.t.", "'s", "'t")
PAIRS = (
    ("normal/regular", "regular"),
    ("regular/normal", "regular"),
    ("normal/regualar", "regular"),
    ("file/directory", "file or directory"),
    ("files/directories", "files and directories"),
    ("names/paths", "name or path"),
    ("name/path", "name or path"),
)


def without_brackets(text: str) -> str:
    start = text.find("(")
    end = text.find(")", start)
    if start < 0 or end < 0:
        return text
    return text[:start] + without_brackets(text[end + 1 :])


def repaired(text: str) -> str:
    text = without_brackets(text)
    for old, new in zip("\u201c\u201d\u2018\u2019", "\"\"''", strict=True):
        text = text.replace(old, new)
    for two in ("`'", "``", "''"):
        text = text.replace(two, '"')
    text = text.replace("(", " ( ").replace(")", " ) ")
    text = text.replace(" `", " '").replace("` ", "' ").replace("server`s", "server's")
    for sign in ",;:.":
        first, *others = text.split(sign)
        kept = first
        for place, part in enumerate(others, start=1):
            is_end = place == len(others) and not part
            kept += f" {part.lstrip()}" if is_end or part[:1].isspace() else sign + part
        text = kept
    for ending in ("'s", "'re", "'ve", "'d", "'t"):
        text = text.replace(ending, f" {ending}")
    if text.startswith(("To ", "to ", "|o ")):
        text = text[3:]
    text = text.replace("${HOME}", "\\$HOME")
    for two, one in PAIRS:
        text = text.replace(f'"{two}"', one).replace(two, one)
    return text.replace(" pattern' ", " pattern ")


def quoted(text: str, at: int) -> int:
    """The length of the single-quoted strings that begin here and stand free; 0 without."""
    if at > 0 and not text[at - 1].isspace():
        return 0
    best, end = 0, at
    while text.startswith("'", end) and "'" in text[end + 1 :]:
        end = text.index("'", end + 1) + 1
        if end == len(text) or text[end].isspace():
            best = end - at
    return best


def permission(text: str, at: int) -> int:
    """The length of the one permission expression that begins here: who, sign, what; 0 without."""
    who = at
    while text[who : who + 1] and text[who] in "ugo|":
        who += 1
    for sign in range(who, at, -1):
        what = sign + 1
        while text[what : what + 1] and text[what] in "rwxsut|":
            what += 1
        if text[sign : sign + 1] in ("+", "|", "=") and what > sign + 1:
            return what - at
    return 0


def permissions(text: str, at: int) -> int:
    """The length of the comma-joined permission expressions that begin here; 0 without."""
    length = permission(text, at)
    while length and text.startswith(",", at + length):
        more = permission(text, at + length + 1)
        if not more:
            break
        length += 1 + more
    return length


def run(text: str, at: int) -> int:
    """The length of what is neither white space nor comma; a double-quoted string is one."""
    end = at
    while end < len(text):
        if text[end] == '"' and '"' in text[end + 1 :]:
            end = text.index('"', end + 1) + 1
        elif text[end] in ',"' or text[end].isspace():
            break
        else:
            end += 1
    return end - at


def words(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        length = quoted(text, at) or permissions(text, at) or run(text, at)
        if length:
            yield text[at : at + length].strip()
        at += length or 1


def is_english(word: str) -> bool:
    parts = word.split("-")
    return word.lower() in SHORT or all(p and p.isascii() and p.isalpha() for p in parts)


def normal(word: str) -> str:
    if word in ("", '"', "'"):
        return ""
    both_quoted = word[0] in "\"'" and word[-1] in "\"'"
    if len(word) > 1 and is_english(word) and not both_quoted:
        word = word.lower()
    if word.lower() in STOP.split():
        return ""
    word = NUMBERS.get(word, word)
    if word[0] in "\"'" or word[-1] in "\"'" or any(c in word for c in "_.*|\\/~@%#?+${}<>"):
        return word
    return str(STEMMER.stem(word))


def key(description: str) -> str:
    found = [normal(word) for word in words(repaired(description.strip()))]
    return " ".join(word.strip() for word in found if word.strip())


# Templates

KNOWN = {"ls": "File", "cat": "File", "wc": "File", "rm": "File", "echo": "Regex", "which": "Regex"}


@dataclass(frozen=True)
class Form:
    """A command as it is compared; `stored` is the template that sheets hold."""

    template: str
    command: str
    stored: str


def nested_words(text: str) -> str:
    """Words that are no command to the old program: brackets nest, the outermost ends it."""
    found = text.split()
    if not found or not found[0].startswith("("):
        return " ".join(found)
    if found[0] != "(":
        return ""
    kept, depth = [], 0
    for word in found:
        kept.append(word)
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0:
            break
    return " ".join(kept)


def simple(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """One command: template and values."""
    name = tokens[0].removeprefix("/bin/")
    template, values = [name], [name]
    for token in tokens[1:]:
        if token.startswith("-"):
            letters = [f"-{letter}" for letter in token[1:]]
            template += letters
            values += letters
        else:
            template.append(KNOWN.get(name, "Regex"))
            values.append(token)
    return template, values


def form(text: str, old: bool) -> Form:
    """Commands here are words between single blanks; `|`, `;` and `&&` stand alone."""
    tokens = (text.replace("sudo", "") if old else text).split()
    while not old and tokens[:1] == ["sudo"]:
        tokens = tokens[1:]
    if len(tokens) > 1 and tokens[-1] in (";", "&"):
        tokens = tokens[:-1]
    parts: list[list[str]] = [[]]
    signs = []
    for token in tokens:
        if token in ("|", ";", "&&"):
            signs.append(token)
            parts.append([])
        else:
            parts[-1].append(token)
    strange = any(
        not part or part[0].startswith("(") or part[0].removeprefix("/bin/") not in KNOWN
        for part in parts
    )
    if old and (strange or set(signs) - {"|"}):
        return Form(nested_words(text), nested_words(text), "")
    if any(not part or "(" in "".join(part) or ")" in "".join(part) for part in parts):
        plain = " ".join(text.split())
        return Form(plain, plain, plain)
    template, values = [], []
    for part, sign in zip(parts, [*signs, ""], strict=True):
        one = simple(part)
        template += [*one[0], sign]
        values += [*one[1], sign]
    shown = " ".join(template).strip()
    return Form(shown, " ".join(values).strip(), shown)


# Files


@dataclass(frozen=True)
class Group:
    """One description with its gold commands."""

    description: str
    keys: tuple[str, ...]
    references: list[str]


def groups(pairs: Sequence[tuple[str, str]]) -> list[Group]:
    """Pairs with one key together, in the order of keys."""
    found: dict[str, list[tuple[str, str]]] = {}
    for description, command in pairs:
        found.setdefault(key(description), []).append((description.strip(), command.strip()))
    return [
        Group(found[k][0][0], (k,), [command for _, command in found[k]]) for k in sorted(found)
    ]


def predictions(text: str, top: int, old: bool) -> list[list[str]]:
    """One list per line, cut to the first ones."""
    lines = text.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    found = []
    for i, line in enumerate(lines):
        if old:
            feed = "\n" if ended or i + 1 < len(lines) else ""
            found.append((line + feed).split("|||")[:top])
        else:
            found.append([part.strip() for part in line.split("|||") if part.strip()][:top])
    return found


def sample(n: int, size: int, seed: int) -> list[int]:
    order = list(range(n))
    random.seed(seed)
    random.shuffle(order)
    return order[:size] if size > 0 else order


Table = dict[tuple[str, str], str]


@dataclass
class Tables:
    """Judgements of templates and of commands, by key of the description and by text.

    `other` are the templates that sheets give to commands which have this one; `first` is what the
    sheets say of templates, whatever is said later.
    """

    template: Table = field(default_factory=dict)
    command: Table = field(default_factory=dict)
    other: dict[str, set[str]] = field(default_factory=dict)
    first: Table = field(default_factory=dict)
    read: list[str] = field(default_factory=list)


def judgements(files: Mapping[str, str], old: bool) -> Tables:
    tables = Tables()
    for name in sorted(files):
        if "evaluations" not in name or name.endswith("base"):
            continue
        tables.read.append(name)
        description = ""
        for row in csv.DictReader(io.StringIO(files[name], newline="")):
            description = row["description"] or description
            text = row["prediction"]
            template = form(text, old).stored
            if old and row.get("template") is not None:
                if template and row["template"]:
                    tables.other.setdefault(template, set()).add(row["template"])
                template = row["template"]
            for table, column, place in (
                (tables.template, "correct template", template),
                (tables.command, "correct command", text),
            ):
                if row[column]:
                    table[key(description), place] = row[column]
    tables.first = dict(tables.template)
    return tables


# Judging


def is_yes(answer: str, old: bool, automatic: bool) -> bool:
    if not old:
        return answer.strip().lower() == "y"
    return (answer.lower() if automatic else answer) == "y"


@dataclass
class Judging:
    """One evaluation: what is printed, which rows are appended, and the four accuracies."""

    old: bool
    automatic: bool = False
    answers: list[str] | None = None
    path: str = ""
    out: str = ""
    rows: str = ""
    unjudged: dict[str, int] = field(default_factory=lambda: {"structure": 0, "command_only": 0})
    possible: list[tuple[bool, bool]] = field(default_factory=list)

    def cell(self, stored: str, matched: bool) -> str:
        """y, n, or nothing: what is stored comes before a match."""
        if stored:
            return "y" if is_yes(stored, self.old, self.automatic) else "n"
        return "y" if matched else ""

    def stored(self, table: Table, group: Group, text: str) -> str:
        return next((table[k, text] for k in group.keys if table.get((k, text))), "")

    def one(self, place: int, group: Group, text: str, tables: Tables) -> tuple[bool, bool]:
        """Whether the template and the command of a prediction are right."""
        own = form(text, self.old)
        gold = [form(reference, self.old) for reference in group.references]
        command_match = any(own.command == g.command for g in gold)
        template_match = command_match or any(own.template == g.template for g in gold)
        if not self.old and not text.strip():
            command_match = template_match = False
        said = self.stored(tables.template, group, own.template)
        for other in sorted(tables.other.get(own.template, ())):
            said = said or self.stored(tables.first, group, other)
        before = self.stored(tables.command, group, text)
        template = self.cell(said, template_match)
        command = self.cell(before, command_match)
        right = template == "y", command == "y"
        self.possible.append((template != "n", right[1] or (template != "n" and command == "")))
        if right[1] or template == "n" or (template and command):
            return right
        if self.answers is None:
            self.unjudged["command_only" if right[0] else "structure"] += 1
            return right
        self.out += f"#{place}. {group.description}\n"
        self.out += "".join(f"- GT{j}: {text}\n" for j, text in enumerate(group.references))
        self.out += f"> {text}\n"
        said = "y" if right[0] else self.ask("CORRECT STRUCTURE? [y/reason] ")
        yes = is_yes(said, self.old, False)
        second = before
        try:
            if yes and (self.old or command == ""):
                second = self.ask("CORRECT COMMAND? [y/reason] ")
        except EOFError:
            if not self.old and not right[0]:
                self.row(group.description, text, own.stored, said, "")
            raise
        self.row(group.description, text, own.stored, said or "n", second or "n")
        self.out += f"new judgement added to {self.path}\n\n"
        # To the old program an empty answer is none, though the row says n.
        tables.template[group.keys[0], own.template] = said or ("" if self.old else "n")
        tables.command[group.keys[0], text] = second or ("" if self.old else "n")
        return yes, is_yes(second, self.old, False)

    def row(self, *cells: str) -> None:
        self.rows += ",".join('"' + c.replace('"', '""') + '"' for c in cells) + "\n"

    def ask(self, question: str) -> str:
        assert self.answers is not None
        self.out += question
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)

    def accuracies(
        self,
        chosen: Sequence[int],
        gold: Sequence[Group],
        given: Sequence[list[str]],
        tables: Tables,
    ) -> dict[str, list[float]]:
        """Lower and upper bounds of top 1 and top k, of commands and of templates."""
        names = [f"{b}{q}{k}" for b in ("", "<") for q in ("template", "command") for k in (1, 3)]
        sums = dict.fromkeys(names, 0)
        for place, i in enumerate(chosen):
            self.possible = []
            hits = [self.one(place, gold[i], text, tables) for text in given[i]]
            for mark, those in (("", hits), ("<", self.possible)):
                for at, name in enumerate(("template", "command")):
                    sums[f"{mark}{name}1"] += any(hit[at] for hit in those[:1])
                    sums[f"{mark}{name}3"] += any(hit[at] for hit in those)
        n = len(chosen)
        return {
            name: [sums[f"{name}{k}"] / n for k in (1, 3)]
            for name in ("command", "template", "<command", "<template")
        }


def printed(found: Mapping[str, Sequence[float]], n: int, top: int, automatic: bool) -> str:
    """The documented last lines; of the automatic ones those that say how many are right."""
    ranks = ((0, 1),) if top == 1 else ((0, 1), (1, top))
    lines = {
        (name, k): f"Top {k} {name.title()} Acc = {found[name][at]:.3f}"
        for name in ("command", "template")
        for at, k in ranks
    }
    order = [(name, k) for name in ("command", "template") for _, k in ranks]
    if automatic:
        order = [(name, k) for _, k in ranks for name in ("template", "command")]
    return "\n".join([f"{n} examples evaluated", *(lines[each] for each in order)]) + "\n"


# Other metrics


def tokens(text: str, old: bool) -> list[str]:
    """Utilities, flags and signs of a command; none where it cannot be parsed."""
    own = form(text, old)
    if not own.stored or "(" in text:
        return []
    types = {*KNOWN.values(), "Regex"}
    return [token for token in own.template.split() if token not in types]


def cosine(a: Sequence[str], b: Sequence[str]) -> float:
    every = sorted({*a, *b})
    dot = sum(a.count(t) * b.count(t) for t in every)
    norms = [math.sqrt(sum(side.count(t) ** 2 for t in every)) for side in (a, b)]
    return dot / (norms[0] * norms[1]) if dot else 0.0


def template_scores(gold: Sequence[Group], given: Sequence[list[str]], old: bool) -> list[float]:
    """Mean over groups of rank 1, and of the best rank."""
    first = best = 0.0
    for group, texts in zip(gold, given, strict=True):
        values = [
            max(cosine(tokens(text, old), tokens(ref, old)) for ref in group.references)
            for text in texts
        ]
        first += values[0] if values else 0.0
        best += max(values, default=0.0)
    return [first / len(gold), best / len(gold)]


def used(text: str) -> list[tuple[str, set[str]]]:
    """Utilities with their flags, as the challenge's parser sees them."""
    found: list[tuple[str, set[str]]] = []
    for part in " ".join(tokens(text, True)).split("|"):
        names = part.split()
        if names:
            found.append((names[0], set(names[1:])))
    return found


def nlc2cmd_pair(reference: str, prediction: str, confidence: float) -> float:
    a, b = used(reference), used(prediction)
    n = max(len(a), len(b))
    total = 0.0
    for i in range(n):
        one = a[i] if i < len(a) else ("none", set())
        other = b[i] if i < len(b) else ("none", set())
        if one[0].lower() != other[0].lower():
            total -= 1
            continue
        flags = 1.0
        if one[1] or other[1]:
            both, every = len(one[1] & other[1]), len(one[1] | other[1])
            flags = (2 * both - every) / max(1, len(one[1]), len(other[1]))
        total += (1 + flags) / 2
    return confidence * total / n if n else 0.0


def nlc2cmd(references: Sequence[str], given: Sequence[tuple[str, float]]) -> float:
    """The best over gold and the first five predictions if above 0, else the mean; -1 without."""
    values = [
        nlc2cmd_pair(ref, text, sure) for ref in references for text, sure in given[:5] if text
    ]
    if not values:
        return -1.0
    return max(values) if max(values) > 0 else sum(values) / len(values)
