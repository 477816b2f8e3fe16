"""What bench.brc asks Polars and DuckDB: the same result as a query over the same file, as scripts of a Python of their own.

A script's arguments are the text, the output file and the form of its lines: `degrees` (the challenge's), `integers` (what
is behind them) or `means` (of doubles). The libraries are told the columns' types, and that rows may come in any order;
they stream, and use all processors.

Sums of temperatures are rounded to tenths before the mean is taken: then they are the exact sums, whatever their order
was, and the mean is the division that the C program does.
"""

from __future__ import annotations

_WRITE = r"""
def write(rows, path, form):
    degrees = "{0}\t{1:.1f}/{5:.1f}/{2:.1f}\n"
    integers = "{0}\t{3} {4} {6} {7}\n"
    line = degrees if form == "degrees" else integers
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for name, low, high, total, count in rows:
            tenths = round(total * 10)
            mean = tenths / 10 / count
            file.write(line.format(name, low, high, round(low * 10), round(high * 10), mean, tenths, count))
"""

POLARS = _WRITE + r"""
import sys
import polars as pl
text, path, form = sys.argv[1:]
rows = pl.scan_csv(text, has_header=False, separator=";", quote_char=None, schema={"name": pl.String, "value": pl.Float64})
value, of_name = pl.col("value"), rows.group_by("name")
if form == "means":
    result = of_name.agg(value.mean().alias("mean"), pl.len().alias("count")).sort("name").collect(engine="streaming")
    result.write_csv(path, separator="\t", include_header=False)
else:
    columns = value.min().alias("low"), value.max().alias("high"), value.sum().alias("total"), pl.len().alias("count")
    write(of_name.agg(*columns).sort("name").collect(engine="streaming").iter_rows(), path, form)
"""

DUCKDB = _WRITE + r"""
import sys
import duckdb
text, path, form = sys.argv[1:]
duckdb.sql("SET preserve_insertion_order = false; SET enable_progress_bar = false")
columns = "columns = {'name': 'VARCHAR', 'value': 'DOUBLE'}"
rows = f"read_csv(?, {columns}, delim = ';', header = false, quote = '', escape = '', auto_detect = false)"
if form == "means":
    query = f"SELECT name, avg(value), count(*) FROM {rows} GROUP BY name ORDER BY name"
    duckdb.execute(f"COPY ({query}) TO '{path}' (DELIMITER '\t', HEADER false, QUOTE '')", [text])
else:
    query = f"SELECT name, min(value), max(value), sum(value), count(*) FROM {rows} GROUP BY name ORDER BY name"
    write(duckdb.execute(query, [text]).fetchall(), path, form)
"""

LIBRARIES = {"Polars": ("polars", POLARS), "DuckDB": ("duckdb", DUCKDB)}
