"""Somebody who works on shared tasks with a handheld, through cuts, faults and closed browsers."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Locator, expect

from tests.e2e.console.floor.handheld import PIN, Handheld
from tests.e2e.console.floor.records import Movement, Records
from tests.e2e.console.floor.weak_network import WeakNetwork

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
            expect(ready.or_(helping).first).to_be_visible()
            if helping.is_visible():
                helping.click()
            expect(ready).to_be_visible()
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
            handheld.go("")
            expect(handheld.heading("Tasks")).to_be_visible()
            return False
        handheld.confirm(str(movement.qty))
        if is_receipt:
            handheld.scan(movement.position)
            expect(handheld.page.get_by_label("Scan the product")).to_be_visible()
        else:
            expect(qty).to_be_hidden()
        self.records.movements.append(movement)
        return True

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
        self.handheld.unlock(PIN)
        expect(self._shown(".task .ask").first).to_be_visible()

    def look_after(self) -> None:
        """Sign in again if the session ended, and decide about what was refused."""
        over = self._shown(".over")
        if over.is_visible() and not self.network.is_cut:
            with self._good_network():
                self.handheld.person.sign_in()
                expect(over).to_be_hidden()
        if self._shown("header a.danger").is_visible():
            self._decide(lambda: self.rng.choices((_DISCARD, _AGAIN, _LEAVE), (4, 2, 1))[0])

    def finish(self) -> None:
        """Wait in a good network until nothing waits, and discard what was refused."""
        self.network.recover()
        status, page = self.handheld.status, self.handheld.page
        for _ in range(200):
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
