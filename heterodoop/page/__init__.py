"""The page of a job: one self-contained HTML file made of a job's report, and its picture as SVG. Knows no engine."""
