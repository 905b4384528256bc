"""The terms of a company in this deployment, which its operator decides, not an export."""

from dataclasses import dataclass
from typing import Self

from operations.tenant_rules import check_modules, check_plan, check_requests_per_minute
from shared.kernel.db.items import AttributeMap


@dataclass(frozen=True, slots=True)
class Terms:
    """Plan, modules and agreed request limit."""

    plan: str
    modules: frozenset[str]
    requests_per_minute: int | None
    """None for the limit of the plan."""

    @classmethod
    def of(cls, item: AttributeMap) -> Self:
        """Return the terms in a tenant's item."""
        limit = item.get("requests_per_minute")
        return cls(
            item["plan"]["S"],
            frozenset(item.get("modules", {}).get("SS", ())),
            int(limit["N"]) if limit else None,
        )

    def __str__(self) -> str:
        """Return the terms as a message shows them."""
        modules = ", ".join(sorted(self.modules)) or "none"
        limit = self.requests_per_minute or "that of the plan"
        return f"the plan {self.plan}, the modules {modules}, the request limit {limit}"

    def check(self) -> None:
        """Raise ValidationFailed unless plan and modules exist and the limit is allowed."""
        check_plan(self.plan)
        check_modules(self.modules)
        if self.requests_per_minute is not None:
            check_requests_per_minute(self.requests_per_minute)

    def attributes(self) -> AttributeMap:
        """Return the attributes of the tenant's item."""
        item: AttributeMap = {"plan": {"S": self.plan}}
        if self.modules:  # DynamoDB has no empty sets
            item["modules"] = {"SS": sorted(self.modules)}
        if self.requests_per_minute is not None:
            item["requests_per_minute"] = {"N": str(self.requests_per_minute)}
        return item
