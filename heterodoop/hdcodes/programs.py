"""HD3xx: C that cannot be analysed, bundles."""

from __future__ import annotations

from .entry import Entry

CODES: dict[str, Entry] = {
    "HD300": Entry(
        "C compiler error",
        "The C compiler does not accept the program; its own message is shown.",
        "Correct the program; plain `cc` shows the same message.",
    ),
    "HD301": Entry(
        "link error",
        "The program compiles, but a function or library is missing.",
        "Give the missing source file, or the library with -l.",
    ),
    "HD302": Entry(
        "source file not readable",
        "The file does not exist, is a directory or may not be read.",
        "Check the path and its permissions.",
    ),
    "HD303": Entry(
        "C that the parser does not take",
        "The C compiler accepts the program, the parser that the analysis uses does not. The program runs on the "
        "CPU.",
        "For the GPU, write the construct at the place shown in plain C11.",
    ),
    "HD304": Entry(
        "construct that is not analysed",
        "The program uses an extension of C that changes what it means and that the analysis does not know: "
        "asm, nested functions, packed structs and the like. The program runs on the CPU.",
        "For the GPU, write it in plain C11.",
        line="`packed` and `#pragma pack` left out.",
    ),
    "HD305": Entry(
        "header that the analysis does not know",
        "The analysis reads small headers of its own in place of the system's, and has none for this one. The "
        "program runs on the CPU.",
        "For the GPU, do without the header, or declare the functions that you need yourself.",
        line="the `#include` left out, where nothing of it is used.",
    ),
    "HD306": Entry(
        "code that depends on a system header",
        "With the headers of the analysis `#if` chooses other lines than with the system's, so the analysis would "
        "see another program. The program runs on the CPU.",
        "For the GPU, do not test macros of system headers around the code.",
    ),
    "HD307": Entry(
        "words of the C compiler that kernels do not follow",
        "CC brings options that give programs another meaning (-ffast-math, -funsigned-char, -fshort-enums, -fsanitize and"
        " the like), or the compiler understands C otherwise than kernels do. The filter is built with them; the program"
        " runs on the CPU.",
        "For the GPU, leave the option out of CC.",
    ),
    "HD308": Entry(
        "a C library that behaves otherwise",
        "What a function reads or prints depends on the C library. The machine that compiles decides: its library was asked,"
        " and does something that kernels do not know. The program runs on the CPU.",
        "Compile on a machine with another version of the C library, or do without the function.",
    ),
    "HD309": Entry(
        "the C library cannot be asked",
        "Before kernels are made, a small program is built with CC and run once, to see how the C library behaves. That"
        " failed; the message says how. The program runs on the CPU.",
        "See that `CC` makes programs that run on this machine.",
    ),
    "HD310": Entry(
        "a bundle's manifest is damaged",
        "manifest.json is read strictly: a missing, unknown or ill-typed field means that it was changed by"
        " hand or only half"
        " written, and guessing could run the wrong program.",
        "Compile the program again.",
    ),
    "HD311": Entry(
        "a bundle of another version",
        "The manifest's format has a version, and this HeteroDoop reads only its own.",
        "Compile the program again with this version.",
    ),
    "HD312": Entry(
        "not a bundle",
        "The folder holds no readable manifest.json, or the path does not exist.",
        "Make a bundle with: heterodoop compile DIR -o NAME.hdp",
    ),
    "HD313": Entry(
        "a bundle's filter is missing or changed",
        "The manifest holds the SHA-256 of each filter that was built; the file in bin/ is another one.",
        "Compile the program again.",
    ),
    "HD330": Entry(
        "C that is not analysed",
        "A statement, declaration or function uses something that the intermediate representation has no form "
        "for: bit-fields, `long double`, wide strings, pointers to rows of variable length (a parameter "
        "`int a[n][m]`), case labels that are not constant.",
        "Write it in plainer C where it matters, or leave it: the program runs on the CPU.",
        line="the missing `#include`, or `#define _GNU_SOURCE`; `int x;` for `int x : 3;`; `double` for `long double`.",
    ),
}
