// The TypeScript SDK's client under the same load as the others.
// For each line of input, calls for that many milliseconds and prints the result as JSON.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const options = {};
for (let at = 2; at + 1 < process.argv.length; at += 2) {
  options[process.argv[at].slice(2)] = process.argv[at + 1];
}

// The SDK is installed in the test environment, not next to this file.
const require = createRequire(`${options.modules}/`);
const load = async (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)).href);

async function connect() {
  const { Client } = await load("client/index.js");
  const client = new Client({ name: "bench", version: "1" }, { capabilities: {} });
  let transport;
  if (options.url) {
    const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
    transport = new StreamableHTTPClientTransport(new URL(options.url));
  } else {
    const { StdioClientTransport } = await load("client/stdio.js");
    transport = new StdioClientTransport({ command: options.server, args: ["raw-server", "stdio"] });
  }
  await client.connect(transport);
  return client;
}

const text = "x".repeat(Number(options.bytes));
const inFlight = Number(options["in-flight"]);

async function run(client, milliseconds) {
  const times = [];
  const started = performance.now();
  const end = started + milliseconds;
  const used = process.cpuUsage();
  const caller = async () => {
    let now = performance.now();
    let first = true;
    while (first || now < end) {
      first = false;
      const result = await client.callTool({ name: "echo", arguments: { text } });
      if (result.content[0].text.length !== text.length) throw new Error("a different text came back");
      const then = performance.now();
      times.push((then - now) * 1000);
      now = then;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(used);
  times.sort((left, right) => left - right);
  const percentile = (percent) => times[Math.min(Math.floor((times.length * percent) / 100), times.length - 1)];
  return {
    calls: times.length,
    p50: percentile(50),
    p99: percentile(99),
    rate: times.length / seconds,
    cpu: (user + system) / times.length,
  };
}

const client = await connect();
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await run(client, Number(line))));
}
await client.close();
