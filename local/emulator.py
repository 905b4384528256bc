"""The process of the emulator: MiniStack with the bridges of `local.bridges`, on loopback only.

`local.stack` starts it. To start it manually, set MiniStack's environment variables, at least
GATEWAY_PORT, and run `python -m local.emulator`.
"""

import argparse
import asyncio
import os
import resource

from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack.app import app

from local import bridges


def main() -> None:
    """Serve until SIGTERM or SIGINT, then save the state to disk."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    bridges.install()

    # Concurrent calls open many sockets.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    config = Config()
    config.bind = [f"127.0.0.1:{os.environ['GATEWAY_PORT']}"]
    config.keep_alive_timeout = 75
    config.loglevel = os.environ.get("LOG_LEVEL", "WARNING")
    asyncio.run(serve(app, config))


if __name__ == "__main__":
    main()
