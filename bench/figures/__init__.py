"""The paper's figures and its Table 2, measured here: `python -m bench.figures`, told in docs/paper-figures.md.

paper.py has the paper's numbers, steps.py what is measured and how long it takes, state.py what was measured; cpu.py,
device.py and job.py measure, in processes that child.py runs and runner.py starts; bars.py, markdown.py and plots.py say
what came of it.
"""
