"""The local stack: the emulator knows every kind of resource that it is asked to create."""

import re
import sys

from ministack.services.cloudformation.provisioners import _RESOURCE_HANDLERS

from local.deployment import _PARAMETERS
from tests.expanded_template import expanded
from tests.template import Template

TEMPLATE = Template({})


def is_created(condition: str | None) -> bool:
    """Return whether a resource with this condition exists in the local stack."""
    if condition is None:
        return True
    values = {name: str(one["Default"]) for name, one in TEMPLATE.parameters().items()}
    values |= dict(re.findall(r"(\w+)=(\S+)", _PARAMETERS))
    expression = TEMPLATE.condition(condition)
    negated = "Fn::Not" in expression
    left, right = (expression["Fn::Not"][0] if negated else expression)["Fn::Equals"]
    if "Fn::FindInMap" in left:
        name, key, column = left["Fn::FindInMap"]
        value = TEMPLATE._document["Mappings"][name][values[key["Ref"]]][column]
    else:
        value = values[left["Ref"]]
    return (str(value) == str(right)) != negated


def test_emulator_has_every_kind_of_resource_that_is_created() -> None:
    created = {one["Type"] for one in expanded().values() if is_created(one.get("Condition"))}
    assert len(created) > 15
    assert created <= set(_RESOURCE_HANDLERS)


def test_importing_the_emulator_does_not_load_duckdb() -> None:
    assert "_duckdb" not in sys.modules
