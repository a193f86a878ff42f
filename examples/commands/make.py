# SPDX-License-Identifier: Apache-2.0
"""Writes the sample data of this folder: `python examples/commands/make.py`.

Behind each prediction stands what the judges said of it: first of its structure, then of the
command (`yn` is right utilities and flags with a wrong value); nothing where it matches gold by
rule, and nothing where nobody has looked yet.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

HERE = Path(__file__).parent
SAMPLE, SEED = 20, 100
WREN_IS_BETTER = (1, 2, 4, 8, 9, 14, 17, 20, 23, 27)
"""Rows of the table; in all others heron is."""

TABLE = [
    # description
    #   gold commands
    #   predictions of the system that does better here, best first; those of the other one
    ("List all files in the folder garden, hidden ones too",
     ["ls -a garden"],
     ["ls -a garden", "ls -A garden yy"], ["ls garden nn", "ls -la garden nn"]),
    ("Count the lines of seeds.txt",
     ["wc -l seeds.txt", "wc -l < seeds.txt"],
     ["wc -l seeds.txt", "cat seeds.txt | wc -l yy"],
     ["cat seeds.txt | wc -l yy", "wc seeds.txt nn"]),
    ("Show the first 5 lines of log.txt",
     ["head -n 5 log.txt"],
     ["head -5 log.txt yy", "head log.txt nn"], ["tail -n 5 log.txt nn", "head -n 5 log.txt"]),
    ("Find all empty folders below the current one",
     ["find . -type d -empty"],
     ["find . -type d -empty", "find . -empty -type d yy"],
     ["find . -empty nn", "find . -type d nn"]),
    ("Delete every .tmp file below /var/cache",
     ["find /var/cache -name '*.tmp' -delete", "find /var/cache -name '*.tmp' -exec rm {} +"],
     ["find /var/cache -name *.tmp -delete yn", "rm /var/cache/*.tmp nn"],
     ["find /var/cache -name '*.tmp' | xargs rm yy", "rm -r /var/cache nn"]),
    ("Make weed.sh executable for its owner",
     ["chmod u+x weed.sh"],
     ["chmod u+x weed.sh", "chmod +x weed.sh yn"], ["chmod 777 weed.sh yn", "chmod -x weed.sh nn"]),
    ("Print the second column of plants.csv",
     ["cut -d, -f2 plants.csv"],
     ["cut -d ',' -f 2 plants.csv yy", "awk -F, '{print $2}' plants.csv yy"],
     ["cut -f2 plants.csv nn", "cut -d, -f1 plants.csv"]),
    ("Sort names.txt and drop double lines",
     ["sort -u names.txt", "sort names.txt | uniq"],
     ["sort names.txt | uniq", "sort -u names.txt"], ["uniq names.txt nn", "sort names.txt nn"]),
    ("Copy the folder tools to /mnt/backup with everything in it",
     ["cp -r tools /mnt/backup"],
     ["cp -a tools /mnt/backup yy", "cp tools /mnt/backup nn"], ["cp -r tools /mnt/backup"]),
    ("Show how much space each folder in /home takes, in readable units",
     ["du -sh /home/*"],
     ["du -sh /home/*", "du -h /home nn"], ["df -h /home nn", "du -s /home/* nn"]),
    ("Search all Python files here for the word harvest",
     ["grep -r --include='*.py' harvest ."],
     ["grep -r harvest --include='*.py' . yy", "grep harvest *.py nn"],
     ["grep harvest *.py nn", "find . -name '*.py' -exec grep harvest {} + yy"]),
    ("Pack the folder orchard into orchard.tar.gz",
     ["tar czf orchard.tar.gz orchard"],
     ["tar -czf orchard.tar.gz orchard", "tar cf orchard.tar.gz orchard nn"],
     ["tar -cvzf orchard.tar.gz orchard yy", "gzip orchard nn"]),
    ("Show the ten processes that use most memory",
     ["ps aux --sort=-%mem | head -n 11"],
     ["ps aux | sort -nrk 4 | head yy", "top -n 10 nn"], ["ps aux | head nn", "free -m nn"]),
    ("Rename notes.txt to notes.old",
     ["mv notes.txt notes.old"],
     ["mv notes.txt notes.old", "cp notes.txt notes.old nn"],
     ["mv notes.txt notes.bak", "rename notes.txt nn"]),
    ("Find files larger than 100 megabytes in /data",
     ["find /data -type f -size +100M"],
     ["find /data -size +100M yy", "find /data -type f -size +100M"],
     ["find /data -type f -size 100M nn", "ls -lS /data nn"]),
    ("Replace every tab in rows.txt by a blank",
     ["tr '\\t' ' ' < rows.txt", "sed 's/\\t/ /g' rows.txt"],
     ["sed 's/\\t/ /g' rows.txt", "expand rows.txt yn"],
     ["sed 's/\\t/ /' rows.txt", "cat rows.txt nn"]),
    ("Say which folder I am in",
     ["pwd"],
     ["pwd", "echo $PWD yy"], ["pwd"]),
    ("Download https://example.org/list.txt and save it as plants.txt",
     ["curl -o plants.txt https://example.org/list.txt", "wget -O plants.txt https://example.org/list.txt"],
     ["wget -O plants.txt https://example.org/list.txt", "wget https://example.org/list.txt nn"],
     ["curl https://example.org/list.txt > plants.txt yy", "wget https://example.org/list.txt nn"]),
    ("Count how often each word occurs in poem.txt",
     ["tr -s ' ' '\\n' < poem.txt | sort | uniq -c"],
     ["cat poem.txt | tr ' ' '\\n' | sort | uniq -c yy", "wc -w poem.txt nn"],
     ["sort poem.txt | uniq -c nn", "grep -c word poem.txt nn"]),
    ("Show the differences between old.conf and new.conf side by side",
     ["diff -y old.conf new.conf"],
     ["diff -y old.conf new.conf", "sdiff old.conf new.conf yy"], ["diff old.conf new.conf nn"]),
    ("List the files changed within the last day",
     ["find . -type f -mtime -1"],
     ["find . -type f -mtime -1", "find . -mtime -1 yy"],
     ["find . -type f -mtime 1 nn", "ls -lt nn"]),
    ("Stop the process with number 4242 at once",
     ["kill -9 4242"],
     ["kill -9 4242", "kill -KILL 4242 yy"], ["kill 4242 nn", "killall 4242 nn"]),
    ("Print lines 10 to 20 of manual.txt",
     ["sed -n '10,20p' manual.txt"],
     ["sed -n 10,20p manual.txt yy", "head -n 20 manual.txt | tail -n 11 yy"],
     ["head -n 20 manual.txt | tail -n 10 yn", "sed '10,20p' manual.txt nn"]),
    ("Link the folder /opt/garden-2 as /opt/garden",
     ["ln -s /opt/garden-2 /opt/garden"],
     ["ln -s /opt/garden-2 /opt/garden", "ln /opt/garden-2 /opt/garden nn"],
     ["ln -s /opt/garden /opt/garden-2", "cp -r /opt/garden-2 /opt/garden nn"]),
    ("Show the lines of app.log that do not contain DEBUG",
     ["grep -v DEBUG app.log"],
     ["grep -v DEBUG app.log", "grep -v 'DEBUG' app.log yy"],
     ["grep -v DEBUG app.log", "grep DEBUG app.log nn"]),
    ("Create the folders a/b/c in one go",
     ["mkdir -p a/b/c"],
     ["mkdir -p a/b/c"], ["mkdir a/b/c nn", "mkdir -p a/b/c"]),
    ("Print today's date as year-month-day",
     ["date +%Y-%m-%d", "date +%F"],
     ["date +%F", "date +'%Y-%m-%d' yy"], ["date nn", "date +%d-%m-%Y yn"]),
    ("Change the owner of all files below site to www",
     ["chown -R www site"],
     ["chown -R www site", "chown www site/* nn"], ["chown www site nn", "chmod -R www site nn"]),
    ("Show the number of files in each folder here",
     ["for d in */; do echo \"$d $(ls \"$d\" | wc -l)\"; done"],
     ["ls | wc -l nn", "find . -type f | cut -d/ -f2 | sort | uniq -c yy"], ["ls -l | wc -l nn"]),
    ("Watch the end of server.log while it grows",
     ["tail -f server.log"],
     ["tail -f server.log", "tail -F server.log yy"], ["tail server.log nn", "tail -f server.log"]),
]  # fmt: skip


def split(text: str) -> tuple[str, str]:
    """A prediction and what was said of it."""
    command, _, said = text.rpartition(" ")
    return (command, said) if said in ("yy", "yn", "nn") else (text, "")


def main() -> None:
    """Write gold, both systems, and what two judges said of the drawn examples."""
    gold, heron, wren = [], [], []
    order = list(range(len(TABLE)))
    random.Random(SEED).shuffle(order)
    judged = set(order[:SAMPLE])
    log, sheet = [], []
    for number, (nl, references, *both) in enumerate(TABLE):
        first, second = reversed(both) if number in WREN_IS_BETTER else both
        id = f"garden-{number + 1:02}"
        gold.append({"id": id, "nl": nl, "references": references})
        heron.append({"id": id, "predictions": [split(text)[0] for text in first]})
        wren.append("|||".join(split(text)[0] for text in second) + "|||")
        if number not in judged:
            continue
        for rank, (command, said) in enumerate(map(split, first), start=1):
            log += verdicts(f"{id}/{rank}", nl, command, said, len(log))
        for command, said in map(split, second):
            if said:
                cells = [nl, command, said[0], said[1]]
                sheet.append(",".join('"' + cell.replace('"', '""') + '"' for cell in cells))
    folder = HERE / "judgements"
    folder.mkdir(exist_ok=True)
    write(HERE / "gold.jsonl", [json.dumps(row) for row in gold])
    write(HERE / "heron.jsonl", [json.dumps(row) for row in heron])
    write(HERE / "wren.txt", wren)
    write(folder / "verdicts.anna.jsonl", [json.dumps(row) for row in log])
    header = "description,prediction,correct template,correct command"
    write(folder / "manual.evaluations.bert.csv", [header, *sheet])


def verdicts(id: str, nl: str, command: str, said: str, second: int) -> list[dict[str, str]]:
    """Anna's answers about one prediction, as her log keeps them."""
    from assay.tasks.commands.forms import form
    from assay.tasks.commands.keys import description_key

    names = {"y": "yes", "n": "no"}
    questions = ("structure", "command")
    found = []
    for question, letter in zip(questions, said, strict=False):
        row = {"id": id, "question": question, "answer": names[letter], "key": description_key(nl)}
        row |= {"prediction": command, "judge": "anna"}
        row |= {"time": f"2026-05-04T09:{second // 60:02}:{second % 60:02}Z"}
        row |= {"structure": form(command).template}
        if question == "structure":
            row["about"] = "structure"
        found.append(row | {"description": nl})
    return found


def write(path: Path, lines: list[str]) -> None:
    """Write lines."""
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
