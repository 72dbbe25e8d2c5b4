"""Net benefit and misses by severity."""

from __future__ import annotations

import pytest

from judgekit.stats.decision import net_benefit, severity_misses
from judgekit.stats.operating_point import operating_point, point_at

WEIGHTS = {"mild": 0.25, "severe": 0.75, "life-threatening": 1.0}


def test_net_benefit_by_hand() -> None:
    # Case 11: 9 caught, 5 false alarms of 25. At 9 needless reads a catch: (9 - 5/9)/25 = .33778; reading all (10 - 15/9)/25 = .33333
    point = operating_point(
        [1] * 10 + [0] * 15, [1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5]
    )
    found = net_benefit(point, 9)
    assert (found.judge, found.everything) == (pytest.approx((9 - 5 / 9) / 25), pytest.approx((10 - 15 / 9) / 25))
    assert net_benefit(operating_point([0], [1]), 9).judge is None
    assert net_benefit(point_at([1, 0], [1, 2], 0), 1).judge == 0.0
    with pytest.raises(ValueError, match="above 0"):
        net_benefit(point, 0)


def test_severity_by_hand() -> None:
    # 0 of 12 severe missed: at most 1 - .05^(1/12) = .2209. Weighted: 12 severe (.75) none missed, 4 mild (.25) two missed:
    # .5 / (9 + 1) = .05; the bound splits .05 over two severities.
    found = severity_misses(["severe"] * 12 + ["mild"] * 4, [False] * 12 + [True, True, False, False], WEIGHTS)
    mild, severe = found.by_severity
    assert (severe.n, severe.missed, severe.upper) == (12, 0, pytest.approx(1 - 0.05 ** (1 / 12)))
    assert (mild.n, mild.missed, mild.share) == (4, 2, 0.5)
    assert found.weighted == pytest.approx(0.05)
    upper_severe = 1 - 0.025 ** (1 / 12)
    assert found.weighted_upper is not None
    assert found.weighted_upper > 0.9 * upper_severe  # 9 of 10 parts of the weight are severe
    assert severity_misses([], [], WEIGHTS).weighted is None
    with pytest.raises(ValueError, match="no weight"):
        severity_misses(["odd"], [True], WEIGHTS)
