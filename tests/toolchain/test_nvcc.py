"""nvcc is found wherever it may lie, run for all architectures at once, and believed in what it says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heterodoop import resources
from heterodoop.errors import ToolError, UsageError
from heterodoop.toolchain import cache
from heterodoop.toolchain import nvcc as toolchain_cuda
from heterodoop.toolchain.nvcc import DEFAULT_ARCHITECTURES, KernelFile, Nvcc, architectures, build, find_nvcc, usage

RUNTIME = resources.find("runtime", "device")
VERSION = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88\n"
REPORT = """ptxas info    : Compiling entry function 'other' for 'sm_90'
ptxas info    : Function properties for other
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 99 registers, used 1 barriers
ptxas info    : Compiling entry function 'hd_map' for 'sm_90'
ptxas info    : Function properties for helper
    8 bytes stack frame, 7 bytes spill stores, 7 bytes spill loads
ptxas info    : Function properties for hd_map
    0 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers
"""


def fake(path: Path, body: str = "", *, version: str = VERSION) -> Path:
    """An nvcc that notes its words in NAME.log and writes the file that it was asked for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"""#!/bin/sh
if [ "$1" = --version ]; then printf '{version}'; exit; fi
echo "$@" >> {path}.log
{body}
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo "made" > "$2"; shift; done
cat >&2 <<'end'
{REPORT}end
""")
    path.chmod(0o755)
    return path


def runs(nvcc: Path) -> list[str]:
    log = Path(f"{nvcc}.log")
    return log.read_text().splitlines() if log.exists() else []


# ------------------------------------------------------------------------------------------ finding


def test_the_order_of_the_places(tmp_path: Path) -> None:
    chosen = fake(tmp_path / "cuda" / "bin" / "nvcc")
    on_path = fake(tmp_path / "path" / "nvcc")
    old, wheel = (fake(tmp_path / "site" / "nvidia" / cu / "bin" / "nvcc") for cu in ("cu12", "cu13"))
    site = [str(tmp_path / "none"), str(tmp_path / "site")]
    everything = {"CUDA_HOME": str(tmp_path / "cuda"), "PATH": str(on_path.parent)}
    for environ, found in (
        (everything, chosen), ({**everything, "CUDA_HOME": "", "CUDA_PATH": str(tmp_path / "cuda")}, chosen),
        ({"PATH": str(on_path.parent)}, on_path), ({"PATH": "/empty"}, wheel),
    ):
        assert find_nvcc(environ, site) == Nvcc(str(found), (13, 0))
    wheel.unlink()
    assert find_nvcc({"PATH": "/empty"}, site) == Nvcc(str(old), (13, 0))
    old.unlink()
    if not Path("/usr/local/cuda/bin/nvcc").exists():
        assert find_nvcc({"PATH": "/empty"}, site) is None


def test_a_chosen_one_that_is_no_use_is_never_replaced(tmp_path: Path) -> None:
    path = {"PATH": str(fake(tmp_path / "path" / "nvcc").parent)}
    with pytest.raises(ToolError, match="CUDA_HOME is .*, but there is no .*nvcc") as caught:
        find_nvcc({**path, "CUDA_HOME": str(tmp_path / "nowhere")}, [])
    assert caught.value.code == "HD514" and caught.value.exit_code == 5
    fake(tmp_path / "old" / "bin" / "nvcc", version="Cuda compilation tools, release 11.8, V11.8.89")
    with pytest.raises(ToolError, match=r"is of CUDA 11\.8, 12\.0 or newer") as caught:
        find_nvcc({**path, "CUDA_HOME": str(tmp_path / "old")}, [])
    assert caught.value.code == "HD514"
    fake(tmp_path / "odd" / "bin" / "nvcc", version="hello")
    with pytest.raises(ToolError, match="does not name a release: hello"):
        find_nvcc({**path, "CUDA_HOME": str(tmp_path / "odd")}, [])


def test_architectures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert architectures(["sm_90,compute_80", "sm_90", "sm_90a"]) == ("sm_90", "compute_80", "sm_90a")
    assert architectures(["none"]) == ()
    assert architectures([]) == (*DEFAULT_ARCHITECTURES, "compute_80"), "no GPU here: the common ones, PTX for newer ones"
    smi = tmp_path / "nvidia-smi"
    for said, found in (("9.0\n8.6\n9.0\n", ("sm_86", "sm_90")), ("12.0\n", ("sm_120",)), ("No devices were found\n", None)):
        smi.write_text(f"#!/bin/sh\nprintf '{said}'\n")
        smi.chmod(0o755)
        assert architectures([]) == (found or (*DEFAULT_ARCHITECTURES, "compute_80"))
    smi.write_text("#!/bin/sh\necho 9.0; exit 9\n")
    assert architectures([]) == (*DEFAULT_ARCHITECTURES, "compute_80")
    for word in ("hopper", "sm90", "sm_", "none,sm_90", "sm_90;x"):
        with pytest.raises(UsageError, match="is no GPU architecture") as caught:
            architectures([word])
        assert caught.value.code == "HD006"


