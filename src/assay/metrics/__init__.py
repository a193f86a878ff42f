# SPDX-License-Identifier: Apache-2.0
"""Metrics used by several tasks, one folder per family.

A family is found by its folder: every `Metric` subclass that the folder's `__init__` exports is
registered under its `name`. Metrics of other packages come in by the entry point `assay.metrics`,
which is looked at only when a name is not found here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.core.metric import Metric


def family_names() -> list[str]:
    """The folders of this package."""
    import pkgutil

    return [module.name for module in pkgutil.iter_modules(__path__) if module.ispkg]


def of_family(name: str) -> list[type[Metric]]:
    """The metrics that one family exports."""
    return _exported(importlib.import_module(f"{__name__}.{name}"))


def builtin() -> list[type[Metric]]:
    """All metrics that come with Assay for text, by name."""
    found = [cls for family in family_names() for cls in of_family(family)]
    return sorted(found, key=lambda cls: cls.name)


def plugins() -> list[type[Metric]]:
    """Metrics of installed packages (entry point group `assay.metrics`)."""
    from assay.core.plugins import plugins

    return [cls for _, cls in plugins("assay.metrics")]


def load(text: str) -> Metric:
    """The metric that `text` names, with its parameters.

    >>> load("bleu(tokenize=char)").text
    'bleu(tokenize=char)'
    """
    from assay.core.metric import build
    from assay.core.names import parse_metric

    name, _ = parse_metric(text)
    if name.lower() in family_names():  # the usual case: no other family is imported
        classes = of_family(name.lower())
        if _has(classes, name):
            return build(text, classes)
    classes = builtin()
    return build(text, classes if _has(classes, name) else [*classes, *plugins()])


def _has(classes: list[type[Metric]], name: str) -> bool:
    return any(name.lower() in {c.name.lower(), *(a.lower() for a in c.aliases)} for c in classes)


def _exported(module: object) -> list[type[Metric]]:
    from assay.core.metric import Metric

    names = getattr(module, "__all__", ())
    found = [getattr(module, name) for name in names]
    return [x for x in found if isinstance(x, type) and issubclass(x, Metric)]
