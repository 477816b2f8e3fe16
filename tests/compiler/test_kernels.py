"""The GPU half of a bundle: its files, its entry in the manifest, what options change, what explain says of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from heterodoop import explain, manifest
from heterodoop.compiler.compile import BuildOptions, compile_to_bundle, summary
from heterodoop.compiler.decide.optimisations import names
from heterodoop.compiler.spine import emit
from heterodoop.errors import UsageError
from heterodoop.manifest import Kernel, Manifest
from heterodoop.toolchain.nvcc import KernelFile, build, find_nvcc

from ..support import ROOT, Bundles, cli_here

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
MAP = HEAD + """int main(void)
{
    char word[32], *line = NULL; size_t cap = 0; int one; double table[300];
    table[0] = atof("1");
    #pragma mapreduce mapper key(word) value(one) texture(table) threads(64) blocks(6) kvpairs(1)
    while (getline(&line, &cap, stdin) != -1) {
        one = (int)table[line[0] & 127];
        strncpy(word, line, 31);
        word[strcspn(word, " \\n")] = 0;
        printf("%s\\t%d\\n", word, one);
    }
    free(line);
    return 0;
}
"""
SUM = HEAD + """int main(void)
{
    char prev[32] = "", word[32]; int count = 0, val;
    #pragma mapreduce combiner key(prev) value(count) keyin(word) valuein(val) firstprivate(prev, count)
    {
        while (scanf("%31s %d", word, &val) == 2) {
            if (strcmp(word, prev) == 0) count += val;
            else {
                if (prev[0] != '\\0') printf("%s\\t%d\\n", prev, count);
                strcpy(prev, word);
                count = val;
            }
        }
        if (prev[0] != '\\0') printf("%s\\t%d\\n", prev, count);
    }
    return 0;
}
"""
MEAN = SUM.replace("count += val;", "count = (count + val) / 2;")


def compiled(folder: Path, combine: str = SUM, **options: object) -> tuple[Path, Manifest]:
    (folder / "map.c").write_text(MAP)
    if combine:
        (folder / "combine.c").write_text(combine)
    options = {"arch": ["none"], **options}
    build = BuildOptions.make([str(folder)], **options)  # type: ignore[arg-type]
    return compile_to_bundle(build, folder / "app.hdp")[0], manifest.load(folder / "app.hdp")


def kernel(found: Manifest, role: manifest.Role = "map") -> Kernel:
    program = found.program(role)
    assert program is not None and program.kernel is not None
    return program.kernel


def test_files_and_entries(tmp_path: Path) -> None:
    bundle, found = compiled(tmp_path)
    map, combine = kernel(found), kernel(found, "combine")
    assert (map.entry, map.threads, map.blocks, map.kvpairs, map.plan.sink) == ("hd_map", 64, 6, 1, "BlockCursor")
    assert (map.key_bytes, map.value_bytes, map.shared_bytes, map.prologue) == (31, 11, 16, "bin/map.prologue")
    assert [(v.name, v.kind, v.nbytes, v.texel) for v in map.shared] == [("table", "texture", 2400, "int32x2")]
    assert combine.prologue == "" and combine.shared == () and combine.entry == "hd_combine"
    assert "hd_map(" in (bundle / map.source).read_text() and "hd_combine(" in (bundle / combine.source).read_text()
    assert {i.path for i in found.binaries} == {
        "bin/map", "bin/map.host", "bin/map.prologue", "bin/combine", "cuda/map.cu", "cuda/combine.cu",
    }
    assert {"bin", "cuda", "manifest.json", "src"} <= {p.name for p in bundle.iterdir()}


def test_a_combiner_whose_loop_is_switched_off_stays_a_filter(tmp_path: Path) -> None:
    bundle, found = compiled(tmp_path, MEAN, no_opt=["ordered-loops"])
    combine = found.program("combine")
    assert combine is not None and combine.kernel is None and not combine.gpu_refusals
    assert not (bundle / "cuda" / "combine.cu").exists()
    assert "no key loop" in summary(bundle, found) and "over pairs that a GPU may have" in explain.explain_text(found)


def test_a_combiner_that_is_an_ordered_loop_has_its_steps_as_a_kernel(tmp_path: Path) -> None:
    bundle, found = compiled(tmp_path, MEAN)
    combine = found.program("combine")
    assert combine is not None and combine.kernel is not None and names(combine.kernel.plan) == ("ordered-loops",)
    assert (combine.kernel.numbers, combine.kernel.kept) == (1, 1)
    text = (bundle / "cuda" / "combine.cu").read_text()
    assert "divide(leaving, hd::add(s.s0, v.v0), (2), 0)" in text and "HD_ORDERED(app::Fold)" in text
    assert "a thread for each key; 8 bytes kept, 1 fields of a value" in explain.explain_text(found)


def test_options_change_the_kernel(tmp_path: Path) -> None:
    default = kernel(compiled(tmp_path)[1])
    paper = kernel(compiled(tmp_path, opt="paper")[1])
    assert paper.plan.sink == "ThreadArea" and names(paper.plan) == (
        "thread-areas", "texture", "merge-sort", "block-stealing", "vectorized", "scan-aggregation")
    assert names(default.plan) == ("block-cursor", "shared-tables", "longest-first", "radix-sort", "map-fold",
                                   "word-output", "search-ahead")
    less = kernel(compiled(tmp_path, no_opt=["longest-first", "block-cursor"])[1])
    assert names(less.plan) == ("thread-areas", "shared-tables", "radix-sort", "word-output", "search-ahead")


def cuda(folder: Path, *without: str) -> tuple[str, str]:
    """The texts of both kernels with the paper's set but for some items."""
    (folder / "map.c").write_text(MAP)
    (folder / "combine.c").write_text(SUM)
    text = emit(BuildOptions.make([str(folder)], opt="paper", no_opt=list(without)), "cuda")
    map, middle, combine = text.partition("// combine.cu:")
    assert middle and "hd_map(" in map and "hd_combine(" in combine
    return map, combine


