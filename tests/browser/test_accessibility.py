"""axe-core on every page of the built book, light and dark: nothing serious and nothing critical."""

from __future__ import annotations

import pytest

from visits import ON_A_LAPTOP, Visit

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("visit", ON_A_LAPTOP, ids="-".join, indirect=True, scope="session")
def test_axe_finds_nothing_grave(visit: Visit) -> None:
    assert visit.axe["light"].passes > 5 and visit.axe["dark"].passes > 0, "axe has looked at nothing"
    assert visit.axe["light"].grave == []
    assert visit.axe["dark"].grave == []
