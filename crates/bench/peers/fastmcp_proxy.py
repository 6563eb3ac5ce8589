"""A FastMCP proxy in front of the servers of a configuration file, over HTTP or stdio."""

import json
import sys

from fastmcp.server import create_proxy

with open(sys.argv[1]) as file:
    proxy = create_proxy(json.load(file), name="bench")
if sys.argv[2] == "stdio":
    proxy.run(transport="stdio", show_banner=False)
else:
    proxy.run(
        transport="http",
        host="127.0.0.1",
        port=int(sys.argv[2]),
        show_banner=False,
        log_level="ERROR",
    )
