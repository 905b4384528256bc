"""Who runs an operation, for the audit log, and transactions in the name of this operator."""

import os
import pwd
import re
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from shared.identity.tenancy.access import operator_store
from shared.kernel import aws
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction

_AMAZON_HOST = re.compile(r".+\.(amazonaws\.com|amazonaws\.com\.cn|api\.aws)")


def operator_name() -> str:
    """Return the ARN of the AWS identity; on an emulator, the name of the operating system user.

    Environment variables such as USER cannot change it. An emulator does not know who calls it:
    it is recognized by the endpoint that the entries are written to.
    """
    host = urlsplit(aws.client("dynamodb").meta.endpoint_url).hostname or ""
    if _AMAZON_HOST.fullmatch(host):
        arn: str = aws.client("sts").get_caller_identity()["Arn"]
        return arn
    uid = os.getuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def run_as_operator[R](
    tenant: str, use_case: Callable[[Transaction], R], dynamodb: Any = None
) -> R:
    """Run a use case on a tenant's table in a transaction whose audit entries name the operator.

    The version of the table is read here, not when the command begins: the command may wait for an
    answer of the operator for longer than an upgrade waits for running changes. `dynamodb` is the
    client to use instead of that with the default credentials.
    """
    return run_transaction(
        operator_store(tenant, dynamodb=dynamodb), use_case, operator=cache(operator_name)
    )
