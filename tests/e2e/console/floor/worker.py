"""Somebody who works on shared tasks with a handheld, through cuts, faults and closed browsers."""

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from playwright.sync_api import Error, Locator, expect

from tests.e2e.console.floor.handheld import PIN, Handheld
from tests.e2e.console.floor.records import Movement, Records
from tests.e2e.console.floor.weak_network import WeakNetwork
from tests.e2e.console.person import PATIENCE_MS

_PATIENCE_SECONDS = 3 * PATIENCE_MS / 1000
"""Longest wait for what the stack does: it starts the functions again that were killed."""
_GONE_MS = 10_000
"""Longest wait for a field that was there a moment ago."""
_DISCARD, _AGAIN, _LEAVE = "Discard the scan", "Try again", "Leave to the supervisor"


@dataclass
class Worker:
    """A person, their device, its network, and what they recorded."""

    handheld: Handheld
    network: WeakNetwork
    records: Records
    rng: random.Random
    taken: set[str] = field(default_factory=set)
    decisions: Counter[str] = field(default_factory=Counter)
    """Reasons for which scans were refused."""

    def __post_init__(self) -> None:
        self._follow_session()

    def pass_time(self, seconds: float) -> None:
        """Let time pass at the device."""
        self.network.pass_time()
        self.network.context.clock.fast_forward(round(1000 * seconds))

    def take(self, task: str) -> None:
        """Put a task on the device, together with those who have it already."""
        ready, helping = self._shown(".task .ask").first, self._button("Help with it")
        if task in self.taken:
            self.handheld.go(task)
            expect(ready).to_be_visible()
            return
        with self._good_network():
            self.handheld.go(task)
            again = self._button("Try again")  # a function was killed
            while not ready.is_visible():
                shown = ready.or_(helping).or_(again).first
                expect(shown).to_be_visible(timeout=1000 * _PATIENCE_SECONDS)
                for button in (helping, again):
                    if button.is_visible():
                        button.click()
                self.handheld.page.wait_for_timeout(100)
        self.taken.add(task)

    def record(self, movement: Movement) -> bool:
        """Scan a movement; return whether it was recorded: nobody takes more than is open."""
        handheld = self.handheld
        is_receipt = movement.kind == "receipts"
        if not is_receipt:
            handheld.scan(movement.position)
        handheld.scan(movement.item)
        qty = handheld.page.get_by_label("Quantity")
        is_over = handheld.page.get_by_text("Everything is done.")
        expect(qty.or_(self._shown(".result.wrong")).or_(is_over).first).to_be_visible()
        is_bound = movement.kind == "pickings"
        if not qty.is_visible() or (is_bound and float(qty.input_value()) < movement.qty):
            assert is_bound, self._shown(".result").inner_text()
            return self._give_up()
        try:
            qty.fill(str(movement.qty), timeout=_GONE_MS)
            self._button("Confirm").click(timeout=_GONE_MS)
        except Error:  # others have picked the goods, so they are not asked for any more
            expect(self._shown(".result.wrong")).to_be_visible()
            return self._give_up()
        if is_receipt:
            handheld.scan(movement.position)
            expect(handheld.page.get_by_label("Scan the product")).to_be_visible()
        elif not self._is_confirmed():
            return self._give_up()
        self.records.movements.append(movement)
        return True

    def _give_up(self) -> Literal[False]:
        """Go back to the tasks: others have picked the goods."""
        self.handheld.go("")
        expect(self.handheld.heading("Tasks")).to_be_visible()
        return False

    def _is_confirmed(self) -> bool:
        """Return whether a quantity is taken; others may have picked the goods meanwhile."""
        page, wrong = self.handheld.page, self._shown(".result.wrong")
        next_ask = page.get_by_label(re.compile("^Scan the (product|position)$"))
        is_taken = next_ask.or_(page.get_by_text("Everything is done."))
        expect(is_taken.or_(wrong).first).to_be_visible()
        if wrong.is_visible() and "Counted here before" in wrong.inner_text():
            self.handheld.press("Confirm")  # it replaces the quantity of before
            expect(is_taken.first).to_be_visible()
        return not wrong.is_visible() or is_taken.first.is_visible()

    def begin(self, movement: Movement) -> None:
        """Scan the beginning of a movement that is never recorded."""
        self.handheld.scan(movement.position if movement.kind != "receipts" else movement.item)

    def undo(self, task: str) -> bool:
        """Take the last movement of a task back, if the screen offers it."""
        last = self.records.last_of(task)
        button = self._button(f"Undo: {last.text}" if last else "Undo")
        if last is None or not button.is_visible():
            return False
        button.click()
        expect(button).to_have_count(0)
        self.records.take_back(last)
        return True

    def die(self) -> None:
        """Lose the browser, with its requests under way, and open it again with the PIN."""
        task = self.rng.choice(sorted(self.taken))
        if self.rng.random() < 0.5:
            self.network.send_hanging()
        self.handheld.reopen(task)
        self._follow_session()
        self.handheld.unlock(PIN)
        expect(self._shown(".task .ask").first).to_be_visible()

    def look_after(self) -> None:
        """Decide about what was refused."""
        if self._shown("header a.danger").is_visible():
            self._decide(lambda: self.rng.choices((_DISCARD, _AGAIN, _LEAVE), (4, 2, 1))[0])

    def _follow_session(self) -> None:
        """Sign in whenever the session has ended: the answer of a renewal was lost."""
        self.handheld.page.add_locator_handler(self._shown(".over"), self._sign_in)

    def _sign_in(self) -> None:
        with self._good_network():
            self.handheld.person.sign_in()
            self._shown(".over").wait_for(state="hidden")

    def finish(self) -> None:
        """Wait in a good network until nothing waits, and discard what was refused."""
        self.network.recover()
        status, page = self.handheld.status, self.handheld.page
        end = time.monotonic() + _PATIENCE_SECONDS  # a request may take half a minute on its own
        while time.monotonic() < end:
            self.look_after()
            self._decide(lambda: _DISCARD)
            if "wait" not in status.inner_text() and not self._cards().count():
                return
            self.network.context.clock.fast_forward(10_000)
            page.wait_for_timeout(50)
        raise AssertionError(f"{self.records.user}: {page.locator('body').inner_text()}")

    def _decide(self, choose: Callable[[], str]) -> None:
        """Decide about the refused scans; forget what is discarded."""
        self.handheld.go("decisions")
        expect(self.handheld.heading("Decisions")).to_be_visible()
        for text in self._cards().locator(".ask").all_inner_texts():
            card = self._cards().filter(has_text=text)
            address = card.get_by_role("link").get_attribute("href") or ""
            self.decisions[card.locator(".notice ~ ul").inner_text()] += 1
            decision = choose()
            if card.get_by_role("button", name=decision).is_hidden():
                continue  # left to the supervisor before
            card.get_by_role("button", name=decision).click()
            if decision == _DISCARD:
                self.records.discard(address.rpartition("floor/")[2], text)
                expect(card).to_have_count(0)

    def _cards(self) -> Locator:
        return self.handheld.page.get_by_role("article")

    def _button(self, name: str) -> Locator:
        return self.handheld.page.get_by_role("button", name=name, exact=True)

    def _shown(self, selector: str) -> Locator:
        return self.handheld.page.locator(selector)

    @contextmanager
    def _good_network(self) -> Iterator[None]:
        share, self.network.fault_share = self.network.fault_share, 0
        self.network.cut(is_cut=False)
        self.network.let_go()
        yield
        self.network.fault_share = share
