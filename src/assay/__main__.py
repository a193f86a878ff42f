# SPDX-License-Identifier: Apache-2.0
"""`python -m assay`."""

from assay.cli import main

if __name__ == "__main__":
    main()
