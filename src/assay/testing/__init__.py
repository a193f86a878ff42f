# SPDX-License-Identifier: Apache-2.0
"""Contract tests that metrics and engines inherit, ours and those of plug-ins alike.

Needs pytest and hypothesis. A plug-in subclasses a contract in its tests and says what it is about:

    from assay.testing import MetricContract

    class TestShoutiness(MetricContract):
        metric = Shoutiness()
"""

from __future__ import annotations

import pytest

# Before they are imported, so that their failures show values as those of test files do.
pytest.register_assert_rewrite("assay.testing.metric", "assay.testing.engine")

from assay.testing.engine import EngineContract  # noqa: E402  # see above
from assay.testing.metric import MetricContract  # noqa: E402  # see above
from assay.testing.samples import answered, references, texts  # noqa: E402  # see above
from assay.testing.variants import contracts, variants  # noqa: E402  # see above

__all__ = [
    "EngineContract",
    "MetricContract",
    "answered",
    "contracts",
    "references",
    "texts",
    "variants",
]
