"""A FastMCP server with one of each kind, over stdio unless `fastmcp run` says otherwise."""

from fastmcp import FastMCP

server = FastMCP("fastmcp-sample")


@server.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
def fail(reason: str) -> str:
    """Fail with the given reason."""
    raise ValueError(reason)


@server.resource("sample://greeting")
def greeting() -> str:
    """A text that never changes."""
    return "Hello from FastMCP"


@server.prompt
def summarize(text: str) -> str:
    """Ask for a summary of a text."""
    return f"Summarize this text in one sentence:\n\n{text}"


if __name__ == "__main__":
    server.run(show_banner=False)
