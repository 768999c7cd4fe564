"""`scorehouse mcp`."""

import asyncio

from cli.exit_codes import UsageError, check_extra
from cli.options.folding import folded
from cli.options.output import Output


@folded
def mcp(output: Output) -> None:
    """Answer questions from a language model over MCP.

    A Model Context Protocol server on stdin and stdout: each question is a tool, and so are sql and schema. The
    warehouse is read, never written. A client starts it with the command `scorehouse --db FILE mcp`.

    Example: scorehouse mcp --help
    """
    if output.output is not None or output.format is not None:
        raise UsageError("mcp answers on stdout, in the format of the protocol")
    check_extra("the server needs", "mcp", "mcp")
    from cli.tools import serve
    from warehouse import Warehouse

    with Warehouse.open(output.database):
        pass  # refused now rather than at the first question
    asyncio.run(serve(output.database))