# ------------------------------------------------------------------------------------------ compiling


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[KernelFile]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "app" / "cuda").mkdir(parents=True)
    found = []
    for name in ("map", "combine"):
        path = tmp_path / "app" / "cuda" / f"{name}.cu"
        path.write_text(f"int {name};\n")
        found.append(KernelFile(path, name, f"hd_{name}"))
    return found


def test_every_text_for_every_architecture(texts: list[KernelFile], tmp_path: Path) -> None:
    nvcc = fake(tmp_path / "nvcc")
    folder = tmp_path / "app" / "cuda"
    found = build(Nvcc(str(nvcc), (13, 0)), texts, folder, ["sm_80", "compute_80"])
    assert [(c.arch, c.path) for c in found["map"]] == [
        ("sm_80", "cuda/map.sm_80.cubin"), ("compute_80", "cuda/map.compute_80.ptx"),
    ]
    assert [(c.registers, c.spills) for c in found["map"]] == [(40, 40)] * 2 and found["combine"][0].registers == 0
    assert all((tmp_path / "app" / c.path).is_file() for cubins in found.values() for c in cubins)
    words = runs(nvcc)
    assert len(words) == 4 and all("-fmad=false" in w and "-std=c++17" in w and f"-I {RUNTIME}" in w for w in words)
    assert sum("-cubin -arch=sm_80" in w for w in words) == 2 and sum("-ptx -arch=compute_80" in w for w in words) == 2


def test_the_text_is_read_once_for_several_architectures(texts: list[KernelFile], tmp_path: Path) -> None:
    nvcc = fake(tmp_path / "nvcc")
    folder = tmp_path / "app" / "cuda"
    found = build(Nvcc(str(nvcc), (13, 0)), texts, folder, ["sm_90", "sm_86", "compute_86", "sm_100"])
    assert [c.arch for c in found["map"]] == ["sm_90", "sm_86", "compute_86", "sm_100"]
    words = [line.split() for line in runs(nvcc)]
    assert sorted(Path(w[-1]).name for w in words if "-ptx" in w) == ["combine.cu", "map.cu"]
    assert all("-arch=compute_86" in w for w in words if "-ptx" in w)
    assert sorted(Path(w[-1]).name for w in words if "-cubin" in w) == ["combine.ptx"] * 3 + ["map.ptx"] * 3
    assert build(Nvcc(str(nvcc), (13, 0)), texts, folder, ["sm_90", "sm_86"]) and len(runs(nvcc)) == len(words)


def test_the_second_time_nothing_is_compiled(texts: list[KernelFile], tmp_path: Path) -> None:
    nvcc = fake(tmp_path / "nvcc")
    compiler = Nvcc(str(nvcc), (13, 0))
    first = build(compiler, texts, tmp_path / "app" / "cuda", ["sm_80"])
    assert build(compiler, texts, tmp_path / "again" / "cuda", ["sm_80"]) == first and len(runs(nvcc)) == 2
    assert all("-fmad=false" in words for words in runs(nvcc))
    texts[0].source.write_text("// another\n")
    build(compiler, texts, tmp_path / "app" / "cuda", ["sm_80"])
    assert len(runs(nvcc)) == 3
    for log in (cache.folder() / "cuda").glob("*.log"):
        log.unlink()
    assert build(compiler, texts[1:], tmp_path / "app" / "cuda", ["sm_80"])["combine"] == first["combine"]
    assert len(runs(nvcc)) == 4, "a result without its report is made again"


