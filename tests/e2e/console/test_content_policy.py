"""The Content-Security-Policy of the page, as the browser carries it out.

That no screen needs what it refuses is checked in every test, by `new_person`.
"""

from playwright.sync_api import Browser, Route

from tests.e2e.conftest import Deployed

_TRY = """async () => {
    const refused = new Set();
    addEventListener("securitypolicyviolation", event => refused.add(event.effectiveDirective));
    const add = (name, values) =>
        document.body.append(Object.assign(document.createElement(name), values));
    add("script", { src: "http://other.example/code.js" });
    add("script", { textContent: "globalThis.ran = true" });
    add("iframe", { src: "http://other.example/" });
    document.body.insertAdjacentHTML("beforeend", "<b onclick='globalThis.ran = true'>B</b>");
    document.body.lastElementChild.click();
    await fetch("http://other.example/").catch(() => undefined);
    await new Promise(done => setTimeout(done, 500));
    return [globalThis.ran ?? false, ...[...refused].sort()];
}"""


def test_code_and_calls_of_others_are_refused(browser: Browser, stack: Deployed) -> None:
    asked: list[str] = []

    def serve(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(content_type="text/javascript", body="globalThis.ran = true")

    with browser.new_context() as context:
        page = context.new_page()
        page.route("http://other.example/**", serve)
        page.goto(f"{stack.base_url}/console/")
        assert page.evaluate(_TRY) == [
            False,
            "connect-src",
            "frame-src",
            "script-src-attr",
            "script-src-elem",
        ]
    assert not asked
