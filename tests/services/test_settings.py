"""Settings of services are checked where they are given."""

from typing import Any

import pytest

from okspca.services import Adam, Cached, ProjectedGradient, WarmBlock


@pytest.mark.parametrize(
    "make",
    [
        lambda: Adam(beta2=1.0),
        lambda: Adam(epsilon=0.0),
        lambda: Adam(learning_rate=float("nan")),
        lambda: Adam(learning_rate="x"),  # type: ignore[arg-type]
        lambda: Adam(max_displacement=-1.0),
        lambda: ProjectedGradient(step=0.0),
        lambda: WarmBlock(refresh_every=0),
        lambda: WarmBlock(n_guards=-1),
        lambda: Cached(every=True),
    ],
)
def test_unusable_service_settings(make: Any) -> None:
    with pytest.raises(ValueError, match="cannot be used; give"):
        make()
