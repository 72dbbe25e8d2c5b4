"""Many judgements: units, schedule, calls, checklists, and the run that ties them together."""
