"""The page that compares other systems repeats figures of the benchmark, which must be its own."""

from tests.bench import jobs
from tests.bench.page import Page

_PAGE = Page().path.with_name("comparison.md").read_text(encoding="utf-8")
_TEXT = " ".join(_PAGE.replace("\N{EN DASH}", "-").split())


def test_jobs_take_the_time_that_is_measured() -> None:
    [table] = [one for one in Page().tables() if one.title == jobs.TITLE]
    measured = {job: (requests, f"{fast}-{slow}") for job, requests, *_, fast, slow in
                (row.cells for row in table.rows)}  # fmt: skip
    requests, time = measured.pop("receive, as ordered")
    assert f"takes {requests} requests and {time} ms" in _TEXT
    for job, (requests, time) in measured.items():
        _, _, others = _TEXT.partition(f"| {job.partition(',')[0]} | ")
        assert others.split(" | ")[2:4] == [time, requests], job


def test_company_costs_what_is_measured() -> None:
    [day] = [row for table in Page().tables() for row in table.rows if row.name == "**the day**"]
    of_database, whole = map(float, day.cells[-2:])
    assert f"{whole:.2f} USD for 3,000 orders" in _TEXT
    assert f"DynamoDB takes {of_database:.2f};" in _TEXT
