"""What a job's bundle and settings ask of its filters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..executor.task.cpu_task import CpuJob
from ..manifest import Manifest, Role
from .jobconf import JobConf
from .keys import of_maps, pair_form
from .settings import LINE_BYTES, MAP_MEMORY, REDUCE_MEMORY


def cpu_job(
    found: Manifest, bundle: Path, conf: JobConf, environment: Sequence[bytes], reducers: int, delimiter: bytes,
) -> CpuJob:
    """The job as an executor sees it. Raises ValueError as `JobConf.get`, UsageError as `pair_form`.

    environment  of all tasks, as `streaming_env.job_environment` gives it, or of one attempt.
    delimiter    at the end of a record; b"" for the three line ends.
    """
    def binary(role: Role) -> Path | None:
        program = found.program(role)
        return bundle / program.binary if program else None

    combine = found.program("combine")
    region = combine.region if combine else None
    form = pair_form(conf)
    map_form = form if form and of_maps(form, reducers, combine is not None) else None
    if map_form:  # what is known of the combiner's reader is known of lines with a tab, in the order of their bytes
        region = None
    return CpuJob(
        map=binary("map") or bundle, combine=binary("combine"), reduce=binary("reduce"),
        regroup=bool(region and region.fold and region.fold.regroup), check=region.pairs if region else None,
        environment=environment, reducers=reducers, delimiter=delimiter,
        accept_exit_code=not conf.get("stream.non.zero.exit.is.failure"), sort_bytes=conf.sort_bytes,
        reporter_prefix=conf.get("stream.stderr.reporter.prefix"), line_max=conf.get(LINE_BYTES), skip_from=conf.skip_from,
        timeout_seconds=conf.get("mapreduce.task.timeout") / 1000, map_form=map_form, reduce_form=form,
        map_memory=conf.memory(MAP_MEMORY), reduce_memory=conf.memory(REDUCE_MEMORY),
    )
