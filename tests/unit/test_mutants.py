"""Every mutant can be applied and named; what may survive exists and has a reason."""

from collections import Counter
from functools import cache

from tests.cases import each_case
from tests.mutations.applying import find_function, mutated_code
from tests.mutations.explained import EXPLAINED
from tests.mutations.mutants import Mutant, mutants
from tests.sampling import sampled


@cache
def _all() -> list[Mutant]:
    return list(mutants())


def test_every_mutant_changes_the_code_of_a_function() -> None:
    for mutant in sampled("mutants", _all(), every=4):
        code = find_function(mutant.path, mutant.function).__code__
        mutated = mutated_code(mutant)
        assert mutated.co_freevars == code.co_freevars, mutant
        assert mutated != code, mutant


def test_names_of_mutants_are_unique() -> None:
    names = Counter(map(str, _all()))
    assert [name for name, count in names.items() if count > 1] == []


def test_explained_survivors_exist_and_have_a_reason() -> None:
    assert set(EXPLAINED) <= {str(mutant) for mutant in _all()}
    assert all(reason.endswith(".") for reason in EXPLAINED.values())


@each_case(
    "part",
    [
        "stock/rules.py StockChanges.move: without self.movements.append(",
        "receiving/goods_receipt.py", "picking/allocation.py", "picking/dispatch.py",
        "waves/creating.py",
        "transfers/service.py _move: without posting.post()", "transfer_orders/transit.py",
        "collection.py Collection.replace: transfer_order without the condition on a version",
        "collection.py Collection.replace: approval without the condition on a version",
        "approvals/service.py use: without repository.put_open_approval(",
        "references.py retire: without invalidate_fences(", "http/idempotency.py",
        "packing/service.py record_passed_validation: without tx.check(",
        "stock/batches.py require_date: without tx.check(",
    ],
)  # fmt: skip
def test_every_kind_of_work_is_mutated(part: str) -> None:
    assert any(part in str(mutant) for mutant in _all())
