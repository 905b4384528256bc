"""What DynamoDB does and emulators do not: capacity units, fast queries, conflicts."""
