"""Goods of a request, checked or not, with other values or more problems than the body has."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pydantic import BaseModel

from shared.kernel.errors import Problem
from shared.kernel.validation import Checked, InvalidBody, problems_of

_LINES = "lines"
"""Field of a body with several goods."""


def own_lines[L: BaseModel](body: Checked[BaseModel]) -> list[Checked[L]]:
    """Return the lines of a body, each invalid one with its own problems."""
    lines: Sequence[Checked[L]] = getattr(body, _LINES) or ()
    own: list[list[Problem]] = [[] for _ in lines]
    for problem in problems_of(body):
        field, _, rest = problem.field.partition(".")
        at, _, inner = rest.partition(".")
        if field == _LINES and at.isdecimal() and int(at) < len(lines):
            own[int(at)].append(replace(problem, field=inner))
    return [
        replace(line, problems=problems) if isinstance(line, InvalidBody) else line
        for line, problems in zip(lines, own, strict=True)
    ]


def with_lines[M: BaseModel, L: BaseModel](
    body: Checked[M], before: Sequence[Checked[L]], lines: Sequence[Checked[L]]
) -> Checked[M]:
    """Return a body with other lines, and with the problems that they have more than `before`."""
    more = [
        replace(problem, field=f"{_LINES}.{at}.{problem.field}")
        for at, (old, new) in enumerate(zip(before, lines, strict=True))
        for problem in more_problems(new, old)
    ]
    if not more and not isinstance(body, InvalidBody):
        return body.model_copy(update={_LINES: lines})
    model: type[M] = body.model if isinstance(body, InvalidBody) else type(body)
    values = {name: getattr(body, name) for name in model.model_fields} | {_LINES: lines}
    return InvalidBody(model, [*problems_of(body), *more], body.model_fields_set, values)


def with_values[M: BaseModel](draft: Checked[M], **values: object) -> Checked[M]:
    """Return goods with other values of fields."""
    if isinstance(draft, InvalidBody):
        return replace(draft, valid_values={**draft.valid_values, **values})
    return draft.model_copy(update=values)


def with_problem[M: BaseModel](draft: Checked[M], problem: Problem) -> InvalidBody[M]:
    """Return goods with one more problem, whose field has no value."""
    model: type[M] = draft.model if isinstance(draft, InvalidBody) else type(draft)
    values = {name: getattr(draft, name) for name in model.model_fields}
    values["item_code"] = values["item_code"] or None
    values[problem.field.partition(".")[0]] = None
    problems = [problem, *problems_of(draft)]
    return InvalidBody(model, problems, draft.model_fields_set, values)


def with_problems[L: BaseModel](
    lines: Sequence[Checked[L]], found: Iterable[Problem]
) -> list[Checked[L]]:
    """Return the lines of a body with more problems, whose fields begin with `lines.N`."""
    after = [*lines]
    for problem in found:
        _, at, field = problem.field.split(".", 2)
        after[int(at)] = with_problem(after[int(at)], replace(problem, field=field))
    return after


def more_problems(draft: Checked[BaseModel], before: Checked[BaseModel]) -> list[Problem]:
    """Return the problems that goods, or a body, have more than `before`."""
    return [one for one in problems_of(draft) if one not in problems_of(before)]
