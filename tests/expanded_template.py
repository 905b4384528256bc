"""The resources that SAM makes of `template.yaml`, by the transform that CloudFormation runs."""

from collections.abc import Mapping
from typing import Any

from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform

from tests.template import PATH


def expanded() -> Mapping[str, Mapping[str, Any]]:
    """Return logical id → resource; parameters stay unresolved, as for CloudFormation."""
    document = yaml_parse(PATH.read_text())
    for resource in document["Resources"].values():
        for name in {"CodeUri", "ContentUri"} & resource.get("Properties", {}).keys():
            resource["Properties"][name] = "s3://bucket/key"  # `sam deploy` uploads them
    resources: Mapping[str, Mapping[str, Any]] = transform(document, {}, _NoPolicies())["Resources"]
    return resources


class _NoPolicies:
    """The managed policies of AWS that the template may name: none."""

    def load(self) -> dict[str, str]:
        return {}