def test_each_item_of_the_paper_s_set_shows_in_the_text(tmp_path: Path) -> None:
    map, combine = cuda(tmp_path)
    assert "using Lane = hd::Lane<hd::ThreadArea, hd::BlockItems>;" in map
    assert "using Lane = hd::Lane<hd::WarpArea, hd::OnePerWarp<hd::BlockItems>>;" in combine
    for text in (map, combine):
        assert "#define HD_WORD_STRINGS 1" in text and "HD_WORD_OUTPUT" not in text
    assert "        alignas(4) char word[32]; HD_FILL(word);" in map and "struct Warp {" not in map
    assert "struct Warp {\n    alignas(4) char prev[32];\n    alignas(4) char word[32];\n};" in combine
    assert "HD_SHARED(hd::Box<Warp[4]>, hd_warps);" in combine and "hd_warps.value[threadIdx.x / 32];" in combine
    assert "        char (&prev)[32] = hd_warp.prev; HD_FILL(prev);" in combine


def test_each_item_of_the_paper_s_set_can_be_left_out(tmp_path: Path) -> None:
    def lane(text: str) -> str:
        return text.partition("using Lane = hd::Lane<")[2].partition(">;\n")[0]

    map, combine = cuda(tmp_path, "block-stealing")
    assert (lane(map), lane(combine)) == ("hd::ThreadArea", "hd::WarpArea, hd::OnePerWarp<hd::GlobalItems>")
    map, combine = cuda(tmp_path, "thread-areas")
    assert lane(map) == "hd::BlockCursor, hd::BlockItems"
    assert lane(combine) == "hd::BlockCursor, hd::OnePerWarp<hd::BlockItems>"
    map, combine = cuda(tmp_path, "warp-combine")
    assert lane(map) == lane(combine) == "hd::ThreadArea, hd::BlockItems"
    assert "Warp" not in combine and "        alignas(4) char prev[32];" in combine
    map, combine = cuda(tmp_path, "vectorized")
    for text in (map, combine):
        assert "#define HD_WORD_OUTPUT 0" in text and "HD_WORD_STRINGS" not in text and "alignas" not in text
    assert "struct Warp {\n    char prev[32];" in combine


def test_arrays_stay_with_the_thread_where_shared_memory_is_too_small(tmp_path: Path) -> None:
    source = SUM.replace("valuein(val)", "valuein(val) threads(512)").replace("word[32]", "word[2600]")
    (tmp_path / "combine.c").write_text(source)
    (tmp_path / "map.c").write_text(MAP)
    text = emit(BuildOptions.make([str(tmp_path)], opt="paper"), "cuda").partition("// combine.cu:")[2]
    assert "Warp[16]" in text and "hd_warp.prev;" in text and "        alignas(4) char word[2600]; HD_FILL(word);" in text


