"""Lists and calls through a gateway with version 1 of the Python SDK; prints one JSON object.

python1.py legacy http URL | python1.py legacy stdio COMMAND WORD...
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def listed(session):
    """Waits for the tools of both servers: on a busy machine, one may start late."""
    for _ in range(120):
        tools = await session.list_tools()
        names = {tool.name for tool in tools.tools}
        if {"everything__get-sum", "time__convert_time"} <= names:
            break
        await asyncio.sleep(1)
    return tools


async def main() -> None:
    _, _, kind, *where = sys.argv
    if kind == "http":
        connection = streamable_http_client(where[0])
    else:
        environment = dict(os.environ)
        connection = stdio_client(
            StdioServerParameters(command=where[0], args=where[1:], env=environment)
        )
    async with connection as streams, ClientSession(streams[0], streams[1]) as session:
        welcome = await session.initialize()
        tools = await listed(session)
        total = await session.call_tool("everything__get-sum", {"a": 2, "b": 40})
        zones = {"source_timezone": "Asia/Tokyo", "target_timezone": "Asia/Kolkata"}
        time = await session.call_tool("time__convert_time", {"time": "16:30", **zones})
        read = await session.read_resource("demo://resource/dynamic/text/7")
        prompt = await session.get_prompt("everything__simple-prompt")
        print(
            json.dumps(
                {
                    "server": welcome.serverInfo.name,
                    "revision": welcome.protocolVersion,
                    "tools": [tool.name for tool in tools.tools],
                    "sum": total.content[0].text,
                    "difference": time.structuredContent["time_difference"],
                    "resource": read.contents[0].text,
                    "prompt": prompt.messages[0].content.text,
                }
            )
        )


asyncio.run(main())
