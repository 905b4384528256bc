"""What an execution environment remembers of feeds, which its threads read at the same time."""

from dataclasses import dataclass

import pytest

from shared.kernel.events import feed_ids
from shared.kernel.events.feed import FeedHead
from shared.kernel.events.feed_ids import AppendedIds


@dataclass
class _Feed:
    table: str


class _IdsCountedWhileAnotherFeedIsRead(set[bytes]):
    def __len__(self) -> int:
        feed_ids._remembered["another"] = AppendedIds.none_before(FeedHead(1, 0, {}))
        return 1


def test_another_feed_may_be_remembered_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_ids, "_remembered", {})
    known = AppendedIds(1, 0, 1, 0, _IdsCountedWhileAnotherFeedIsRead())
    feed_ids._remember(_Feed("one"), known)  # type: ignore[arg-type]
    assert feed_ids._remembered.keys() == {"one", "another"}
