"""The Python SDK's client under the same load as the others.

For each line of input, calls for that many milliseconds and prints the result as JSON.
"""

import asyncio
import json
import sys
import time

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


def read_options(words):
    return {name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2])}


def place(options):
    if "url" in options:
        return options["url"]
    parameters = StdioServerParameters(command=options["server"], args=["raw-server", "stdio"])
    return stdio_client(parameters)


async def run(client, text, in_flight, milliseconds):
    times = []
    started = time.perf_counter()
    end = started + milliseconds / 1000
    used = time.process_time()

    async def caller():
        now = time.perf_counter()
        first = True
        while first or now < end:
            first = False
            result = await client.call_tool("echo", {"text": text})
            if len(result.content[0].text) != len(text):
                raise RuntimeError("a different text came back")
            then = time.perf_counter()
            times.append((then - now) * 1e6)
            now = then

    await asyncio.gather(*(caller() for _ in range(in_flight)))
    seconds = time.perf_counter() - started
    used = time.process_time() - used
    times.sort()

    def percentile(percent):
        return times[min(len(times) * percent // 100, len(times) - 1)]

    return {
        "calls": len(times),
        "p50": percentile(50),
        "p99": percentile(99),
        "rate": len(times) / seconds,
        "cpu": used * 1e6 / len(times),
    }


async def main():
    options = read_options(sys.argv[1:])
    text = "x" * int(options["bytes"])
    in_flight = int(options["in-flight"])
    async with Client(place(options), mode="legacy") as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            measured = await run(client, text, in_flight, int(line))
            print(json.dumps(measured), flush=True)


asyncio.run(main())
