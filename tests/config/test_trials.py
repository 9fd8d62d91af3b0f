"""Golden matches of a wheel, in every notation."""

from pathlib import Path

import pytest

from config.trials import read_golden
from runtime.errors import TrialFailed

SPORTS = Path(__file__).parents[2] / "sports"


def test_every_bundled_golden_match_can_be_read():
    for file in sorted(SPORTS.glob("*/golden/*")):
        golden = read_golden(file.name, file.read_bytes())
        assert (golden is None) == (file.suffix == ".md"), file
        if golden is not None:
            assert golden.steps
            assert golden.differences({"head": {"names": {}}, "parts": {}}), "an empty document is not it"


def test_one_that_cannot_be_read_is_told_with_its_line():
    with pytest.raises(TrialFailed, match=r"a\.golden, line 3: '{' is no JSON object"):
        read_golden("a.golden", b"golden match 1\nsport tally\npoint {\n")
    with pytest.raises(TrialFailed, match=r"no form that is known here \(\.golden, \.scorebook\)"):
        read_golden("a.xml", b"")
