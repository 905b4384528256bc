"""The running local stack refuses web pages and callers without its access key."""

from pathlib import Path

import boto3
import httpx
import pytest
from botocore.exceptions import ClientError

from local.settings import CREDENTIALS_FILE, REGION, STACK_FILE, STATE, AccessKey
from tests.e2e.conftest import TIMEOUT, Deployed
from tests.stack import CREDENTIALS

FOREIGN = (
    {"Origin": "https://evil.example", "Content-Type": "text/plain"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Host": "evil.example"},
)


@pytest.mark.parametrize("headers", FOREIGN)
def test_web_pages_reach_neither_the_api_nor_the_emulator(
    stack: Deployed, headers: dict[str, str]
) -> None:
    functions = f"{stack.endpoint_url}/2015-03-31/functions"
    for url in (
        functions,
        f"{stack.base_url}/oauth/token",
        f"{stack.endpoint_url}/_ministack/reset",
    ):
        for method in ("GET", "POST", "OPTIONS"):
            answer = httpx.request(method, url, headers=headers, timeout=TIMEOUT)
            assert answer.status_code == 403, (method, url)
            assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("key", [AccessKey("test", "test"), AccessKey("000000000000", "test")])
def test_other_accounts_of_the_machine_read_no_tables(stack: Deployed, key: AccessKey) -> None:
    dynamodb = boto3.client(
        "dynamodb",
        endpoint_url=stack.endpoint_url,
        region_name=REGION,
        aws_access_key_id=key.id,
        aws_secret_access_key=key.secret,
    )
    with pytest.raises(ClientError, match="not signed with an access key of this run"):
        dynamodb.list_tables()


def test_the_file_of_credentials_gives_access(
    stack: Deployed, no_real_credentials: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert no_real_credentials is None
    for name in CREDENTIALS:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(CREDENTIALS_FILE))
    dynamodb = boto3.Session().client(
        "dynamodb", endpoint_url=stack.endpoint_url, region_name=REGION
    )
    assert dynamodb.list_tables()["TableNames"]


def test_pages_of_the_stack_are_served(stack: Deployed) -> None:
    page = {"Origin": stack.endpoint_url, "Sec-Fetch-Site": "same-origin"}
    assert httpx.get(f"{stack.base_url}/console/", headers=page, timeout=TIMEOUT).is_success


@pytest.mark.parametrize("path", [STATE, CREDENTIALS_FILE, STACK_FILE])
def test_only_the_owner_reads_the_files_of_the_run(stack: Deployed, path: Path) -> None:
    assert stack
    assert path.stat().st_mode & 0o077 == 0
