"""Reader of `template.yaml`: routes, gateway responses, environment variables and resources."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tools import template_file
from tools.template_file import read, resources

PATH = template_file.PATH

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
"""The methods of `ANY`."""


@dataclass(frozen=True, slots=True)
class Event:
    """One API event of one function."""

    function: str
    handler: str
    resource: str
    methods: frozenset[str]
    authorized: bool


@dataclass(frozen=True, slots=True)
class GatewayResponse:
    """An error that API Gateway itself returns; body and headers contain `$context.requestId`."""

    status: int
    headers: Mapping[str, str]
    body: str


class Template:
    """The template of the stack, with values for the names in environment variables and policies.

    Args:
        names: Logical id or `AWS::` pseudo parameter → physical id (`Ref`).
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._document = read()

    def resources(self, kind: str) -> Mapping[str, Mapping[str, Any]]:
        """Return logical id → properties of the resources of one type."""
        return resources(kind)

    def parameters(self) -> Mapping[str, Mapping[str, Any]]:
        """Return name → declaration of the parameters."""
        declared: Mapping[str, Mapping[str, Any]] = self._document["Parameters"]
        return declared

    def parameter(self, name: str) -> Mapping[str, Any]:
        """Return the declaration of one parameter."""
        return self.parameters()[name]

    def output(self, name: str) -> Any:
        """Return the value of one output of the stack."""
        return self._document["Outputs"][name]["Value"]

    def condition(self, name: str) -> Mapping[str, Any]:
        """Return the expression of one condition."""
        expression: Mapping[str, Any] = self._document["Conditions"][name]
        return expression

    def environment(self, handler: str = "") -> dict[str, str]:
        """Return the environment variables of all functions, or of the function with `handler`."""
        variables = dict(self._document["Globals"]["Function"]["Environment"]["Variables"])
        for function in self.resources("AWS::Serverless::Function").values():
            if function["Handler"] == handler:
                variables |= function.get("Environment", {}).get("Variables", {})
        return {name: self.text(value) for name, value in variables.items()}

    def memory_sizes(self) -> dict[str, int]:
        """Return logical id → memory size of every function, in MB of 2^20 bytes."""
        common: int = self._document["Globals"]["Function"]["MemorySize"]
        functions = self.resources("AWS::Serverless::Function")
        return {name: one.get("MemorySize", common) for name, one in functions.items()}

    def operator_alarms(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the alarms that a person must act on: not those that stop a deployment."""
        return {
            name: alarm
            for name, alarm in self.resources("AWS::CloudWatch::Alarm").items()
            if not name.endswith("DeploymentAlarm")
        }

    def events(self) -> Iterator[Event]:
        """Yield every API event of every function."""
        for name, function in self.resources("AWS::Serverless::Function").items():
            for event in function.get("Events", {}).values():
                if event["Type"] == "Api":
                    properties = event["Properties"]
                    method = properties["Method"].upper()
                    yield Event(
                        function=name,
                        handler=function["Handler"],
                        resource=properties["Path"],
                        methods=frozenset(_METHODS if method == "ANY" else (method,)),
                        authorized=properties.get("Auth", {}).get("Authorizer") != "NONE",
                    )

    def authorizer_handler(self) -> str:
        """Return the handler of the authorizer function."""
        auth = self._api()["Auth"]
        alias = auth["Authorizers"][auth["DefaultAuthorizer"]]["FunctionArn"]
        function = alias["Ref"].removesuffix(".Alias")
        handler: str = self.resources("AWS::Serverless::Function")[function]["Handler"]
        return handler

    def identity_headers(self) -> list[str]:
        """Return the headers without which a request is refused before the authorizer runs."""
        auth = self._api()["Auth"]
        headers: list[str] = auth["Authorizers"][auth["DefaultAuthorizer"]]["Identity"]["Headers"]
        return headers

    def minimum_compression_size(self) -> int:
        """Return the size in bytes from which API Gateway compresses a response."""
        size: int = self._api()["MinimumCompressionSize"]
        return size

    def gateway_response_types(self) -> frozenset[str]:
        """Return the gateway response types that the template defines."""
        return frozenset(self._api()["GatewayResponses"])

    def gateway_response(self, kind: str) -> GatewayResponse:
        """Return status, headers and body of one gateway response."""
        declared = self._api()["GatewayResponses"][kind]
        headers = declared["ResponseParameters"]["Headers"]
        return GatewayResponse(
            status=int(declared["StatusCode"]),
            headers={
                name: "$context.requestId" if value == "context.requestId" else value.strip("'")
                for name, value in headers.items()
            },
            body=self.text(declared["ResponseTemplates"]["application/json"]),
        )

    def text(self, value: Any) -> str:
        """Resolve Ref, GetAtt (to the name of the resource) and Sub; convert others to text."""
        match value:
            case {"Ref": name}:
                return self._name(name)
            case {"Fn::GetAtt": str(path)}:
                return self._name(path)
            case {"Fn::GetAtt": [*path]}:  # as SAM writes it
                return self._name(".".join(path))
            case {"Fn::Sub": str(pattern)}:
                return self._substituted(pattern, {})
            case {"Fn::Sub": [str(pattern), variables]}:
                return self._substituted(pattern, variables)
            case _:
                return str(value)

    def _substituted(self, pattern: str, variables: Mapping[str, Any]) -> str:
        head, *rest = pattern.split("${")
        parts = [part.partition("}") for part in rest]
        return head + "".join(
            (self.text(variables[name]) if name in variables else self._name(name)) + text
            for name, _, text in parts
        )

    def _name(self, name: str) -> str:
        if name in self._names:
            return self._names[name]
        return str(self._document["Parameters"][name]["Default"])

    def _api(self) -> Mapping[str, Any]:
        (api,) = self.resources("AWS::Serverless::Api").values()
        return api


def resource_names() -> frozenset[str]:
    """Return the logical ids of all resources."""
    return frozenset(read()["Resources"])
