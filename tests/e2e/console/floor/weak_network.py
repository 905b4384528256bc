"""The network of a handheld in a dead zone: it loses requests and answers, and functions die."""

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum

from playwright.sync_api import APIResponse, BrowserContext, Error, Route

CUT_SHARE = 0.3
"""Share of the time without a network."""

_ENDS = 0.35
"""How likely a cut ends between two movements."""
_BEGINS = _ENDS * CUT_SHARE / (1 - CUT_SHARE)


class Fault(StrEnum):
    """What happens to a request while there is a network."""

    REQUEST_LOST = "requests lost"
    ANSWER_LOST = "answers lost"
    DIES_BEFORE = "functions that died before the work"
    DIES_AFTER = "functions that died after the work"
    REQUEST_HANGS = "requests that hung"
    ANSWER_HANGS = "answers that hung"


@dataclass
class _Hanging:
    """A request that hangs, before or after the service carries it out."""

    route: Route
    answer: APIResponse | None = None

    def send(self) -> None:
        """Have the service carry it out."""
        self.answer = self.answer or _sent(self.route)

    def end(self, *, is_cut: bool) -> None:
        """Give the page its answer, or none."""
        if not is_cut:
            self.send()
        if is_cut or self.answer is None:
            _lose(self.route)
            return
        with suppress(Error):
            self.route.fulfill(response=self.answer)


@dataclass
class WeakNetwork:
    """Stands between a browser and the interface; the files of the console are not touched."""

    context: BrowserContext
    rng: random.Random
    fault_share: float
    """Share of the requests with a fault, while there is a network."""
    is_cut: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    _hanging: list[_Hanging] = field(default_factory=list)

    def begin(self, base_url: str) -> None:
        """Take the requests from now on."""
        console = f"{base_url}/console/"
        self.context.route(
            lambda url: url.startswith(base_url) and not url.startswith(console), self._take
        )

    def pass_time(self) -> None:
        """Begin or end a cut by chance, and decide about what hangs."""
        chance = _ENDS if self.is_cut else _BEGINS
        if self.rng.random() < chance:
            self.cut(is_cut=not self.is_cut)
        self.let_go()

    def cut(self, *, is_cut: bool) -> None:
        """Take the network away, also in the middle of requests, or give it back."""
        self.is_cut = is_cut
        self.context.set_offline(is_cut)
        self.counts["cuts"] += is_cut

    def let_go(self) -> None:
        """End the requests that hang: each with its answer, or without one."""
        hanging, self._hanging = self._hanging, []
        for one in hanging:
            one.end(is_cut=self.is_cut)

    def send_hanging(self) -> None:
        """Have the service carry out what hangs, without an answer."""
        for one in self._hanging:
            one.send()

    def recover(self) -> None:
        """Have no more faults."""
        self.fault_share = 0
        self.cut(is_cut=False)
        self.let_go()

    def _take(self, route: Route) -> None:
        self.counts["requests"] += 1
        if self.is_cut:
            _lose(route)
        elif self.rng.random() >= self.fault_share:
            with suppress(Error):  # the page was closed meanwhile
                route.continue_()
        else:
            fault = self.rng.choice([*Fault])
            self.counts[fault] += 1
            self._fail(route, fault)

    def _fail(self, route: Route, fault: Fault) -> None:
        match fault:
            case Fault.REQUEST_LOST:
                _lose(route)
            case Fault.ANSWER_LOST:
                _sent(route)
                _lose(route)
            case Fault.DIES_BEFORE:
                _answer_with(route, 502)
            case Fault.DIES_AFTER:
                _sent(route)
                _answer_with(route, 503)
            case Fault.REQUEST_HANGS:
                self._hanging.append(_Hanging(route))
            case Fault.ANSWER_HANGS:
                self._hanging.append(_Hanging(route, _sent(route)))


def _sent(route: Route) -> APIResponse | None:
    """Return the answer of the service to a request; None if the page is closed."""
    try:
        return route.fetch()
    except Error:
        return None


def _lose(route: Route) -> None:
    with suppress(Error):
        route.abort("internetdisconnected")


def _answer_with(route: Route, status: int) -> None:
    with suppress(Error):
        route.fulfill(status=status, json={"message": "Service Unavailable"})
