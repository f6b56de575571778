"""What the server says of itself, the catalogue, and the ways to call a tool."""

from servers import TOKEN
from steps import Area

AREA = Area("meta")
LEDGER = {"ledger_get", "ledger_list", "ledger_put", "ledger_resume", "ledger_template"}


def rpc(method: str, number: int = 1, **params: object) -> dict:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def ledger_rules(body: list) -> list:
    """The rules of the ledger area."""
    return [
        rule
        for rule in body
        if rule["url"].rstrip("/") in {f"/{name.replace('_', '/', 1)}" for name in LEDGER}
    ]


def ledger_tools(body: dict) -> dict:
    """The tools of the ledger area, as MCP lists them: names and what their schemas require."""
    tools = sorted(
        (tool for tool in body["result"]["tools"] if tool["name"] in LEDGER), key=lambda tool: tool["name"]
    )
    return {tool["name"]: sorted(tool["inputSchema"].get("required", [])) for tool in tools}


AREA.get("healthz", "/healthz")
AREA.get("healthz-without-token", "/healthz", token=False)
AREA.get("endpoints", "/endpoints", only=ledger_rules)
AREA.get(
    "prefixes",
    "/prefixes",
    only=lambda body: [prefix for prefix in body if prefix in ("/ledger", "/todo", "/comms")],
)
AREA.get("unknown-path", "/nothing/here")
AREA.get("unknown-path-without-token", "/nothing/here", token=False)
AREA.post("without-token", "/ledger/list", {"locus": "mt"}, token=False)
AREA.post("wrong-token", "/ledger/list", {"locus": "mt"}, token=False, headers={"x-operator-token": "wrong"})
AREA.post(
    "bearer", "/ledger/list", {"locus": "mt"}, token=False, headers={"authorization": f"Bearer {TOKEN}"}
)
AREA.get("help", "/ledger/put?help=true")
AREA.post("help-in-body", "/ledger/template", {"help": True})
AREA.get("help-todo", "/todo/add?help=true")
AREA.post(
    "categories",
    "/ts/categories",
    {},
    only=lambda body: [row for row in body["result"] if row["category"] == "ledger"],
)
AREA.post("list-category", "/ts/list", {"category": "ledger"})
AREA.post("list-category-unknown", "/ts/list", {"category": "nothing"})
AREA.post("list-without-category", "/ts/list", {})
AREA.post(
    "toolserver-categories",
    "/toolserver/list_categories",
    {},
    only=lambda body: [row for row in body["result"] if row["category"] == "ledger"],
)
AREA.post("toolserver-list", "/toolserver/list_tools", {"category": "ledger"})
AREA.post(
    "call-put", "/ts/call", {"name": "ledger_put", "arguments": {"locus": "mt", "task": "t", "doc": "x"}}
)
AREA.post("call", "/ts/call", {"name": "ledger_get", "arguments": {"locus": "mt"}})
AREA.post(
    "call-tool", "/toolserver/call_tool", {"tool_name": "ledger_get", "tool_arguments": {"locus": "mt"}}
)
AREA.post("call-fails", "/ts/call", {"name": "ledger_get", "arguments": {"locus": "mt-none"}})
AREA.post("call-unknown", "/ts/call", {"name": "nothing_here", "arguments": {}})
AREA.post("call-without-name", "/ts/call", {"arguments": {}})
AREA.post("call-without-arguments", "/ts/call", {"name": "ledger_template"})
AREA.post("call-text-arguments", "/ts/call", {"name": "ledger_get", "arguments": '{"locus": "mt"}'})
AREA.post("no-json", "/ledger/list", raw=b"{not json")
AREA.post("list-body", "/ledger/list", [1, 2])
AREA.post("kwargs", "/ledger/get", {"kwargs": {"locus": "mt"}})
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "0"},
}
# What the published clients accept; with an event stream accepted too, a client is asked for its session.
JSON = {"headers": {"accept": "application/json"}}
AREA.post("mcp-initialize", "/mcp", rpc("initialize", **INITIALIZE), **JSON)
AREA.post("mcp-flat-list", "/mcp?mode=flat", rpc("tools/list"), only=ledger_tools, **JSON)
AREA.post(
    "mcp-call", "/mcp?mode=flat", rpc("tools/call", name="ledger_get", arguments={"locus": "mt"}), **JSON
)
AREA.post(
    "mcp-call-fails",
    "/mcp?mode=flat",
    rpc("tools/call", name="ledger_get", arguments={"locus": "mt-none"}),
    **JSON,
)
AREA.post("mcp-call-unknown", "/mcp?mode=flat", rpc("tools/call", name="nothing_here", arguments={}), **JSON)
AREA.post("mcp-unknown-method", "/mcp?mode=flat", rpc("nothing/here"), **JSON)
AREA.post("mcp-ping", "/mcp", rpc("ping"), **JSON)
AREA.get("mcp-get", "/mcp")
