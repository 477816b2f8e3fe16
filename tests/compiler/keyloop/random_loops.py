"""Combiners and reducers made at random: what is read and how, what is kept and where, how a key begins and ends.

Not a test module.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

PRAGMA = "#pragma mapreduce combiner key({key}) value({value}) keyin(word) valuein(v0) keylength(32) vallength(1)"
CONVERSIONS = {"int": "d", "unsigned": "u", "long": "ld", "unsigned long": "lu", "double": "lf", "float": "f"}
PRINTED = {**CONVERSIONS, "double": "g", "float": "g"}
LARGEST = {"int": "2147483647", "unsigned": "4294967295u", "long": "9223372036854775807L",
           "unsigned long": "18446744073709551615ul", "double": "1e300", "float": "3e38"}
LEAST = {"int": "(-2147483647 - 1)", "unsigned": "0", "long": "(-9223372036854775807L - 1)", "unsigned long": "0",
         "double": "-1e300", "float": "-3e38"}
PARSERS = {
    "int": ("atoi({p})", "(int)strtol({p}, {end}, 10)"), "long": ("atol({p})", "strtol({p}, {end}, 10)"),
    "unsigned": ("", "(unsigned)strtoul({p}, {end}, 10)"), "unsigned long": ("", "strtoul({p}, {end}, 10)"),
    "double": ("atof({p})", "strtod({p}, {end})"),
}


@dataclass(frozen=True)
class Gathered:
    """A variable of the state: its type, what it is with the first pair, and the statement for each other one.

    start  a constant from which the statement for another pair does for the first, too; "" where there is none.
    """

    type: str
    first: str
    step: str
    start: str = ""


@dataclass(frozen=True)
class Program:
    """`types`: of the numbers of a value, for who makes pairs."""

    source: str
    types: tuple[str, ...]
    number_key: bool


def program(seed: int, *, folds: bool = False, reducer: bool = False) -> Program:
    """`folds`: one that keeps an integer for each number of a value, and prints them as such. `reducer`: one that prints
    anything, with or without a directive."""
    return _Maker(random.Random(seed), folds, reducer).program()


class _Maker:
    def __init__(self, rng: random.Random, folds: bool, reducer: bool = False) -> None:
        self.rng, self.folds, self.reducer = rng, folds, reducer
        self.key_type = rng.choice(["text", "text", "text", "int", "long"])
        self.style = rng.choice(["scanf", "sscanf", "rest", "strtok", "chain", "search"] + ["eof"] * (not folds))
        kinds = ["int", "long", "unsigned", "unsigned long"]
        if not folds:
            kinds += ["double"] + (["float"] if "scanf" in self.style else [])
        self.types = [rng.choice(kinds) for _ in range(rng.randint(1, 3))]
        self.between = [rng.choice([" ", ",", ";", "\t", ":"]) for _ in self.types[1:]]
        self.where = rng.choice(["locals", "globals", "struct", "global struct", "pointer"])
        self.state = [self.gathered(f"{{s{n}}}") for n in range(rng.randint(1, 4))]
        if folds:
            self.state = [self.reduced(f"{{s{n}}}", kind, f"v{n}") for n, kind in enumerate(self.types)]
        self.array: tuple[str, int] | None = None  # type and length
        if not folds and self.where in ("locals", "globals") and rng.random() < 0.4:
            self.array = (rng.choice(["int", "long", "double", "unsigned"]), rng.randint(1, 6))
        idioms = ["have", "first"] + ["count"] * (not folds) + ["key"] * (self.key_type == "text")
        self.idiom = rng.choice(idioms)

    # ------------------------------------------------------------------------------------- what is kept

    def reduced(self, own: str, kind: str, v: str) -> Gathered:
        """What a fold does: the number at the state's own place, by one operation."""
        return self.rng.choice([
            Gathered(kind, v, f"{own} += {v};", "0"), Gathered(kind, v, f"{own} |= {v};", "0"),
            Gathered(kind, v, f"{own} ^= {v};", "0"), Gathered(kind, v, f"{own} &= {v};"),
            Gathered(kind, v, f"if ({v} < {own}) {own} = {v};", LARGEST[kind]),
            Gathered(kind, v, f"{own} = {v} > {own} ? {v} : {own};", LEAST[kind]),
        ])

    def gathered(self, own: str) -> Gathered:
        rng, at = self.rng, self.rng.randrange(len(self.types))
        v, read = f"v{at}", self.types[at]
        same, real = rng.choice([read, read, "long", "double"]), read in ("double", "float")
        kind = "double" if real and same not in ("float", "double") else same
        zero = "0.0" if kind in ("double", "float") else "0"
        choices = [
            Gathered(kind, v, f"{own} += {v};", zero if kind not in ("double", "float") else ""),
            Gathered("long", "1", f"{own}++;", "0"), Gathered("int", "1", f"{own} += 1;", "0"),
            Gathered(read, v, f"if ({v} < {own}) {own} = {v};", LARGEST[read] if not real else ""),
            Gathered(read, v, f"if ({own} < {v}) {own} = {v};", LEAST[read] if not real else ""),
            Gathered(read, v, f"{own} = {v} > {own} ? {v} : {own};"),
            Gathered(kind, v, f"{own} = {v};"), Gathered(kind, v, f"{own} = {own} - {v};"),
            Gathered(kind, f"{v} * {v}", f"{own} += {v} * {v};", zero if kind not in ("double", "float") else ""),
            Gathered("int", f"{v} > 3", f"if ({v} > 3) {own}++; else if ({v} < -3) {own} -= 2;"),
            Gathered(kind, v, f"{own} = {own} * 3 + {v};"),
            Gathered("long", f"{v} > 0 && {v} < 9 ? 5 : 2", f"{own} += {v} > 0 && {v} < 9 ? 5 : 2;", "0"),
            Gathered("int", f"!({v} == 4 || {v} < 0)", f"{own} = {own} || {v} == 7;"),
        ]
        choices += [
            Gathered("double", f"fabs({v})", f"{own} += sqrt(fabs({v}));"),
            Gathered("double", f"sqrt(fabs({v} * 0.5))", f"if (sqrt(fabs({v})) > {own}) {own} = fabs({v} - 1);"),
        ]
        if not real:
            choices += [
                *([Gathered("int", f"abs({v})", f"if (abs({v}) > {own}) {own} = abs({v});")] if read == "int" else []),
                Gathered("long", f"labs({v})", f"{own} = labs({own} - {v} % 1000);"),
                Gathered("int", "0", f"switch ({v} % 5) {{{{ case 0: case 3: {own}++; break; case 1: {own} += 2;"
                         f" default: {own} -= 1; case 2: if ({own} > 9) break; {own} *= 2; }}}}"),
                Gathered("long", v, f"switch ({v}) {{{{ case 1: {own} += 9; break; case 2: break; case 3: {own} = 0; }}}}"),
                Gathered(read, v, f"{own} |= {v};", "0"), Gathered(read, v, f"{own} ^= {v};", "0"),
                Gathered(read, v, f"{own} &= {v};"),
                Gathered("unsigned", f"{v} % 7", f"{own} = {own} * 31u + (unsigned){v};"),
                Gathered("int", f"(short){v}", f"{own} = ({own} << 1) ^ ({v} >> 2);"),
                Gathered("long", f"{v} / 3", f"{own} += {v} / -5 - -{own};"),
            ]
        return rng.choice(choices)

    def array_step(self) -> str:
        rng, at = self.rng, self.rng.randrange(len(self.types))
        assert self.array is not None
        v, n, real = f"v{at}", self.array[1], self.types[at] in ("double", "float")
        added = v if not real or self.array[0] == "double" else "7"  # a floating number is not made an integer
        one, other = rng.randrange(n), rng.randrange(n)
        choices = [f"h[{one}] += {added};", f"h[{one}] = h[{other}] + 1;", f"if ({v} > 3) h[{one}]++; else h[{other}] -= 2;",
                   f"h[h[{one}] > h[{other}] ? {one} : {other}] += 3;",
                   f"for (i = {n - 1}; i > 0; i--) h[i] = h[i - 1]; h[0] = {added};"]
        if not real:
            choices += [f"h[(unsigned){v} % {n}]++;", f"if ({v} >= 0 && {v} < {n}) h[{v}] += {v};",
                        f"h[{v} & {n >> 1}]--;",
                        f"h[(unsigned long){v} % {n}u] = h[{one}]; h[{other}] += 2;"]
        return " ".join(rng.choice(choices) for _ in range(rng.randint(1, 2)))

    def array_begin(self) -> str:
        assert self.array is not None
        n = self.array[1]
        return self.rng.choice(["memset(h, 0, sizeof h);", f"for (i = 0; i < {n}; i++) h[i] = 0;",
                                " ".join(f"h[{at}] = {at};" for at in range(n)), f"i = 0; do h[i] = i; while (++i != {n});"])

    # ------------------------------------------------------------------------------------- the program

    def program(self) -> Program:
        rng = self.rng
        names = [self.name(n) for n in range(len(self.state))]
        counted = self.idiom == "count"
        if counted:
            self.state.append(Gathered("long", "1", f"{{s{len(names)}}}++;", "0"))
            names.append(self.name(len(names)))
        env = {f"s{n}": name for n, name in enumerate(names)}
        whole = all(g.start for g in self.state) and rng.random() < 0.5
        test = {"key": f"{self.prev()}[0]", "have": "have", "first": "!first", "count": f"{names[-1]}"}[self.idiom]
        if counted and rng.random() < 0.5:
            test += rng.choice([" > 0", " != 0"])
        steps = " ".join(g.step.format(**env) for g in self.state)
        begin = " ".join(f"{name} = {g.start if whole else g.first};" for name, g in zip(names, self.state, strict=True))
        if self.array is not None:
            steps, begin = f"{steps} {self.array_step()}", f"{begin} {self.array_begin()}"
        begin = f"{self.keep()} {begin} " + {"have": "have = 1;", "first": "first = 0;"}.get(self.idiom, "")
        emit, helper = self.emit(names, test)
        equal = f"strcmp(word, {self.prev()}) == 0" if self.key_type == "text" else f"word == {self.prev()}"
        both = self.idiom != "key" or rng.random() < 0.5
        known = f"{test} && {equal}" if both else equal
        if whole:
            other = f"!({known})"
            if both and rng.random() < 0.5:
                none = f"{names[-1]} == 0" if counted else f"!({test})"
                other = f"{none} || {equal.replace('==', '!=')}"
            body = f"if ({other}) {{ {emit} {begin} }} {steps}"
        elif rng.random() < 0.5:
            body = f"if ({known}) {{ {steps} }} else {{ {emit} {begin} }}"
        else:
            body = f"if ({known}) {{ {steps} continue; }} {emit} {begin}"
        declarations, files = self.declared(names)
        loop, before, read = self.reading()
        plain = self.where in ("locals", "globals")
        pragma = PRAGMA.format(key="prev" if plain else "cur", value=names[0] if plain else "cur")
        numbers = "".join(f"{kind} v{n}; " for n, kind in enumerate(self.types))
        word = {"text": "char word[32];", "int": "int word;", "long": "long word;"}[self.key_type]
        flags = "int have = 0; " if self.idiom == "have" else "int first = 1; " if self.idiom == "first" else ""
        region = rng.choice(["{{ {} {} }}\n", "{}\n{}\n"]).format(f"{loop} {{ {read} {body} }}", emit)
        around = ("", "")
        if self.reducer:
            pragma = rng.choice([pragma, ""])
            region = region if pragma else f"{loop} {{ {read} {body} }}\n{emit}\n"
            around = rng.choice([("", ""), ('printf("key\\tall\\n");', ""), ('puts("begin");', 'puts("end\\n");')])
        source = (f"{files}\n{helper}\nint main(void) {{ {word} {numbers} {flags} {declarations} {before}\n"
                  f"{around[0]}\n{pragma}\n{region}{around[1]}\nreturn 0; }}\n")
        return Program(source, tuple(self.types), self.key_type != "text")

    def name(self, n: int) -> str:
        return f"s{n}" if self.where in ("locals", "globals") else f"cur.s{n}"

    def prev(self) -> str:
        return "prev" if self.where in ("locals", "globals") else "cur.prev"

    def keep(self) -> str:
        if self.key_type == "text":
            return self.rng.choice([f"strcpy({self.prev()}, word);", f'snprintf({self.prev()}, 32, "%s", word);'])
        return f"{self.prev()} = word;"

    def declared(self, names: list[str]) -> tuple[str, str]:
        """In main, and of the file."""
        prev = {"text": "char prev[32]", "int": "int prev", "long": "long prev"}[self.key_type]
        fields = [prev] + [f"{g.type} s{n}" for n, g in enumerate(self.state)]
        fields += [f"{self.array[0]} h[{self.array[1]}]", "int i"] if self.array is not None else []
        start = " ".join(f"{name} = 0;" for name in names) + (f" {self.prev()}[0] = 0;" if self.key_type == "text" else "")
        if self.where == "globals":
            return "", "".join(f"static {field}; " for field in fields)
        if self.where == "locals":
            return "; ".join(fields) + "; " + start, ""
        struct = f"struct state {{ {'; '.join(fields)}; }};"
        if self.where == "global struct":
            return "", struct + " static struct state cur;"
        if self.rng.random() < 0.5:
            first = '""' if self.key_type == "text" else "0"
            return f"struct state cur = {{{', '.join([first] + ['0'] * len(names))}}}; ", struct
        return "struct state cur; " + start, struct

    def emit(self, names: list[str], test: str) -> tuple[str, str]:
        """The statement that prints a key where there is one, and the helper that it calls."""
        rng = self.rng
        specs = ["%" + PRINTED[g.type] for g in self.state]
        values = list(names)
        if not self.folds and rng.random() < 0.3:
            specs, values = [*specs, "%.3f"], [*values, f"(double){names[0]} / {rng.choice(['7.0', '2'])}"]
        if self.array is not None:
            specs += ["%" + PRINTED[self.array[0]]] * self.array[1]
            values += [f"h[{at}]" for at in range(self.array[1])]
        key = {"text": "%s", "int": "%d", "long": "%ld"}[self.key_type]
        between = rng.choice([" ", ",", "; "])
        call = f'printf("{key}\\t{between.join(specs)}\\n", {self.prev()}, {", ".join(values)});'
        if self.reducer:
            call = self.output(names, key)
            if self.array is not None:
                some = rng.choice(["", "if (h[i]) ", "if (h[i] > 2) printf(\"[%d]\", i); else "])
                one = f'printf(" %{PRINTED[self.array[0]]}", h[i]);'
                call += f" for (i = 0; i < {self.array[1]}; i++) {some}{one} putchar(10);"
        if not self.folds and rng.random() < 0.15:
            call = f"if ({names[0]} > 2) {{ {call} }}"
        if self.where == "pointer":
            own, inside = rng.choice(["p", "cur"]), self.idiom in ("key", "count") and rng.random() < 0.5
            text = f"if ({test}) {{ {call} }}" if inside else call
            helper = f"static void put(struct state *{own}) {{ {text.replace('cur.', own + '->')} }}"
            return "put(&cur);" if inside else f"if ({test}) put(&cur);", helper
        if "global" in self.where and rng.random() < 0.6:
            return f"if ({test}) put();", f"static void put(void) {{ {call} }}"
        return f"if ({test}) {{ {call} }}", ""

    def output(self, names: list[str], key: str) -> str:
        """What a reducer prints of a key: any text."""
        rng, first, last, prev = self.rng, names[0], names[-1], self.prev()
        spec = "%" + PRINTED[self.state[0].type]
        same = last if self.state[-1].type == self.state[0].type else first
        divisor = rng.choice(["3", "0.5", f"(1.0 + {last})"])
        mean = f'printf("{key} %.1f\\n", {prev}, (double){first} / {divisor});'
        return rng.choice([
            mean, f'printf("[{spec}] ", {first}); {mean}',
            f'if ({first} > 2) {{ {mean} }} else printf("{key}: few\\n", {prev});',
            f'puts("--"); printf("{spec}\\t{key}", {first}, {prev}); if ({last} != 3) putchar(10); else puts("!");',
            f'printf("{spec.replace("%", "%012")}|{spec.replace("%", "%-9")}|\\n", {first}, {same});',
            f'printf("{"%-7s|%2.1s" if key == "%s" else key + key}\\n", {prev}, {prev});',
            f'printf("{key}\\n", {prev});', f'printf("%e,", (double){first});',
        ])

    # ------------------------------------------------------------------------------------- reading

    def reading(self) -> tuple[str, str, str]:
        """The loop's head, what it needs declared, and the statements that take a pair apart."""
        targets = ", ".join(["word" if self.key_type == "text" else "&word"] + [f"&v{n}" for n in range(len(self.types))])
        values = self.format()
        key = {"text": "%31s", "int": "%d", "long": "%ld"}[self.key_type]
        if self.style in ("scanf", "eof"):
            test = f"== {len(self.types) + 1}" if self.style == "scanf" else "!= EOF"
            return f'while (scanf("{key} {values}", {targets}) {test})', "", ""
        line = self.rng.choice(["getline", "fgets"])
        if line == "getline":
            loop, before = "while (getline(&line, &cap, stdin) != -1)", "char *line = NULL; size_t cap = 0; "
        else:
            loop, before = "while (fgets(line, sizeof line, stdin))", "char line[400]; "
        before += "char *p, *end;"
        if self.style == "sscanf":
            return loop, before, f'if (sscanf(line, "{key} {values}", {targets}) != {len(self.types) + 1}) continue;'
        return loop, before, self.cut(values)

    def format(self) -> str:
        loose = [" " if b in " \t" else self.rng.choice([b, b + " "]) for b in self.between]
        specs = ["%" + CONVERSIONS[kind] for kind in self.types]
        return specs[0] + "".join(b + s for b, s in zip(loose, specs[1:], strict=True))

    def cut(self, values: str) -> str:
        copy = {
            "text": 'snprintf(word, 32, "%s", line);', "int": "word = atoi(line);", "long": "word = atol(line);",
        }[self.key_type]
        if self.style == "strtok":
            numbers = enumerate(self.types)
            tokens = "".join(f' p = strtok(NULL, "{self.stops(n)}"); v{n} = {self.parse(kind, "p")};' for n, kind in numbers)
            return f'strtok(line, "\\t"); {copy}{tokens}'
        head = f"p = strchr(line, '\\t'); *p = 0; {copy} p++; "
        if self.style == "rest":
            targets = ", ".join(f"&v{n}" for n in range(len(self.types)))
            return head + f'if (sscanf(p, "{values}", {targets}) != {len(self.types)}) continue;'
        parts = []
        for n, kind in enumerate(self.types):
            last = n == len(self.types) - 1
            if self.style == "chain":
                parts.append(f"v{n} = {PARSERS[kind][1].format(p='p', end='&end')};" + ("" if last else " p = end + 1;"))
            else:
                search = f" p = strchr(p, '{self.escaped(n)}') + 1;" if not last else ""
                parts.append(f"v{n} = {self.parse(kind, 'p')};" + search)
        return head + " ".join(parts)

    def stops(self, n: int) -> str:
        return "\\n" if n == len(self.types) - 1 else self.escaped(n)

    def escaped(self, n: int) -> str:
        return self.between[n].replace("\t", "\\t")

    def parse(self, kind: str, p: str) -> str:
        plain, strto = PARSERS[kind]
        return (plain or strto).format(p=p, end="NULL") if self.rng.random() < 0.7 else strto.format(p=p, end="NULL")
