from tests.webhook_desk import WebhookDesk


def test_an_event_arrives(desk: WebhookDesk) -> None:
    hook = desk.subscribe("product.created")
    product = desk.happen()

    desk.flow()

    (sent,) = desk.sent
    assert sent.event["data"]["attributes"] == product
    print(sent.event, sent.headers)
    print(desk.log(hook["id"]))
    print(desk.show(hook["id"]))
