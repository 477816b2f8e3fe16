"""Combiners and reducers made at random that keep texts of values, or look at them. Not a test module."""

from __future__ import annotations

import random
from dataclasses import dataclass

PRAGMA = "#pragma mapreduce combiner key(prev) value(n) keyin(word) valuein(v0) keylength(32) vallength(1)\n"
TEXTS = (b"", b"a", b"ab", b"abc", b"b", b"a b", b" a", b"a ", b"x,y", b"x;y", b"a\tb", b"7", b"-7", b"12345678",
         b"\xff\xfe", b"\xc3\xa4", b"abcdefgh" * 2, b"z" * 39, b"z" * 40, b"y" * 70, b"\x01")
ODD = (b"a\0b", b"a\rb", b"\0")


@dataclass(frozen=True)
class Program:
    """fields: of a value, each "int" or "text"."""

    source: str
    fields: tuple[str, ...]


def value(rng: random.Random, made: Program, texts: tuple[bytes, ...], *, odd: bool = False) -> bytes:
    """One that most probably reads back, or does not. texts: what stands between two fields."""
    found = b""
    for field, between in zip(made.fields, (*texts, b""), strict=True):
        if field == "int":
            found += b"%d" % rng.randrange(-9, 99)
        else:
            often = rng.choice([b"a", b"ab", b"b", b"abc", b"x%d" % rng.randrange(9)])
            found += rng.choice([often] * 9 + [rng.choice(TEXTS + (ODD if odd else ()))])
        found += between
    return found


def program(seed: int, *, reducer: bool = False) -> Program:
    return _Maker(random.Random(seed), reducer).program()


