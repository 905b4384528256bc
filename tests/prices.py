"""Prices of AWS in USD, without free tiers and discounts.

List prices of us-east-1 (N. Virginia) in November 2026, for the first tier of each service:
DynamoDB on demand, API Gateway REST API, Lambda on arm64, SQS standard queues, KMS, S3 Standard.
STS is free, and so are the reads of Lambda from a DynamoDB stream. Data transfer, stored bytes and
CloudWatch are not included.
"""

from collections import Counter
from collections.abc import Iterable

REGION, DATE = "us-east-1", "November 2026"
READ_UNITS = 0.125
WRITE_UNITS = 0.625
GATEWAY = 3.50
LAMBDA_REQUESTS = 0.20
LAMBDA_GB_SECOND = 0.0000133334
"""USD per GB-second; the others are USD per million."""

WAIT_MS = 5
"""Assumed milliseconds of a round trip. AWS states single-digit milliseconds for DynamoDB."""

_QUEUE, _KMS, _KMS_SIGN, _S3_READ, _S3_WRITE = 0.40, 3.0, 15.0, 0.40, 5.0
_CALLS = {
    "SendMessage": _QUEUE,
    "SendMessageBatch": _QUEUE,
    "GenerateMac": _KMS,
    "VerifyMac": _KMS,
    "Encrypt": _KMS,
    "Decrypt": _KMS,
    "GenerateDataKey": _KMS,
    "Sign": _KMS_SIGN,
    "Verify": _KMS_SIGN,
    "GetPublicKey": _KMS_SIGN,
    "GetObject": _S3_READ,
    "HeadObject": _S3_READ,
    "PutObject": _S3_WRITE,
    "CopyObject": _S3_WRITE,
    "ListObjectsV2": _S3_WRITE,
}
"""Operation → USD per million calls; DynamoDB is priced by units, the others are free."""


def usd_of_calls(operations: Iterable[str]) -> float:
    """Return the price of calls to SQS, KMS and S3 in USD."""
    return sum(_CALLS.get(name, 0.0) * count for name, count in Counter(operations).items()) / 1e6


def usd_of_units(reads: float, writes: float) -> float:
    """Return the price of read and write units in USD."""
    return (reads * READ_UNITS + writes * WRITE_UNITS) / 1e6


def usd_of_invocation(memory_mb: int, milliseconds: float) -> float:
    """Return the price of one invocation of Lambda in USD."""
    return LAMBDA_REQUESTS / 1e6 + memory_mb / 1024 * milliseconds / 1000 * LAMBDA_GB_SECOND


NOTE = (
    f"Prices are list prices of {REGION} in {DATE}, without free tiers: DynamoDB {READ_UNITS} USD"
    f" per million read units and {WRITE_UNITS} per million write units (on demand), API Gateway"
    f" {GATEWAY:.2f} and Lambda {LAMBDA_REQUESTS:.2f} per million requests, Lambda on arm64"
    f" {LAMBDA_GB_SECOND:.10f} per GB-second, SQS {_QUEUE:.2f}, KMS {_KMS:g} (signatures"
    f" {_KMS_SIGN:g}), S3 {_S3_WRITE:g} (reads {_S3_READ:.2f}) per million calls. Data transfer,"
    " storage and CloudWatch are not included."
)
