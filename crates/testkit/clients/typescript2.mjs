// Lists and calls through a gateway with version 2 of the TypeScript SDK; prints one JSON object.
//
// typescript2.mjs PACKAGES MODE http URL | typescript2.mjs PACKAGES MODE stdio COMMAND WORD...
// MODE is `legacy`, `auto` or the modern revision to use without negotiation.
import { pathToFileURL } from "node:url";

const [packages, mode, kind, ...where] = process.argv.slice(2);
const part = (name) =>
  import(pathToFileURL(`${packages}/@modelcontextprotocol/client/dist/${name}.mjs`));

const { Client, StreamableHTTPClientTransport } = await part("index");
const { StdioClientTransport } = await part("stdio");

const transport =
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(where[0]))
    : new StdioClientTransport({ command: where[0], args: where.slice(1), env: process.env });
const negotiation = { mode: mode === "legacy" || mode === "auto" ? mode : { pin: mode } };
const client = new Client(
  { name: "typescript2", version: "0" },
  { versionNegotiation: negotiation },
);
await client.connect(transport);

// Waits for the tools of both servers: on a busy machine, one may start late.
let tools = [];
for (let looks = 0; looks < 120; looks += 1) {
  tools = (await client.listTools()).tools.map((tool) => tool.name);
  if (["everything__get-sum", "time__convert_time"].every((name) => tools.includes(name))) break;
  await new Promise((done) => setTimeout(done, 1_000));
}
const sum = await client.callTool({ name: "everything__get-sum", arguments: { a: 2, b: 40 } });
const time = await client.callTool({
  name: "time__convert_time",
  arguments: { time: "16:30", source_timezone: "Asia/Tokyo", target_timezone: "Asia/Kolkata" },
});
const read = await client.readResource({ uri: "demo://resource/dynamic/text/7" });
const prompt = await client.getPrompt({ name: "everything__simple-prompt" });
console.log(
  JSON.stringify({
    server: client.getServerVersion().name,
    revision: client.getNegotiatedProtocolVersion(),
    tools,
    sum: sum.content[0].text,
    difference: time.structuredContent.time_difference,
    resource: read.contents[0].text,
    prompt: prompt.messages[0].content.text,
  }),
);
await client.close();
