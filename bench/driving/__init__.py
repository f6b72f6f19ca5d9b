"""How each kind of scenario is driven. What it is and what it promises is in ``bench.scenario``."""
