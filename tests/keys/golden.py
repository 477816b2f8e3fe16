"""Makes golden.txt: what Hadoop's own classes say of random lines and keys.

    python -m tests.keys.golden

asks HadoopKeys.java on the jars of the cluster that `heterodoop cluster up` fetched. A line of the table is a question and,
behind " = ", its answer; texts are hexadecimal, "-" is none.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
TABLE = HERE / "golden.txt"
LETTERS = (b"01.-", b"0123459.-", b"ab", b"a1\xff\xc3\xa9\xe2\x82\xf0\x9f\x98\x80\xed\xa0", b"a 1-.x+")
SEPARATORS = (b"\t", b",", b".", b"ab", b"--", b"::")
ROWS = 1000


def shown(data: bytes) -> str:
    return data.hex() or "-"


def questions(chance: random.Random) -> list[str]:
    def key(separator: bytes) -> bytes:
        letters = chance.choice(LETTERS)
        fields = [bytes(chance.choice(letters) for _ in range(chance.randrange(5))) for _ in range(chance.randrange(1, 5))]
        return separator.join(fields)

    def end() -> str:
        text = chance.choice(["1", "2", "3", "4"]) + chance.choice(["", "", "", ".1", ".2", ".3"])
        return text + chance.choice(["", "", "", "n", "r", "nr", "rn"])

    def options() -> str:
        found = [chance.choice(["-k", "-k "]) + end() + chance.choice(["", f",{end()}"]) for _ in range(chance.randrange(4))]
        found += chance.choice([[], [], ["-n"], ["-r"], ["-nr"]])
        chance.shuffle(found)
        return " ".join(found)

    asked = []
    for _ in range(ROWS):
        separator = chance.choice(SEPARATORS)
        mark, text = shown(separator), shown(key(separator))
        asked.append(chance.choice([
            f"split {mark} {chance.randrange(5)} {text}",
            f"partition {mark} {shown(options().encode())} {chance.choice([2, 3, 7, 1000])} {text}",
            f"fields {mark} {chance.randrange(1, 4)} {chance.choice([3, 1000])} {text}",
            *[f"compare {mark} {shown(options().encode())} {text} {shown(key(separator))}"] * 2,
        ]))
    return asked


def answers(jars: Path, asked: list[str]) -> list[str]:
    """What Hadoop says; "! CLASS": it throws."""
    command = ["java", "-cp", f"{jars}/*", HERE / "HadoopKeys.java"]
    done = subprocess.run(command, input="\n".join(asked) + "\n", capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def main() -> None:
    jars = max(Path.home().glob(".cache/heterodoop/hadoop-*/lib"))
    asked = questions(random.Random(21))
    rows = zip(asked, answers(jars, asked), strict=True)
    TABLE.write_text("".join(f"{question} = {answer}\n" for question, answer in rows if answer[0] != "!"))


if __name__ == "__main__":
    main()
