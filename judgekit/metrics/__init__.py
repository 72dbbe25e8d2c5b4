"""Local metrics: one file a metric. `base` is the contract, `runner` walks records, `models` opens checkpoints."""
