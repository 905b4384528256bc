"""The process of the emulator: MiniStack with the bridges of `local.bridges`, on loopback only.

`local.emulator_access` decides who may call it.

`local.stack` starts it, with MiniStack's environment variables, and finds it again by its command
line.
"""

import argparse
import asyncio
import os
import resource
from contextlib import suppress
from pathlib import Path

from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack.app import app

from local import bridges
from local.emulator_access import ProtectedApp
from local.saved_state import SavedState
from local.settings import AccessKey


async def _serve(config: Config, state: SavedState, port: int) -> None:
    saving = asyncio.create_task(state.save_regularly())
    key = AccessKey(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    await serve(ProtectedApp(state.noticing(app), port, key), config)
    saving.cancel()
    with suppress(asyncio.CancelledError):
        await saving


def main() -> None:
    """Serve until SIGTERM or SIGINT; save the state regularly, and at the end."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True, help="directory of the saved state")
    options = parser.parse_args()
    bridges.install()
    state = SavedState(options.data)
    state.install()

    # Concurrent calls open many sockets.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    config = Config()
    config.bind = [f"127.0.0.1:{options.port}"]
    config.keep_alive_timeout = 75
    config.loglevel = os.environ.get("LOG_LEVEL", "WARNING")
    asyncio.run(_serve(config, state, options.port))


if __name__ == "__main__":
    main()
