"""The emulator's own process: MiniStack with its gaps bridged, on loopback alone.

`local.stack` starts it; by hand: `python -m local.emulator`. Settings come from MiniStack's
environment variables, GATEWAY_PORT among them.
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
    """Serve until SIGTERM or SIGINT, then write the state to disk."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    bridges.install()

    # A burst of calls opens many sockets at once.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    config = Config()
    config.bind = [f"127.0.0.1:{os.environ['GATEWAY_PORT']}"]
    config.keep_alive_timeout = 75
    config.loglevel = os.environ.get("LOG_LEVEL", "WARNING")
    asyncio.run(serve(app, config))


if __name__ == "__main__":
    main()