def test_a_region_that_is_refused_has_no_kernel(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(MAP.replace("one = (int)", "one = rand() + (int)"))
    bundle, result = compile_to_bundle(BuildOptions.make([str(tmp_path)]), tmp_path / "app.hdp")
    assert result.manifest.programs[0].kernel is None and not (bundle / "cuda").exists()
    assert "CPU only" in summary(bundle, result.manifest)


def test_stages_of_the_back_half(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(MAP)
    (tmp_path / "combine.c").write_text(MEAN)
    (tmp_path / "reduce.c").write_text(HEAD + "int main(void) { return 0; }\n")
    options = BuildOptions.make([str(tmp_path)])
    text = emit(options, "decisions")
    assert "threads 64, blocks 6" in text and "texture" in text and "HD201" in text
    cuda = emit(options, "cuda")
    assert "hd_map(" in cuda and "HD_ORDERED(" in cuda and "HD201" in cuda
    switched = emit(BuildOptions.make([str(tmp_path)], no_opt=["ordered-loops"]), "cuda")
    assert "no key loop with a kernel" in switched


def test_a_name_with_a_line_end_stays_in_its_comment(tmp_path: Path) -> None:
    path = tmp_path / "a\nint b.c"
    path.write_text(MAP)
    bundle, result = compile_to_bundle(BuildOptions.make([str(path)], arch=["none"]), tmp_path / "app.hdp")
    lines = (bundle / kernel(result.manifest).source).read_text().splitlines()
    assert not [line for line in lines if line.startswith("int b.c")]
    assert any("a\\nint b.c" in line for line in lines) and kernel(result.manifest).prologue


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "map.c").write_text(MAP)
    app = tmp_path / "app.hdp"
    done = cli_here("compile", tmp_path, "-o", app, "--opt", "paper", "--no-opt", "texture", "--arch", "none")
    assert "CPU and GPU" in done.message and "kernels not compiled" in done.message
    assert names(kernel(manifest.load(app)).plan) == (
        "thread-areas", "merge-sort", "block-stealing", "vectorized", "scan-aggregation")
    assert "HD005" in cli_here("compile", tmp_path, "--opt", "best", status=2).message
    assert "HD006" in cli_here("compile", tmp_path, "--arch", "hopper", status=2).message
    with pytest.raises(UsageError, match="hopper"):
        BuildOptions.make([str(tmp_path)], arch=["hopper"])


def test_explain_names_every_decision(tmp_path: Path) -> None:
    _, found = compiled(tmp_path)
    text = explain.explain_text(found)
    assert "hd_map: 64 threads a block, 6 blocks; output by BlockCursor, at most 1 pairs per record" in text
    assert "hands over 1 objects; runs once per job" in text and "blocks chosen at launch" in text
    assert "measured slower than shared and plain global memory" in text and "for no GPU so far" in text
    line = next(line for line in text.splitlines() if line.split()[:3] == ["table", "texture", "2400"])
    assert "texture object" in line
    data = json.loads(explain.explain_json(found))["programs"]["map"]["kernel"]
    assert data["threads"] == 64 and {p["name"] for p in data["places"]} == {"word", "line", "cap", "one", "table"}


def test_explain_says_what_is_guarded(tmp_path: Path) -> None:
    _, found = compiled(tmp_path)
    map = found.programs[0]
    assert map.region and [v.name for v in map.region.variables if v.cls == "guarded"] == ["word"]
    shown = "guarded     a task that reads what its record has not written goes to the CPU: word"
    assert shown in explain.explain_text(found)
    nothing = replace(map.region, variables=tuple(replace(v, cls="private") for v in map.region.variables))
    for program in (replace(map, kernel=None), replace(map, region=nothing)):
        assert "has not written" not in explain.explain_text(replace(found, programs=(program,)))


def test_explain_shows_registers(tmp_path: Path) -> None:
    cubins = (manifest.Cubin("sm_90", "cuda/x", "0" * 64, 40, 0), manifest.Cubin("sm_80", "cuda/y", "0" * 64, 63, 12),
              manifest.Cubin("compute_80", "cuda/z", "0" * 64, 0, 0))
    _, found = compiled(tmp_path)
    map = replace(found.programs[0], kernel=replace(kernel(found), cubins=cubins))
    text = explain.explain_text(replace(found, programs=(map,)))
    assert "sm_90: 40 registers, nothing spilled" in text and "sm_80: 63 registers, 12 bytes" in text
    assert "compute_80: PTX" in text


# ------------------------------------------------------------------------------------------ nvcc


@pytest.fixture(scope="module")
def nvcc() -> None:
    if find_nvcc() is None:
        pytest.skip("no nvcc here (pip install 'heterodoop[nvcc]')")


@pytest.mark.parametrize(("opt", "combine"), [("default", SUM), ("paper", "")])
def test_nvcc_takes_the_kernels(nvcc: None, opt: str, combine: str, tmp_path: Path) -> None:
    bundle, found = compiled(tmp_path, combine, arch=["sm_90"], opt=opt)
    for program in found.programs:
        assert program.kernel is not None
        (cubin,) = program.kernel.cubins
        assert cubin.registers > 0 and cubin.arch == "sm_90"
        assert (bundle / cubin.path).read_bytes().startswith(b"\x7fELF")
        assert manifest.sha256(bundle / cubin.path) == cubin.sha256


@pytest.mark.parametrize("app", sorted(p.parent.name for p in (ROOT / "apps").glob("*/map.c")))
def test_nvcc_takes_every_app(nvcc: None, app: str, bundles: Bundles, tmp_path: Path) -> None:
    """The kernels of a bundle that other tests have too, without making all else of it again."""
    bundle, found = bundles.app(ROOT / "apps" / app), find_nvcc()
    kernels = [program.kernel for program in manifest.load(bundle).programs if program.kernel is not None]
    texts = [KernelFile(bundle / one.source, str(number), one.entry) for number, one in enumerate(kernels)]
    assert found is not None and kernels
    made = build(found, texts, tmp_path / "cuda", ["sm_80"])
    assert all(cubin.registers > 0 for text in texts for cubin in made[text.stem])
