"""The actions of waves. From its release on, the status of a wave follows its pickings."""

from shared.kernel.action_table import ActionTable, StateAction
from shared.warehouse.waves.models import StoredWave, WaveStatus
from shared.warehouse.waves.rules import wave_code

ACTIONS = ActionTable[StoredWave, WaveStatus](
    WaveStatus,
    lambda wave: wave_code(wave.id),
    StateAction("plan", ["draft"], ["planned"]),
    StateAction("release", ["planned"], ["released", "in_progress", "picked"]),
    StateAction("complete", ["picked"], ["completed"]),
    StateAction("close", ["completed"], ["closed"]),
    StateAction("cancel", ["draft", "planned", "released", "in_progress"], ["cancelled"]),
)
