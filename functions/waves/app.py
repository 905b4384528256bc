"""Waves."""

from shared.db.store import Store
from shared.http.door import Door
from shared.http.operations import Answer, ListAnswer, Routes
from shared.http.request import Request
from shared.waves import service, views
from shared.waves.models import StoredWave, Wave, WaveDetail, WaveParameters

routes = Routes("waves")

_READ = {"scope": "pickings:read", "permission": "exits.manage", "module": "waves"}


@routes.declare(
    "GET",
    "/waves",
    "List waves",
    answer=Wave,
    parameters=WaveParameters,
    description="`warehouse` is a warehouse code.",
    **_READ,
)
def list_waves(store: Store, request: Request) -> ListAnswer[StoredWave]:
    """Page through the waves."""
    page = service.list_waves(store, request.parameters, request.tenant.timezone)
    return ListAnswer(page, views.in_list)


@routes.declare("GET", "/waves/{id}", "Get a wave", answer=WaveDetail, **_READ)
def get_wave(store: Store, request: Request) -> Answer:
    """Read one wave with its pickings."""
    return Answer(views.in_detail(service.get_wave(store, request.id)))


lambda_handler = Door(routes)
