// An MCP server without dependencies: notes, one per line, in a file of the current folder.
import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";

const file = "notes.txt";
const text = { type: "string", description: "One line of text." };
const tools = [
  { name: "list", description: "Lists the notes.", inputSchema: { type: "object" } },
  { name: "save", description: "Saves a note.", inputSchema: { type: "object", properties: { text }, required: ["text"] } },
  { name: "delete", description: "Deletes all notes.", inputSchema: { type: "object" } },
];
const calls = {
  list: () => (existsSync(file) ? readFileSync(file, "utf8") : "no notes"),
  save: ({ text }) => (appendFileSync(file, `${text}\n`), "saved"),
  delete: () => (rmSync(file, { force: true }), "deleted"),
};
const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "notes", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: given }) => ({ content: [{ type: "text", text: calls[name](given ?? {}) }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = methods[method]
    ? { result: methods[method](params) }
    : { error: { code: -32601, message: `unknown method ${method}` } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});
