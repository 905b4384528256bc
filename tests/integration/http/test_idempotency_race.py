"""A repeated request while the first one commits."""

from tests.faults import AwsFaults, refuse_calls
from tests.gateway import Erp
from tests.integration.write_routes import BOLT


def test_repeat_during_the_commit_is_duplicate_in_flight(erp: Erp, aws_faults: AwsFaults) -> None:
    first = erp.post("/products", BOLT, key="k1")

    with aws_faults.faulty(refuse_calls("PutItem", code="TransactionConflictException")):
        meanwhile = erp.post("/products", BOLT, key="k1")

    assert (meanwhile.status, meanwhile.code) == (409, "duplicate_in_flight")
    assert meanwhile.headers["Retry-After"] == "1"
    assert erp.post("/products", BOLT, key="k1").text == first.text
