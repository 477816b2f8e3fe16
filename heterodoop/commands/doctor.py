"""`heterodoop doctor`: what works on this machine, in plain words, and what to install for what does not.

Nothing is changed; the C compiler is tried on a program of one line, and each GPU is opened for a moment in a process of
its own. Not here: the looking itself (toolchain, executor), which this puts into sentences; Hadoop
(doctor_hadoop).
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Literal, NamedTuple

import click

from .. import scratch
from ..errors import EXIT_ENVIRONMENT, EXIT_OK, HeteroDoopError, ToolError
from ..executor.gpu import gpus
from ..executor.gpu.gpus import MIB, Gpu
from ..executor.native.runtime import Native
from ..executor.worker.client import Worker
from ..resources import native_library
from ..toolchain import cache as build_cache
from ..toolchain import cc as toolchain
from ..toolchain import cxx as toolchain_cxx
from ..toolchain import nvcc as toolchain_cuda
from ..toolchain import probe
from . import doctor_hadoop
from .doctor_check import Check, tried

FORMAT = "heterodoop-doctor-1"
CUDA = "cuda"
_PROGRAM = "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n"
_GET_TOOLKIT = "install the CUDA toolkit, or: pip install 'heterodoop[nvcc]'"
_GET_DRIVER = "install the NVIDIA driver, if this machine has a GPU"


class Diagnosis(NamedTuple):
    """All checks; whether jobs can run on the CPU, and on a GPU."""

    checks: list[Check]
    cpu_jobs: bool
    gpu_jobs: bool

    def to_json(self) -> dict[str, Any]:
        checks = [check._asdict() for check in self.checks]
        return {"format": FORMAT, "cpu_jobs": self.cpu_jobs, "gpu_jobs": self.gpu_jobs, "checks": checks}


def doctor(*, as_json: bool) -> int:
    """Print what was found; the exit status: 0 where jobs can run on the CPU."""
    found = diagnose()
    click.echo(json.dumps(found.to_json(), indent=1) if as_json else "\n".join(_lines(found)))
    return EXIT_OK if found.cpu_jobs else EXIT_ENVIRONMENT


def diagnose() -> Diagnosis:
    """Look at everything. Raises nothing on account of what is missing."""
    compiler, library, native = tried("C compiler", _compiler), _library(), tried("native runtime", _native)
    host = tried("host kernels", _host_kernels)
    cache, nvcc = tried("cache folder", _cache), tried("nvcc", _nvcc)
    context, devices = _context(), _devices()
    usable = [check for check in devices if check.name.startswith("GPU ") and check.state == "yes"]
    cpu = compiler.state == native.state == "yes"
    gpu = cpu and cache.state == nvcc.state == "yes" and bool(usable)
    return Diagnosis([compiler, library, native, host, cache, nvcc, context, *devices, *doctor_hadoop.checks()], cpu, gpu)


def _lines(found: Diagnosis) -> Iterator[str]:
    width = max(len(check.name) for check in found.checks)
    for check in found.checks:
        shown = {"yes": "yes", "no": "no ", "none": "-  "}[check.state]
        yield f"{check.name:{width}}  {shown}  {check.text}"
        if check.help:
            yield f"{'':{width}}       {check.help}"
    yield ""
    yield "Jobs can run on the CPU." if found.cpu_jobs else "Jobs cannot run on the CPU: see above what is missing."
    yield "Jobs can use a GPU." if found.gpu_jobs else "Jobs cannot use a GPU; --device emulated runs kernels on the CPU."


def _compiler() -> str:
    cc = toolchain.find_cc()
    with scratch.folder("doctor-") as folder:
        source = folder / "try.c"
        source.write_text(_PROGRAM)
        toolchain.build_filter([source], folder / "try", toolchain.CcOptions())
    return f"{' '.join(cc)}: {toolchain.version(cc)}"


def _host_kernels() -> str:
    """Whether a bundle gets them; without, CPU slots run filters."""
    try:
        cxx = toolchain_cxx.find_cxx()
        with scratch.folder("doctor-") as folder:
            source = folder / "try.cpp"
            source.write_text(_PROGRAM)
            done = toolchain.run([*cxx, str(source), "-o", str(folder / "try")], timeout=toolchain.patience())
        if done.returncode:
            said = (done.stderr.strip() or toolchain.ended(done.returncode)).splitlines()[0]
            raise ToolError(f"{' '.join(cxx)} does not compile a program: {said}", help="install g++ and its C++ library")
    except ToolError as error:
        raise ToolError(f"{error.message}; without them tasks on the CPU run as filters", help=error.help) from None
    return f"{' '.join(cxx)}: {toolchain.version(cxx)} (maps with combiners, and reducers, as programs of their own)"


def _library() -> Check:
    """The C library whose behaviour kernels have to have."""
    try:
        machine = probe.machine()
    except (HeteroDoopError, OSError) as error:
        return Check("C library", "none", f"not asked: {getattr(error, 'message', error)}")
    odd = [name for name in machine.behaviour if machine.macros(name) is None]
    if machine.failure or odd:
        why = f"it cannot be asked: {machine.failure}" if machine.failure else f"kernels do not know its {', '.join(odd)}"
        return Check("C library", "no", f"{machine.library}; {why}", "programs that need it run on the CPU")
    return Check("C library", "yes", f"{machine.library}, which kernels know")


def _native() -> str:
    Native.load()
    return str(native_library())


def _cache() -> str:
    return f"{build_cache.folder()} (compiled kernels)"


def _nvcc() -> str:
    found = toolchain_cuda.find_nvcc()
    if found is None:
        raise ToolError("there is no CUDA compiler: kernels cannot be compiled for a GPU", help=_GET_TOOLKIT)
    return f"{found.path}, CUDA {found.version[0]}.{found.version[1]}"


def _context() -> Check:
    """By what a worker holds a GPU's context: PyCUDA where it is installed and loads, else the driver itself. A job's own
    worker does not wait for PyCUDA."""
    found = importlib.util.find_spec("pycuda")
    own = "by the CUDA driver's own interface"
    state: Literal["yes", "none"] = "yes" if gpus.present() else "none"
    if found is None:
        return Check("GPU context", state, f"{own}; PyCUDA is not installed for {sys.executable}, and not needed")
    where = os.path.dirname(found.origin or "")
    return Check("GPU context", state, f"by PyCUDA, {where}, in a GPU driver's workers; elsewhere {own}")


def _devices() -> list[Check]:
    """The driver and the GPUs. A GPU is opened to know its free memory, as a job would."""
    if not gpus.present():
        return [Check("CUDA driver", "none", f"there is no {gpus.NODES[0]}", _GET_DRIVER)]
    with closing(Worker(CUDA, 1)) as worker:
        worker.start()
        try:
            survey = worker.survey()
        except HeteroDoopError as error:
            return [Check("CUDA driver", "no", error.message, error.help)]
        version = f"serves CUDA {survey.driver[0]}.{survey.driver[1]}"
        if not survey.gpus:
            return [Check("CUDA driver", "no", f"{version}; {gpus.there_are(survey.gpus)}")]
        if old := gpus.old_driver(survey):
            return [Check("CUDA driver", "no", old, "install a newer NVIDIA driver")]
        return [Check("CUDA driver", "yes", version), *map(_gpu, survey.gpus)]


def _gpu(gpu: Gpu) -> Check:
    name, what = f"GPU {gpu.number}", f"{gpu.name}, {gpu.arch}, {gpu.memory // MIB} MiB{f', {gpu.uuid}' if gpu.uuid else ''}"
    with closing(Worker(CUDA, 1)) as worker:
        worker.start()
        worker.open(gpu.number)
        try:
            opened = worker.opened()
        except HeteroDoopError as error:
            return Check(name, "no", f"{what}: {error.message}", "nvidia-smi lists who uses it")
    return Check(name, "yes", f"{what}, {opened.free // MIB} MiB free")
