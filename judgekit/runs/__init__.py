"""The one hand-over between making (judging, measuring) and reading (analysis, reports)."""
