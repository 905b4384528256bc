"""Which errors of AWS are temporary, from the responses that the services send."""

from typing import Any

from botocore.exceptions import ClientError
from botocore.parsers import create_parser
from botocore.session import get_session

from shared.kernel.db.aws_errors import is_transient
from tests.cases import each_case

_STS_THROTTLING = b"""
<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <Error><Type>Sender</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error>
  <RequestId>1</RequestId>
</ErrorResponse>"""
_TEMPORARY: dict[str, tuple[str, int, bytes]] = {
    "DynamoDB throttles": ("dynamodb", 400, b'{"__type":"com.amazon#ThrottlingException"}'),
    "DynamoDB fails": ("dynamodb", 500, b'{"__type":"com.amazon#InternalServerError"}'),
    "DynamoDB fails otherwise": ("dynamodb", 500, b'{"__type":"com.amazon#InternalFailure"}'),
    "a load balancer answers": ("dynamodb", 503, b"<html>Service Unavailable</html>"),
    "no body": ("dynamodb", 502, b""),
    "S3 throttles": ("s3", 503, b"<Error><Code>SlowDown</Code></Error>"),
    "S3 fails": ("s3", 500, b"<Error><Code>InternalError</Code></Error>"),
    "STS throttles": ("sts", 400, _STS_THROTTLING),
    "SQS throttles": ("sqs", 403, b'{"__type":"com.amazonaws.sqs#RequestThrottled"}'),
    "KMS fails": ("kms", 500, b'{"__type":"KMSInternalException"}'),
}
_LASTING: dict[str, tuple[str, int, bytes]] = {
    "DynamoDB refuses": ("dynamodb", 400, b'{"__type":"com.amazon#ValidationException"}'),
    "S3 denies": ("s3", 403, b"<Error><Code>AccessDenied</Code></Error>"),
    "no such queue": ("sqs", 400, b'{"__type":"com.amazonaws.sqs#QueueDoesNotExist"}'),
}


def _error(service: str, status: int, body: bytes) -> ClientError:
    model = get_session().get_service_model(service)
    parser: Any = create_parser(model.resolved_protocol)
    return ClientError(
        parser.parse({"status_code": status, "headers": {}, "body": body}, None), "Any"
    )


@each_case("name", _TEMPORARY)
def test_failures_and_throttling_of_every_service_are_temporary(name: str) -> None:
    assert is_transient(_error(*_TEMPORARY[name]))


@each_case("name", _LASTING)
def test_refusals_are_not_temporary(name: str) -> None:
    assert not is_transient(_error(*_LASTING[name]))
