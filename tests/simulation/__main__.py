"""`python -m tests.simulation --seeds 10000`."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("sports/contract", "sports/table_tennis", "tests/simulation/sport"):
    sys.path.insert(0, str(ROOT / folder))

from tests.simulation.campaign import main  # noqa: E402 (the path comes first)

sys.exit(main())
