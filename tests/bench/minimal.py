"""The baseline of the cold start benchmark: a minimal function with the usual packages.

The benchmark copies it out of this package and compiles it like the functions.
"""

import json

import boto3
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from pydantic import BaseModel

logger = Logger(service="minimal")
metrics = Metrics(namespace="Minimal", service="minimal")
app = APIGatewayRestResolver(strip_prefixes=["/v1"])
dynamodb = boto3.client("dynamodb")


class Product(BaseModel):
    """The response of the route."""

    id: int
    item_code: str
    name: str


@app.get("/products/<number>")
def get_product(number: str) -> "Response[str]":
    """Read one item and return it."""
    key = {"PK": {"S": f"product#{number}"}, "SK": {"S": "HEAD"}}
    dynamodb.get_item(TableName="products", Key=key, ConsistentRead=True)
    product = Product(id=int(number), item_code="BOLT-M8", name="Bolt M8")
    return Response(200, "application/json", json.dumps({"data": product.model_dump()}))


def lambda_handler(event, context):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Handle one gateway event."""
    return app.resolve(event, context)
