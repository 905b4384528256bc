"""Putaway: where arriving goods can be put."""

from shared.http.request import Request
from shared.http.routes import ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.warehouse.putaway import service
from shared.warehouse.putaway.models import PutawayParameters, PutawaySuggestion

routes = Routes()


@routes.read(
    "/putaway-suggestions",
    "Suggest positions for goods",
    scope="stocks:read",
    response=PutawaySuggestion,
    responds_with_list=True,
    parameters=PutawayParameters,
    description="Up to 5 positions, the best first. `reason`: `pick_face`, a pick face of the"
    " product below its maximum; `same_goods`, a position with the same product and batch and room;"
    " `empty`, an empty position of the type `storage` or `reserve`, early in the pick sequence."
    " `room` is how many units fit by the capacities of the position; what has no known weight or"
    " measures counts as fitting.",
)
def suggest_positions(store: Store, request: Request[None, PutawayParameters]) -> ResourceResponse:
    """Return positions where goods can be put."""
    return ResourceResponse(service.suggest(store, request.parameters))
