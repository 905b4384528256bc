"""The resources that SAM makes of `template.yaml`, by the transform that CloudFormation runs."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform

ROOT = Path(__file__).resolve().parent.parent


def expanded(
    *, change: Callable[[dict[str, Any]], None] = lambda _: None, **parameters: str
) -> Mapping[str, Mapping[str, Any]]:
    """Return logical id → resource; parameters stay unresolved, as for CloudFormation.

    Args:
        change: Changes the template before it is expanded.
        parameters: Values of parameters, from which SAM may generate logical ids.
    """
    document = yaml_parse((ROOT / "template.yaml").read_text(encoding="utf-8"))
    for resource in document["Resources"].values():
        for name in {"CodeUri", "ContentUri"} & resource.get("Properties", {}).keys():
            resource["Properties"][name] = "s3://bucket/key"  # `sam deploy` uploads them
    change(document)
    resources: Mapping[str, Mapping[str, Any]] = transform(document, parameters, _NoPolicies())[
        "Resources"
    ]
    return resources


class _NoPolicies:
    """The managed policies of AWS that the template may name: none."""

    def load(self) -> dict[str, str]:
        return {}
