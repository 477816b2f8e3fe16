"""getenv in the record loop, end to end: each task's kernel sees its own environment, and gives the filter's bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.engine.devices.devices import DeviceSource
from heterodoop.engine.run.local import run_local
from heterodoop.engine.run.plan import RunOptions
from heterodoop.manifest import load

from ..support import Bundles
from .conftest import parts

pytestmark = pytest.mark.usefixtures("kernel_cache")
MAP = r"""
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *base(void)
{
    const char *path = getenv("mapreduce_map_input_file"), *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : "?";
}
int main(void)
{
    char *line = NULL, key[160];
    size_t cap = 0;
    int value;

    setenv("hd_made", base(), 1);
    unsetenv("hd_taken");
#pragma mapreduce mapper key(key) value(value) kvpairs(2)
    while (getline(&line, &cap, stdin) != -1) {
        const char *file = getenv("mapreduce_map_input_file"), *made = getenv("hd_made"), *job;
        line[strcspn(line, "\n")] = '\0';
        if (file == NULL)
            continue;
        value = strcmp(base(), made) == 0 && file[0] != '\0' && strlen(file) > strlen(made);
        snprintf(key, sizeof key, "%s %.40s", made, line);
        printf("%s\t%d\n", key, value);
        job = secure_getenv("hd_color");
        value = job != NULL && strcasecmp(job, line) == 0;
        printf("%s in %s, %s\t%d\n", getenv("hd_taken") ? "set" : "unset", base(), job ? job : "(none)", value);
    }
    return 0;
}
"""
SUM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *line = NULL, *tab, last[256] = "";
    size_t cap = 0;
    long sum = 0;
    int value;

#pragma mapreduce combiner key(last) value(sum) keyin(line) valuein(value) keylength(256) firstprivate(last, sum)
    {
        while (getline(&line, &cap, stdin) != -1) {
            tab = strchr(line, '\t');
            if (tab == NULL) {
                fprintf(stderr, "%s: no value\n", getenv("mapreduce_map_input_file"));
                exit(1);
            }
            *tab = '\0';
            value = atoi(tab + 1);
            if (strcmp(line, last) == 0) {
                sum += value;
            } else {
                if (last[0] != '\0')
                    printf("%s\t%ld\n", last, sum);
                strcpy(last, line);
                sum = value;
            }
        }
        if (last[0] != '\0')
            printf("%s\t%ld\n", last, sum);
    }
    return 0;
}
"""


OWN = 'setenv("hd_made", base(), 1);'


@pytest.mark.parametrize("combine", ["", SUM], ids=["map only", "with a combiner"])
@pytest.mark.parametrize("options", [(), ("--opt", "paper")], ids=["default", "paper"])
@pytest.mark.parametrize("often", ["each", "asked"])
def test_each_task_sees_its_own_environment(
    often: str, combine: str, options: tuple[str, ...], bundles: Bundles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`often`: how often the code before the region must run. One that changes its environment runs for each task."""
    monkeypatch.setenv("hd_taken", "yes" if often == "each" else "")
    source = MAP if often == "each" else MAP.replace(OWN, "").replace('unsetenv("hd_taken");', "").replace(
        'getenv("hd_made")', "base()").replace('getenv("hd_taken") ?', 'getenv("hd_taken")[0] ?')
    bundle = bundles.get(source, combine, options=options)
    kernel = load(bundle).programs[0].kernel
    assert kernel is not None and kernel.prologue_runs == often
    inputs = []
    for name, lines in {"first.txt": 300, "second.txt": 41}.items():
        (tmp_path / name).write_text("".join(f"{'red' if i % 3 else 'green'}\n" for i in range(lines)))
        inputs.append(str(tmp_path / name))
    outputs = {}
    for device in ("cpu", "emulated"):
        out = str(tmp_path / device)
        settings = ["hd.color=RED", "heterodoop.gpu.sub-split.bytes=512"]
        done = run_local(bundle, inputs, out, RunOptions(
            quiet=True, device=device, reducers=2 if combine else 0, split_size=900, settings=settings),
            devices=DeviceSource())
        outputs[device] = parts(done.output)
        assert set(done.report["device"]["map_tasks"]) == {device} if device != "cpu" else True
    assert outputs["emulated"] == outputs["cpu"]
    text = b"".join(outputs["cpu"]).decode()
    for name in ("first.txt", "second.txt"):
        assert f"{name} green\t" in text and f"unset in {name}, RED\t" in text
    assert "?" not in text and "set in" in text