def test_another_header_or_compiler_is_another_kernel(
    texts: list[KernelFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "device").mkdir()
    monkeypatch.setattr(resources, "find", lambda kind, *parts: tmp_path / "device")
    nvcc = fake(tmp_path / "nvcc")
    compiler = Nvcc(str(nvcc), (13, 0))
    build(compiler, texts[:1], tmp_path / "app" / "cuda", ["sm_80"])
    (tmp_path / "device" / "lane.cuh").write_text("// changed\n")
    build(compiler, texts[:1], tmp_path / "app" / "cuda", ["sm_80"])
    os.utime(nvcc, (1, 1))
    build(compiler, texts[:1], tmp_path / "app" / "cuda", ["sm_80"])
    assert len(runs(nvcc)) == 3


@pytest.mark.parametrize("name", ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH", "CPLUS_INCLUDE_PATH"])
def test_what_nvcc_takes_from_the_environment_makes_another_kernel(
    name: str, texts: list[KernelFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    nvcc = fake(tmp_path / "nvcc")
    for value in ("", "-O1", "-O2", "-O1"):
        monkeypatch.setenv(name, value)
        build(Nvcc(str(nvcc), (13, 0)), texts[:1], tmp_path / "app" / "cuda", ["sm_80"])
    assert len(runs(nvcc)) == 3


@pytest.mark.parametrize(("flags", "refused"), [
    ("-lineinfo --use_fast_math", "--use_fast_math"), ("-use_fast_math", "-use_fast_math"), ("-fmad=true", "-fmad=true"),
    ("--fmad true", "--fmad"), ("-prec-div=false", "-prec-div=false"), ("-ccbin /usr/bin/g++ -O1 -I/opt/x-fmad", ""),
])
@pytest.mark.parametrize("name", ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"])
def test_flags_of_the_environment_do_not_change_numbers(
    name: str, flags: str, refused: str, texts: list[KernelFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    nvcc = Nvcc(str(fake(tmp_path / "nvcc")), (13, 0))
    monkeypatch.setenv(name, flags)
    if not refused:
        assert build(nvcc, texts, tmp_path / "app" / "cuda", ["sm_80"])
        return
    with pytest.raises(ToolError, match=f"{name} holds {refused}, with which kernels compute other numbers") as caught:
        build(nvcc, texts, tmp_path / "app" / "cuda", ["sm_80"])
    assert caught.value.code == "HD514"


def test_what_nvcc_refuses_is_told_in_its_words(texts: list[KernelFile], tmp_path: Path) -> None:
    nvcc = fake(tmp_path / "nvcc", "echo 'word count.c(17): error: identifier \"x\" is undefined' >&2; exit 2")
    with pytest.raises(ToolError, match=r'word count.c\(17\): error: identifier "x" is undefined') as caught:
        build(Nvcc(str(nvcc), (13, 0)), texts, tmp_path / "app" / "cuda", ["sm_80"])
    assert caught.value.code == "HD515" and "--arch none" in caught.value.help
    assert not list((cache.folder() / "cuda").iterdir()), "nothing half made may stay"


def test_the_report_of_one_kernel() -> None:
    assert usage(REPORT, "hd_map") == (40, 40) and usage(REPORT, "other") == (99, 8) and usage("", "hd_map") == (0, 0)


# ------------------------------------------------------------------------------------------ the real one


@pytest.fixture(scope="module")
def nvcc() -> Nvcc:
    found = find_nvcc()
    if found is None:
        pytest.skip("no nvcc here (pip install 'heterodoop[nvcc]')")
    return found


def test_a_kernel_is_compiled_and_its_errors_are_placed(nvcc: Nvcc, tmp_path: Path) -> None:
    path = tmp_path / "map.cu"
    path.write_text('extern "C" __global__ void hd_map(int *p) { p[threadIdx.x] = 1; }\n')
    texts = [KernelFile(path, "map", "hd_map")]
    cubin, ptx = build(nvcc, texts, tmp_path / "cuda", ["sm_90", "compute_80"], cache=tmp_path)["map"]
    assert 0 < cubin.registers < 64 and cubin.spills == 0
    assert (tmp_path / cubin.path).read_bytes().startswith(b"\x7fELF")
    assert b".entry hd_map" in (tmp_path / ptx.path).read_bytes()
    path.write_text('#line 17 "word count.c"\n__global__ void f() { nowhere(); }\n')
    with pytest.raises(ToolError, match=r"word count.c\(17\): error"):
        build(nvcc, texts, tmp_path / "cuda", ["sm_90"], cache=tmp_path)


def test_the_runtimes_kernels_compile(nvcc: Nvcc, tmp_path: Path) -> None:
    source = toolchain_cuda.resources.find("runtime", "device", "steps", "kernels.cu")
    (cubin,) = build(nvcc, [KernelFile(source, "kernels", "")], tmp_path / "cuda", ["sm_90"],
                     cache=tmp_path / "cache")["kernels"]
    assert (tmp_path / cubin.path).read_bytes().startswith(b"\x7fELF")


def test_what_nvcc_leaves_where_it_is_stopped_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "tmp"
    kept.mkdir()
    monkeypatch.setenv("TMPDIR", str(kept))
    nvcc = Nvcc(str(fake(tmp_path / "nvcc", 'mkdir "$TMPDIR/tmpxft_1"')), (13, 0))
    (tmp_path / "map.cu").write_text("text")
    build(nvcc, [KernelFile(tmp_path / "map.cu", "map", "hd_map")], tmp_path / "out", ["sm_90"], cache=tmp_path / "cache")
    assert not list(kept.iterdir()) and not list((tmp_path / "cache").rglob("tmpxft*"))
