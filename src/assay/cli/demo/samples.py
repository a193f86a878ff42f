# SPDX-License-Identifier: Apache-2.0
"""Where the sample data lies: inside an installed package, or in the checkout it runs from."""

from __future__ import annotations

from pathlib import Path

import assay
from assay.core.errors import InputError


def sample_folder() -> Path:
    """The folder `examples` of the project: a wheel carries it as `assay/examples`."""
    package = Path(assay.__file__).parent
    for folder in (package / "examples", package.parent.parent / "examples"):
        if (folder / "text").is_dir():
            return folder
    raise InputError("has no sample data", path=package, hint="install the package again")
