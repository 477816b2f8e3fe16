"""A job of a command in Python, one in awk, and a reducer in C++ on a real cluster: the bytes of `run`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ...support import ROOT, cli_here, parts
from .site import UBER, Site

MAP = """\
import os, sys
from helper import words
stop = open("stop.txt").read().split()
assert os.environ["mapreduce_job_id"] and os.environ["mapreduce_map_input_file"]
for line in sys.stdin:
    for word in words(line):
        if word not in stop:
            print(word + "\\t1")
"""
COMBINE = """\
#!/usr/bin/awk -f
BEGIN { FS = "\\t" }
NR > 1 && $1 "" != key { print key "\\t" sum; sum = 0 }
{ key = $1; sum += $2 }
END { if (NR) print key "\\t" sum }
"""
REDUCE = """\
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

int main()
{
    std::map<std::string, long> counts;
    for (std::string line; std::getline(std::cin, line);)
        counts[line.substr(0, line.find('\\t'))] += std::atol(line.c_str() + line.find('\\t') + 1);
    for (const auto &[word, count] : counts)
        std::cout << word << '\\t' << count << '\\n';
}
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    (folder / "stop.txt").write_text("the of")
    for name, text in {"map.py": MAP, "combine.awk": COMBINE, "app/reduce.cc": REDUCE, "lib/helper.py":
                       "def words(line):\n    return line.split()\n"}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        cli_here("compile", "app", "--map-command", "python3 map.py", "--combine-command", "./combine.awk", "--file",
                 "stop.txt", "--file", "lib/helper.py", "-o", "job.hdp")
    return folder / "job.hdp"


def test_the_result_is_that_of_run(site: Site, bundle: Path, tmp_path: Path) -> None:
    book = ROOT / "apps" / "wordcount" / "sample.txt"
    path = site.put("book", book.read_bytes())
    cli_here("run", bundle, book, "-o", tmp_path / "out")
    result = site.submit(bundle, [path], *UBER)
    assert result.parts == parts(tmp_path / "out") and result.parts[0].count(b"\n") > 5000
    assert "map tasks will run on the CPU: the map program stays on the CPU: it is a command" in result.message
    assert 0 < result.tasks("COMBINE_OUTPUT_RECORDS") < result.tasks("COMBINE_INPUT_RECORDS")
