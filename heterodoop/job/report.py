"""What a job's report in OUT.report is called: `engine.run.job_report` writes it, `page` reads it."""

from __future__ import annotations

FORMAT = "heterodoop-job-report-1"
REPORT = "report.json"
ATTEMPTS = "attempts.jsonl"
