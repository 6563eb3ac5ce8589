"""Lists and calls through a gateway with version 2 of the Python SDK; prints one JSON object.

python2.py MODE http URL | python2.py MODE stdio COMMAND WORD...
MODE is `legacy`, `auto` or the modern revision to use without negotiation.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def listed(client):
    """Waits for the tools of both servers: on a busy machine, one may start late."""
    for _ in range(120):
        tools = await client.list_tools()
        names = {tool.name for tool in tools.tools}
        if {"everything__get-sum", "time__convert_time"} <= names:
            break
        await asyncio.sleep(1)
    return tools


async def main() -> None:
    _, mode, kind, *where = sys.argv
    if kind == "http":
        server = where[0]
    else:
        environment = dict(os.environ)
        server = StdioServerParameters(command=where[0], args=where[1:], env=environment)
    async with Client(server, mode=mode) as client:
        tools = await listed(client)
        total = await client.call_tool("everything__get-sum", {"a": 2, "b": 40})
        zones = {"source_timezone": "Asia/Tokyo", "target_timezone": "Asia/Kolkata"}
        time = await client.call_tool("time__convert_time", {"time": "16:30", **zones})
        read = await client.read_resource("demo://resource/dynamic/text/7")
        prompt = await client.get_prompt("everything__simple-prompt")
        print(
            json.dumps(
                {
                    "revision": client.protocol_version,
                    "tools": [tool.name for tool in tools.tools],
                    "sum": total.content[0].text,
                    "difference": time.structured_content["time_difference"],
                    "resource": read.contents[0].text,
                    "prompt": prompt.messages[0].content.text,
                }
            )
        )


asyncio.run(main())
