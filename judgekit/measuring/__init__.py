"""Records through local metrics into a run, in this process or over Ray workers."""
