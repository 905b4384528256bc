"""The queues of the template in moto, which move messages to the queue of failures."""

import json
from collections.abc import Callable

from moto.sqs.models import sqs_backends

from shared.kernel import aws
from tests.integration.watching.operator_alarms import FUNCTIONS_OF_TEMPLATE, TEMPLATE
from tests.stack import ACCOUNT, NAME, REGION


def consumed_queues(function: str) -> set[str]:
    """Return the queues whose messages a function gets."""
    events = FUNCTIONS_OF_TEMPLATE[function]["Events"].values()
    return {
        one["Properties"]["Queue"]["Fn::GetAtt"].removesuffix(".Arn")
        for one in events
        if one["Type"] == "SQS"
    }


def _url(queue: str) -> str:
    return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{NAME}-{queue}"


def visible(queue: str) -> int:
    """Return the messages that a consumer could receive now or after their delay."""
    name = _url(queue).rpartition("/")[2]
    return len(sqs_backends[ACCOUNT][REGION].queues[name]._messages)


def redrive(queue: str) -> str:
    """Give the queue of moto the redrive policy of the template; return the queue of failures."""
    policy = TEMPLATE.resources("AWS::SQS::Queue")[queue]["RedrivePolicy"]
    letters: str = policy["deadLetterTargetArn"]["Fn::GetAtt"].removesuffix(".Arn")
    target = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{NAME}-{letters}"
    redrive = {"deadLetterTargetArn": target, "maxReceiveCount": policy["maxReceiveCount"]}
    aws.client("sqs").set_queue_attributes(
        QueueUrl=_url(queue), Attributes={"RedrivePolicy": json.dumps(redrive)}
    )
    return letters


def receive_until_dead(queue: str, deliver: Callable[[str, int], bool]) -> int:
    """Receive a message and deliver it, as Lambda does, until SQS moves it away.

    Args:
        queue: Logical id of the queue.
        deliver: Invokes the function with body and receive count; returns whether it failed.

    Returns:
        How often the message was delivered.
    """
    sqs, delivered = aws.client("sqs"), 0
    while True:
        answer = sqs.receive_message(
            QueueUrl=_url(queue), VisibilityTimeout=0, MaxNumberOfMessages=1
        )
        if not answer.get("Messages"):
            return delivered
        delivered += 1
        (message,) = answer["Messages"]
        if not deliver(message["Body"], delivered):  # the worker has sent the dead letter itself
            sqs.delete_message(QueueUrl=_url(queue), ReceiptHandle=message["ReceiptHandle"])