class _Maker:
    def __init__(self, rng: random.Random, reducer: bool) -> None:
        self.rng, self.reducer = rng, reducer
        self.fields = [rng.choice(["int", "text"]) for _ in range(rng.randint(0, 2))]
        self.fields.insert(rng.randint(0, len(self.fields)), "text")
        self.style = rng.choice(["scanf", "sscanf", "set", "strtok", "strchr", "mixed"])
        if self.style == "mixed":
            self.fields = ["int", "text"]
        plain = self.style in ("scanf", "sscanf")
        self.between = [" " if plain else rng.choice([",", ";", ":"]) for _ in self.fields[1:]]
        self.sizes = {f"a{n}": rng.choice([4, 8, 16, 40]) for n in range(rng.randint(1, 3))}

    # ------------------------------------------------------------------------------------- steps

    def keep(self, own: str, text: str) -> str:
        return self.rng.choice([
            f"strcpy({own}, {text});", f'snprintf({own}, sizeof {own}, "%s", {text});', f'sprintf({own}, "%s", {text});',
            f"strncpy({own}, {text}, sizeof {own} - 1); {own}[sizeof {own} - 1] = 0;",
            f"memcpy({own}, {text}, strlen({text}) + 1);", f'snprintf({own}, 3, "%s", {text});',
        ])

    def text_step(self, own: str) -> str:
        rng = self.rng
        text = f"v{rng.choice([n for n, field in enumerate(self.fields) if field == 'text'])}"
        keep, other = self.keep(own, text), rng.choice(list(self.sizes))
        copied = f"strcpy({own}, {other});" if self.sizes[other] <= self.sizes[own] and other != own else keep
        return rng.choice([
            "", keep, copied, f"if (strcmp({text}, {own}) < 0) {{ {keep} }}",
            f"if (strcmp({own}, {text}) <= 0) {{ {keep} }}",
            f"if (strlen({text}) > strlen({own})) {{ {keep} }}", f"if ({text}[0] == 'a') {{ {keep} }}",
            f'if (!strncmp({text}, {own}, 2)) strcpy({own}, "-");',
            f'if (strcmp({own}, "b") == 0) {{ {keep} }} else {own}[0] = 0;',
            f"if ({own}[0] == 0) {{ {keep} }}", f"memset({own}, 0, sizeof {own});", f"{own}[2] = 0;",
            f"if (!*{own} || n > 3) {{ {keep} {copied} }}",
            f'if (strlen({own}) + strlen({text}) + 2 < sizeof {own}) {{ strcat({own}, ","); strcat({own}, {text}); }}',
            f'if (strlen({own}) < sizeof {own} - 1) strncat({own}, {text}, 1);',
            f'if (strlen({text}) < 2) snprintf({own}, sizeof {own}, "%ld%s", n % 10, {text});',
            f'if (strlen({own}) + 1 < sizeof {own}) {{ if (n > 2) strcat({own}, "+"); else snprintf({own}, 2, "%d", m); }}',
        ])

    def number_step(self) -> str:
        rng, own = self.rng, self.rng.choice(list(self.sizes))
        at = rng.randrange(len(self.fields))
        if self.fields[at] == "int":
            return rng.choice([f"n += v{at};", f"switch (v{at}) {{ case 1: n++; break; default: n += 2; }}"])
        return rng.choice([f"if (strcmp(v{at}, {own})) n++;", f"n += strlen(v{at});", f"n = n * 3 + v{at}[0];", "n++;",
                           f"n += strcmp(v{at}, {own}) > 0 ? 1 : 5;"])

    def program(self) -> Program:
        rng = self.rng
        first = " ".join(self.keep(own, self.some_text()) if rng.random() < 0.8 else f"{own}[0] = 0;" for own in self.sizes)
        steps = [self.text_step(own) for own in self.sizes] + [self.number_step()]
        if rng.random() < 0.4:  # one that is put together, its length beside it
            size, what = rng.choice([8, 20, 60]), self.some_text()
            add = rng.choice([f'"%s;", {what}', f'"%ld/%.2s ", n, {what}', '"%d", m'])
            self.sizes["b"] = size
            first += f" q = snprintf(b, sizeof b, {add});"
            steps.append(f"if (q < (int)sizeof b) q += snprintf(b + q, sizeof b - q, {add});")
        rng.shuffle(steps)
        shown = [rng.choice(["%s", "%s", "%-6s", "%.2s"]) for _ in self.sizes]
        emit = f'printf("%s\\t%ld {",".join(shown)}\\n", prev, n, {", ".join(self.sizes)});'
        if self.reducer:
            emit = rng.choice([emit, f'printf("{shown[0]}|%s\\n", a0, prev); if (n > 3 && strcmp(a0, "b")) puts(a0);',
                               'if (a0[0]) printf("%s %ld\\n", a0, n); else puts(prev);'])
        loop, read = self.reading()
        body = (f"if (n && strcmp(word, prev) == 0) {{ {' '.join(steps)} m = 1; }}"
                f" else {{ if (m) {{ {emit} }} strcpy(prev, word); n = 1; m = 1; {first} }}").replace("if (n &&", "if (m &&")
        arrays = " int q = 0;" + "".join(f" char {name}[{size}];" for name, size in self.sizes.items())
        source = (f"int main(void) {{ char word[32], prev[32]; long n = 0; int m = 0;{arrays} {self.declared()}\n"
                  f"{'' if self.reducer else PRAGMA}{loop} {{ {read} {body} }}\nif (m) {{ {emit} }}\nreturn 0; }}\n")
        return Program(source, tuple(self.fields))

    def some_text(self) -> str:
        return f"v{self.rng.choice([n for n, field in enumerate(self.fields) if field == 'text'])}"

    # ------------------------------------------------------------------------------------- reading

    def declared(self) -> str:
        cut = self.style in ("strtok", "strchr", "mixed")
        kinds = {"int": "int {};", "text": "char *{};" if cut else "char {}[40];"}
        lines = "" if self.style == "scanf" else " char *line = NULL, *p, *end; size_t cap = 0;"
        return " ".join(kinds[field].format(f"v{n}") for n, field in enumerate(self.fields)) + lines

    def reading(self) -> tuple[str, str]:
        count = len(self.fields)
        targets = ", ".join(f"&v{n}" if field == "int" else f"v{n}" for n, field in enumerate(self.fields))
        if self.style == "scanf":
            specs = " ".join("%d" if field == "int" else "%39s" for field in self.fields)
            return f'while (scanf("%31s {specs}", word, {targets}) == {count + 1})', ""
        loop = "while (getline(&line, &cap, stdin) != -1)"
        if self.style == "sscanf":
            specs = " ".join("%d" if field == "int" else "%39s" for field in self.fields)
            key = self.rng.choice(["%31s", "%31[^\\t]"])
            return loop, f'if (sscanf(line, "{key} {specs}", word, {targets}) != {count + 1}) continue;'
        if self.style == "set":
            stops = [*self.between, "\\n"]
            specs = "".join(("%d" if field == "int" else f"%39[^{stop}\\n]") + between
                            for field, stop, between in zip(self.fields, stops, [*self.between, ""], strict=True))
            return loop, f'if (sscanf(line, "%31s {specs}", word, {targets}) != {count + 1}) continue;'
        chop = self.rng.choice(['line[strcspn(line, "\\n")] = 0;', "if ((end = strchr(line, '\\n')) != NULL) *end = 0;"])
        return loop, self.cut(chop)

    def cut(self, chop: str) -> str:
        copy = 'snprintf(word, 32, "%s", line);'
        if self.style == "strtok":
            stops = [*self.between, "\\n"]
            tokens = "".join(f' p = strtok(NULL, "{stop}"); v{n} = {"atoi(p)" if field == "int" else "p"};'
                             for n, (field, stop) in enumerate(zip(self.fields, stops, strict=True)))
            return f'strtok(line, "\\t"); {copy}{tokens}'
        head = f"{chop} p = strchr(line, '\\t'); *p = 0; {copy} p++;"
        if self.style == "mixed":
            return f"{head} v0 = strtol(p, &end, 10); v1 = end + 1;"
        for n, field in enumerate(self.fields):
            last = n == len(self.fields) - 1
            cut = "" if last else f" end = strchr(p, '{self.between[n]}'); *end = 0;"
            head += f"{cut} v{n} = {'atoi(p)' if field == 'int' else 'p'};" + ("" if last else " p = end + 1;")
        return head
