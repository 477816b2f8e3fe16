"""HD690 and HD7xx: what the other tables have no room for."""

from __future__ import annotations

from .entry import Entry

CODES: dict[str, Entry] = {
    "HD690": Entry(
        "a place in the line is addressed as a number",
        "A pointer into the line lies where its bytes can be changed as a number: in a union with one, in memory that a cast"
        " makes numbers of, or copied into a number. The program also reads or writes what may be the line's or another"
        " object's. A device tells the two by the address, and checks each move of such a pointer; these it cannot see.",
        "Move the pointer itself (p += n), or keep a place in the line as an index.",
    ),
    "HD710": Entry(
        "text of another encoding is read as bytes",
        "The input begins with the byte order mark of UTF-16 or UTF-32. Records are cut at the byte of a newline, as Hadoop"
        " does it, so every character is several bytes, and half of a line end stays in the next record.",
        "Convert the file to UTF-8 first: iconv -f UTF-16 -t UTF-8 PATH > FILE. Nothing, if its bytes are meant.",
    ),
}
