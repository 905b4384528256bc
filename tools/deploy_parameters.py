"""Check the answers of `make deploy` against the template, before anything is built or deployed.

CloudFormation would report the first problem only, after the build and the upload.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from samcli.yamlhelper import yaml_parse

ROOT = Path(__file__).resolve().parent.parent

_STACK_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,23}")
_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-[0-9]{1,2}")
_ARN_REGION = re.compile(r"arn:[^:]*:[^:]*:([^:]+):")
_OVERRIDE = re.compile(r'(\w+)=("[^"]*"|\S*)')

type Template = Mapping[str, Any]


def read_template() -> Template:
    """Return the template."""
    template: Template = yaml_parse((ROOT / "template.yaml").read_text(encoding="utf-8"))
    return template


@dataclass(frozen=True, slots=True)
class Profile:
    """Parameters of one kind of deployment: a file of deployment/."""

    name: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    """Parameters without a value that fits everywhere; an own one must be given."""

    def missing(self, values: Mapping[str, str], defaults: Mapping[str, str]) -> Iterator[str]:
        """Yield a sentence for each required parameter that has its default."""
        for name in self.required:
            if values[name] == defaults[name]:
                yield f"{name}: the profile {self.name} requires a value of your own."


def _profiles() -> dict[str, Path]:
    """Return name → file of the profiles."""
    return {path.stem: path for path in sorted((ROOT / "deployment").glob("*.toml"))}


def profile_problem(name: str) -> str | None:
    """Return what is wrong with the name of a profile; None if nothing is, or it is empty."""
    if not name or name in _profiles():
        return None
    return f"PROFILE: {name} is none of {', '.join(_profiles())}."


def read_profile(name: str) -> Profile:
    """Return a profile; one without parameters if there is none of this name."""
    if name not in _profiles():
        return Profile()
    content = tomllib.loads(_profiles()[name].read_text(encoding="utf-8"))
    return Profile(name, content["parameters"], tuple(content["required"]))


def parse_overrides(text: str) -> dict[str, str]:
    """Return name → value of `NAME=VALUE NAME="VALUE"`, as `sam deploy` reads it."""
    return {name: value.strip('"') for name, value in _OVERRIDE.findall(text)}


def malformed_overrides(text: str) -> Iterator[str]:
    """Yield a sentence for every part of `NAME=VALUE NAME="VALUE"` that is not of this form."""
    for part in _OVERRIDE.sub("", text).split():
        yield f"PARAMETERS: {part} is not NAME=VALUE."


def format_overrides(values: Mapping[str, str]) -> str:
    """Return the parameters as `sam deploy` reads them, also the empty ones.

    A parameter that is left out would keep the value of the last deployment.
    """
    return " ".join(f'{name}="{value}"' for name, value in values.items())


def stack_name_problem(name: str) -> str | None:
    """Return what is wrong with the name of a stack; None if nothing is."""
    if _STACK_NAME.fullmatch(name):
        if "-tenant-" in f"{name}-":
            return (
                f"Stack name: {name} must not contain -tenant; tables of tenants are named"
                " STACK-tenant-SLUG, so that another stack could use those of this one."
            )
        return None
    return (
        f"Stack name: {name or 'empty'} has {len(name)} characters; use 1 to 24 letters, digits and"
        " hyphens, beginning with a letter."
    )


def region_problem(region: str) -> str | None:
    """Return what is wrong with the form of a Region; None if nothing is."""
    if not region:
        return "There is no Region; set REGION=, AWS_REGION or that of the AWS profile."
    if _REGION.fullmatch(region):
        return None
    return f"Region: {region} must be the name of a Region, such as eu-west-1."


def unknown_parameters(template: Template, values: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for every name that the template does not have."""
    for name in values:
        if name not in template["Parameters"]:
            close = get_close_matches(name, template["Parameters"], 1)
            advice = f"did you mean {close[0]}?" if close else "docs/operating/deploy.md lists all."
            yield f"{name}: there is no such parameter; {advice}"


def value_problem(template: Template, name: str, value: str) -> str | None:
    """Return what is wrong with the value of one parameter; None if nothing is."""
    declared = template["Parameters"][name]
    if allowed := declared.get("AllowedValues"):
        if value in map(str, allowed):
            return None
        return f"{name}: {value or 'empty'} must be one of {', '.join(map(str, allowed))}."
    if declared["Type"] == "Number":
        low, high = declared["MinValue"], declared["MaxValue"]
        if re.fullmatch(r"[0-9]{1,9}", value) and low <= int(value) <= high:
            return None
        return f"{name}: {value or 'empty'} must be a whole number from {low} to {high}."
    is_short = len(value) <= declared.get("MaxLength", len(value))
    if is_short and re.fullmatch(declared["AllowedPattern"], value):
        return None
    return f"{name}: {value or 'empty'} {declared['ConstraintDescription']}."


def broken_rules(template: Template, values: Mapping[str, str]) -> Iterator[str]:
    """Yield the sentences of the rules of the template that the values break.

    A rule about a parameter that has no value here is left out.
    """
    for rule in template["Rules"].values():
        with suppress(KeyError):
            if _is_true(rule["RuleCondition"], values):
                for one in rule["Assertions"]:
                    if not _is_true(one["Assert"], values):
                        yield one["AssertDescription"]


def _is_true(condition: Mapping[str, Any], values: Mapping[str, str]) -> bool:
    match condition:
        case {"Fn::Not": [inner]}:
            return not _is_true(inner, values)
        case {"Fn::Equals": [{"Ref": name}, value]}:
            return values[name] == str(value)
    raise NotImplementedError(f"A rule of the template has the condition {condition}.")


def other_regions(values: Mapping[str, str], region: str) -> Iterator[str]:
    """Yield a sentence for every resource of another Region, which the stack cannot use."""
    for name, value in values.items():
        found = _ARN_REGION.match(value)
        if found and found[1] != region:
            yield (
                f"{name}: {value} is in {found[1]}, the stack in {region}; use one of {region}, or"
                " deploy to the other Region."
            )


def problems(template: Template, values: Mapping[str, str], region: str) -> list[str]:
    """Return all problems of the values of all parameters, one sentence each.

    Rules that other parts of the template have, such as one of two parameters, are left out.
    """
    known = {name: value for name, value in values.items() if name in template["Parameters"]}
    found = {name: value_problem(template, name, value) for name, value in known.items()}
    right = {name: value for name, value in known.items() if not found[name]}
    return [
        *unknown_parameters(template, values),
        *(one for one in found.values() if one),
        *broken_rules(template, right),
        *(other_regions(right, region) if not region_problem(region) else ()),
    ]
