"""How fast the web console is in Chromium, on the local stack, which is started if it does not run.

`measure` runs this module in a process of its own, because the stack must be ready before.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile

import httpx
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from local.settings import STACK_FILE
from tests.bench.report import Table

TITLE, FLOOR = "Console in the browser", "Floor in the browser"
_SLOWDOWN, _RUNS, _SETTLED_MS, _PAUSE_MS = 4, 5, 1500, 300
_AISLES = "ABCDEFGHIJ"
_WAREHOUSE = {"whs_code": "BENCH-5000", "name": "5,000 positions"}
_PAINT = "performance.getEntriesByName('first-contentful-paint')"
_PAINT_TIMES = f"""() => {{
  const paint = {_PAINT}[0].startTime;
  const found = ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type));
  let [idle, until] = [paint, 0];
  for (const one of found.sort((a, b) => a.startTime - b.startTime)) {{
    const end = Math.min(one.responseEnd, paint);
    idle -= Math.max(0, end - Math.max(one.startTime, until));
    until = Math.max(until, end);
  }}
  return [paint, idle];
}}"""
_SCAN_MS = """code => new Promise((done) => {
  const result = document.querySelector('.result');
  const type = (key) => (document.activeElement ?? document.body).dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  [...code].forEach(type);
  const began = performance.now();
  const seen = new MutationObserver(() => {
    seen.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  });
  seen.observe(result, { attributes: true, characterData: true, childList: true, subtree: true });
  type('Enter');
})"""
_RECORD_FRAMES = """() => {
  const frames = (window.frames_ = []);
  const tick = (at) => { frames.push(at); requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
}"""


def measure() -> list[Table]:
    """Measure first paints, the script of a list, the frames of a map, and scans."""
    note = (
        f"Chromium without a display; the processor is {_SLOWDOWN} times slower (not for frames)."
        " Medians. Without request is the time until the first contentful paint in which no request"
        " was under way. Script is all that runs from a click until the rows of the answer stand."
    )
    times = ["first paint, ms", "of it without request, ms", "script, ms", "frames/s"]
    console = Table(TITLE, {"what": "", **dict.fromkeys(times, ".0f")}, note)
    note = (
        f"From the last key of a scan until the frame with its result; the processor is {_SLOWDOWN}"
        " times slower. Medians, and the slowest, without a network."
    )
    floor = Table(FLOOR, {"scan": "", "ms": ".0f", "slowest, ms": ".0f"}, note)
    with NamedTemporaryFile(mode="r", suffix=".json") as found:
        probe = [sys.executable, "-m", "tests.bench.browser", found.name]
        command = [sys.executable, "-m", "local.stack", "with", "--", *probe]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
        for table, rows in zip((console, floor), json.load(found), strict=True):
            for row in rows:
                table.add(*row)
    return [console, floor]


def _rows(browser: Browser) -> Iterator[tuple[object, ...]]:
    """Yield the values of each row."""
    user = json.loads(STACK_FILE.read_text())["tenants"]["acme"]
    address, warehouse = f"{user['base_url']}/console/", _warehouse(user)
    firsts, homes, filters, sorts = [], [], [], []
    for _ in range(_RUNS):
        with _page(browser, _SLOWDOWN) as (page, session):
            firsts.append(_paint_times(page, address))
            _sign_in(page, user)
            homes.append(_paint_times(page, address))
            page.goto(f"{address}products?per_page=100&type=Cable+and+flex")
            filters.append(_script_ms(page, session, ".chip"))
            sorts.append(_script_ms(page, session, "th[aria-sort=none] button"))
    for what, times in {"sign-in, first visit": firsts, "home, signed in": homes}.items():
        yield what, *map(median, zip(*times, strict=True)), None, None
    yield "100 rows, filter removed", None, None, median(filters), None
    yield "100 rows, sorted", None, None, median(sorts), None
    with _page(browser, 1) as (page, _):
        page.goto(address)
        _sign_in(page, user)
        page.goto(f"{address}map?warehouse={warehouse}")
        page.locator(".cell").nth(4999).wait_for(state="attached")
        yield "map of 5,000 positions, dragged", None, None, None, _frames(page)


def _scans(browser: Browser) -> Iterator[tuple[str, float, float]]:
    """Yield the milliseconds of scans in a move by hand: of each question, and of its end."""
    user = json.loads(STACK_FILE.read_text())["tenants"]["acme"]
    _warehouse(user)
    scans = {"position": "A-1-1-1", "product": _product(user), "target, which is kept": "A-1-1-2"}
    times: dict[str, list[float]] = {name: [] for name in scans}
    with _page(browser, _SLOWDOWN) as (page, _):
        page.goto(f"{user['base_url']}/console/floor/moves/{_WAREHOUSE['whs_code']}")
        _enter(page, user)
        page.get_by_role("button", name="Continue without a PIN").click()
        page.locator(".task .result").wait_for(state="attached")
        for _ in range(1 + 2 * _RUNS):
            for name, code in scans.items():
                page.wait_for_timeout(_PAUSE_MS)
                times[name].append(page.evaluate(_SCAN_MS, code))
                if name == "product":
                    page.get_by_role("button", name="Confirm").click()
            page.context.set_offline(True)  # what is asked of the service is known now
    for name, (_, *known) in times.items():
        yield name, median(known), max(known)


def _product(user: Mapping[str, str]) -> str:
    with _client(user) as client:
        return str(client.get("/products", params={"per_page": 1}).json()["data"][0]["item_code"])


@contextmanager
def _page(browser: Browser, slowdown: int) -> Iterator[tuple[Page, CDPSession]]:
    with browser.new_context(locale="en", bypass_csp=True) as context:
        context.set_default_timeout(120_000)
        session = context.new_cdp_session(page := context.new_page())
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        session.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
        yield page, session


def _enter(page: Page, user: Mapping[str, str]) -> None:
    page.locator("input[name=username]").fill(user["username"])
    page.locator("input[name=password]").fill(user["password"])
    page.locator("form.sign-in button").click()


def _sign_in(page: Page, user: Mapping[str, str]) -> None:
    _enter(page, user)
    page.locator(".figures a").first.wait_for()


def _paint_times(page: Page, address: str) -> tuple[float, float]:
    """Return the milliseconds until the first paint, and those of them without a request."""
    page.goto(address)
    page.wait_for_function(f"{_PAINT}.length > 0")
    paint, idle = page.evaluate(_PAINT_TIMES)
    return paint, idle


def _script_ms(page: Page, session: CDPSession, button: str) -> float:
    """Return the milliseconds of script from a click until the rows of the answer stand."""
    page.locator(button).first.wait_for()
    page.wait_for_timeout(_SETTLED_MS)
    seconds = []
    for click in (True, False):
        metrics = session.send("Performance.getMetrics")["metrics"]
        seconds += [float(one["value"]) for one in metrics if one["name"] == "ScriptDuration"]
        if click:
            with page.expect_response(lambda answer: "/products?" in answer.url):
                page.locator(button).first.click()
            page.wait_for_timeout(_SETTLED_MS)
    return (seconds[1] - seconds[0]) * 1000


def _frames(page: Page) -> float:
    """Return the frames a second while the map is dragged."""
    page.locator(".map .window").hover()
    page.mouse.down()
    page.evaluate(_RECORD_FRAMES)
    for step in range(240):
        page.mouse.move(600 + step % 120, 400 + step % 60)
    times = page.evaluate("window.frames_")
    return 1000 * float((len(times) - 1) / (times[-1] - times[0]))


def _warehouse(tenant: Mapping[str, str]) -> int:
    """Return the id of a warehouse of 5,000 positions with a map; create what is missing."""
    ways = {name: 4.0 * (at + 1) for at, name in enumerate(_AISLES)}
    layout = {
        "width_m": 72, "depth_m": 48, "zones": [], "points": [],
        "aisles": [{"number": one, "x1": 1, "y1": y, "x2": 70, "y2": y} for one, y in ways.items()],
        "bays": [{"aisle": name, "number": rack, "x": 2.7 * rack, "y": y + 1, "w": 2.7, "d": 1.1}
                 for name, y in ways.items() for rack in range(1, 26)],
    }  # fmt: skip
    mask = {
        "naming_mask": "{aisle}-{rack}-{level}-{slot}", "whs_code": _WAREHOUSE["whs_code"],
        "racks": {"from": 1, "to": 25}, "levels": {"from": 1, "to": 5},
        "slots": {"from": 1, "to": 4},
    }  # fmt: skip
    with _client(tenant) as client:
        client.post("/warehouses", json=_WAREHOUSE)
        found = client.get("/warehouses", params={"whs_code": _WAREHOUSE["whs_code"]}).json()
        path = f"/warehouses/{found['data'][0]['id']}/layout"
        for at in range(0, len(_AISLES), 2):  # 1,000 positions a request
            body = mask | {"aisles": list(_AISLES[at : at + 2])}
            client.post("/warehouse-positions/bulk", json=body).raise_for_status()
        client.put(path, json=layout).raise_for_status()
        return int(found["data"][0]["id"])


@contextmanager
def _client(tenant: Mapping[str, str]) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=tenant["base_url"], timeout=120) as client:
        secret, grant = (tenant["client_id"], tenant["client_secret"]), "client_credentials"
        token = client.post("/oauth/token", data={"grant_type": grant}, auth=secret).json()
        client.headers["Authorization"] = f"Bearer {token['access_token']}"
        yield client


if __name__ == "__main__":
    with sync_playwright() as started:
        chromium = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        rows = list(_rows(chromium)), list(_scans(chromium))
        Path(sys.argv[1]).write_text(json.dumps(rows))
