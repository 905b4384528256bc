"""The metrics of AWS that dashboard and alarms may use, as its documentation lists them.

Where AWS writes no such metric, a graph is empty, and an alarm is never raised. Sources:
https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html,
https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html,
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html,
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/monitoring-cloudwatch.html
"""

from collections.abc import Mapping

AWS_METRICS: Mapping[str, frozenset[str]] = {
    "AWS/ApiGateway": frozenset({"4XXError", "5XXError", "Count", "IntegrationLatency", "Latency"}),
    "AWS/DynamoDB": frozenset(
        {"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "TransactionConflict"}
    ),
    "AWS/Lambda": frozenset(
        {
            "ConcurrentExecutions",
            "Duration",
            "Errors",
            "Invocations",
            "IteratorAge",
            "RecursiveInvocationsDropped",
            "Throttles",
        }
    ),
    "AWS/SQS": frozenset({"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"}),
    "AWS/Scheduler": frozenset({"TargetErrorCount"}),
}

_DIMENSIONS: Mapping[str, tuple[frozenset[str], ...]] = {
    "AWS/ApiGateway": (frozenset({"ApiName", "Stage"}),),
    "AWS/DynamoDB": (frozenset({"TableName"}),),
    "AWS/Lambda": (
        frozenset(),
        frozenset({"FunctionName"}),
        frozenset({"FunctionName", "Resource"}),
    ),
    "AWS/SQS": (frozenset({"QueueName"}),),
    "AWS/Scheduler": (frozenset({"ScheduleGroup"}),),
}


def is_documented(namespace: str, name: str, dimensions: Mapping[str, object]) -> bool:
    """Return whether AWS writes the metric with these dimensions."""
    return name in AWS_METRICS[namespace] and frozenset(dimensions) in _DIMENSIONS[namespace]
