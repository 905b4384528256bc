"""The metrics of AWS that dashboard and alarms may use, as its documentation lists them.

Where AWS writes no such metric, a graph is empty, and an alarm is never raised. Sources:
https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html,
https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html,
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html,
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/monitoring-cloudwatch.html
"""

from collections.abc import Mapping

AWS_METRICS: Mapping[str, set[str]] = {
    "AWS/ApiGateway": {"4XXError", "5XXError", "Count", "IntegrationLatency", "Latency"},
    "AWS/DynamoDB": {
        "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "TransactionConflict",
    },
    "AWS/Lambda": {
        "ConcurrentExecutions", "Duration", "Errors", "Invocations", "IteratorAge",
        "RecursiveInvocationsDropped", "Throttles",
    },
    "AWS/SQS": {"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"},
    "AWS/Scheduler": {"TargetErrorCount"},
}  # fmt: skip

_DIMENSIONS: Mapping[str, list[set[str]]] = {
    "AWS/ApiGateway": [{"ApiName", "Stage"}],
    "AWS/DynamoDB": [{"TableName"}],
    "AWS/Lambda": [set(), {"FunctionName"}, {"FunctionName", "Resource"}],
    "AWS/SQS": [{"QueueName"}],
    "AWS/Scheduler": [{"ScheduleGroup"}],
}


def is_documented(namespace: str, name: str, dimensions: Mapping[str, object]) -> bool:
    """Return whether AWS writes the metric with these dimensions."""
    return name in AWS_METRICS[namespace] and dimensions.keys() in _DIMENSIONS[namespace]
