// The browser harness of the console stories: signs in, takes screenshots, checks every page for
// accessibility, screen sizes and colour schemes, and prints the observations.
// Arguments of a story: the folder of packages, the sign-in link, and the story's own arguments.
// Screenshots are taken if SWITCHBOARD_PICTURES names a folder for them.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, statfsSync } from "node:fs";

const [packages, link, ...wanted] = process.argv.slice(2);
const require = createRequire(`${packages}/x.js`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const pictures = process.env.SWITCHBOARD_PICTURES;
if (pictures) mkdirSync(pictures, { recursive: true });

// Observations of a story. Those that must stay empty are present from the start.
export const seen = { errors: [], dialogs: 0, violations: [], wide: [] };

const usual = { width: 1280, height: 860 };

// If shared memory is small, the browser uses files; otherwise not, because disks can be full.
function sharedMemory() {
  try {
    const { blocks, bsize } = statfsSync("/dev/shm");
    return blocks * bsize < 256 * 2 ** 20 ? ["--disable-dev-shm-usage"] : [];
  } catch {
    return ["--disable-dev-shm-usage"];
  }
}

function launch() {
  return chromium.launch({
    executablePath: process.env.SWITCHBOARD_BROWSER ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic",
      ...sharedMemory(),
    ],
  });
}

async function opened(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => seen.errors.push(error.message));
  page.on("dialog", (dialog) => { seen.dialogs += 1; dialog.dismiss(); });
  return page;
}

// Runs a story with a signed-in page, then prints the observations.
export async function story(tell, { bypassCSP } = { bypassCSP: true }) {
  const browser = await launch();
  try {
    // The checks are injected scripts, which the page's content security policy would block.
    const context = await browser.newContext({ bypassCSP, viewport: usual });
    const page = await opened(context);
    await page.goto(link);
    await page.waitForURL((url) => url.pathname === "/" && !url.search);
    await page.waitForSelector('.live[data-live-state="on"]');
    try {
      await tell({ page, context, another: () => opened(context) }, ...wanted);
    } catch (error) {
      seen.failed = `${error.stack}\nat ${page.url()}`;
      await shoot(page, "failed");
    }
  } catch (error) {
    seen.failed = String(error.stack);
  } finally {
    await browser.close();
  }
  console.log(JSON.stringify(seen));
}

export function go(page, place) {
  return page.goto(new URL(place, page.url()).href);
}

export async function shoot(page, name, options = { fullPage: true }) {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, ...options });
}

// Records the serious accessibility violations on the page.
async function violations(page, name) {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axe);
  const options = { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"], resultTypes: ["violations"] };
  const found = await page.evaluate((given) => globalThis.axe.run(given), options);
  for (const one of found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact))) {
    seen.violations.push(`${name}: ${one.id} ${one.nodes[0]?.html}`);
  }
}

async function width(page, name) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (over > 0) seen.wide.push(`${name}: ${over}`);
}

// Checks the page in light and dark, on a phone and on a very large screen.
export async function check(page, name) {
  await page.evaluate(() => scrollTo(0, 0));
  await shoot(page, name);
  await violations(page, name);
  await page.emulateMedia({ colorScheme: "dark" });
  await violations(page, `dark-${name}`);
  await shoot(page, `dark-${name}`);
  await page.emulateMedia({ colorScheme: "light" });
  for (const [kind, size] of [["narrow", { width: 380, height: 800 }], ["huge", { width: 3840, height: 2160 }]]) {
    await page.setViewportSize(size);
    await width(page, `${kind}-${name}`);
    await shoot(page, `${kind}-${name}`);
  }
  await page.setViewportSize(usual);
}

// Waits for a review that accepts an answer. One that has just moved into place does not yet.
export function answerable(page, review = "[data-review]") {
  return page.waitForSelector(`${review}:not([data-arming])`);
}

// Calls a tool through the gateway, as a client that cannot be asked, and returns the answer.
export async function clientCall(page, name, args) {
  const answer = await fetch(new URL("/mcp", page.url()), {
    method: "POST",
    headers: {
      "content-type": "application/json", accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0", id: 1, method: "tools/call",
      params: {
        name, arguments: args,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": { name: "tester", version: "1" },
        },
      },
    }),
  });
  const text = await answer.text();
  const last = text.split("\n").filter((line) => line.startsWith("data: ")).pop();
  return JSON.parse(last ? last.slice(6) : text);
}

// Returns the first text of an answer, or its error message.
export function textOf(answer) {
  return answer.result?.content?.[0]?.text ?? answer.error?.message;
}
