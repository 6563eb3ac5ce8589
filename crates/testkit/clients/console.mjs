// Somebody at the console in a real browser: signs in, looks, tries, approves, finds it again.
// Arguments: the folder of packages, the link, and a file that changes what a server offers.
// Prints what was seen. Pictures are taken where SWITCHBOARD_PICTURES names a folder for them.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, statfsSync, writeFileSync } from "node:fs";

const [packages, link, overlay, entry] = process.argv.slice(2);
const pictures = process.env.SWITCHBOARD_PICTURES;
if (pictures) mkdirSync(pictures, { recursive: true });
const require = createRequire(`${packages}/x.js`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

// Where shared memory is small the browser keeps it in files; else not, for disks can be full.
function sharedMemory() {
  try {
    const { blocks, bsize } = statfsSync("/dev/shm");
    return blocks * bsize < 256 * 2 ** 20 ? ["--disable-dev-shm-usage"] : [];
  } catch {
    return ["--disable-dev-shm-usage"];
  }
}

const seen = { errors: [], dialogs: 0, violations: [], wide: [] };
const browser = await chromium.launch({
  executablePath: process.env.SWITCHBOARD_BROWSER ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic",
    ...sharedMemory(),
  ],
});

async function shoot(page, name) {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
}

// What a check of the page for people with other needs finds, where it is serious.
async function check(page, name) {
  await page.evaluate(axe);
  const wanted = { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"], resultTypes: ["violations"] };
  const found = await page.evaluate((options) => globalThis.axe.run(options), wanted);
  for (const one of found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact))) {
    seen.violations.push(`${name}: ${one.id} ${one.nodes[0]?.html}`);
  }
}

async function signIn(options) {
  // The check is a script of ours; the page's own rules would keep it out.
  const context = await browser.newContext({ bypassCSP: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => seen.errors.push(error.message));
  page.on("dialog", (dialog) => { seen.dialogs += 1; dialog.dismiss(); });
  return { context, page };
}

async function lookAtServers(page) {
  await page.click('nav a:has-text("Servers")');
  await page.waitForSelector('.badge.good:has-text("ready")');
  seen.servers = await page.$$eval("tbody .strong", (cells) => cells.map((cell) => cell.textContent));
  await shoot(page, "servers");
  await page.click('a:has-text("echo")');
  await page.waitForSelector("text=Restart");
  await shoot(page, "server");
  await check(page, "server");
}

// A server is pasted, looked at, added, switched off, and removed with two clicks.
async function addServer(page) {
  await page.click('nav a:has-text("Servers")');
  await page.click("text=Add a server");
  await page.fill("#add-text", `{"mcpServers": {"added": ${entry}}} // pasted`);
  await page.click('form:has(#add-text) button:has-text("Look")');
  await page.waitForSelector('.proposed h3:text-is("added")');
  await shoot(page, "add");
  await check(page, "add");
  await page.click('.proposed button:has-text("Add")');
  await page.waitForURL(/servers\/added$/);
  await page.waitForSelector('h1 .badge:has-text("ready")');
  await page.click('button:text-is("Disable")');
  await page.waitForSelector('h1 .badge:has-text("disabled")');
  await page.click('a:text-is("Edit")');
  seen.entry = JSON.parse(await page.inputValue("#entry")).env;
  await check(page, "edit");
  await shoot(page, "edit");
  await page.click('a:text-is("Cancel")');
  await page.click('button:text-is("Remove")');
  await page.click('button:text-is("Remove for good")');
  await page.waitForURL(/servers$/);
  await page.waitForFunction(() => !document.querySelector('a[href="/servers/added"]'));
}

async function tryTool(page) {
  await page.click('nav a:has-text("Tools")');
  await page.fill('input[name="q"]', "add two numbers");
  await page.press('input[name="q"]', "Enter");
  await page.waitForURL(/q=add/);
  await shoot(page, "tools");
  await page.click('a.tool:has(strong:text-is("add")):has-text("echo")');
  await page.fill('[data-field="a"]', "2");
  await page.fill('[data-field="b"]', "40");
  await page.click('button:has-text("Call")');
  await page.waitForSelector("#ran .result");
  seen.sum = (await page.textContent("#ran .result pre")).trim();
  await shoot(page, "tool");
  await check(page, "tool");

  // Text that wants to be more is text.
  await page.goto(new URL("/tools/echo/echo", page.url()).href);
  await page.fill('[data-field="text"]', "<img src=x onerror=alert(1)>");
  await page.click('button:has-text("Call")');
  await page.waitForSelector("#ran .result pre");
  seen.echoed = await page.textContent("#ran .result pre");
  seen.pictures = await page.$$eval("#ran img", (all) => all.length);
}

// What a server offers becomes something else: it is held until somebody has seen the difference.
async function approveDefinition(page) {
  writeFileSync(overlay, JSON.stringify({ tools: [{ name: "echo", description: "Now it shouts." }] }));
  await page.goto(new URL("/servers/drifting", page.url()).href);
  await page.click('button:text-is("Restart")');
  await page.waitForSelector(".held .diff .come");
  await page.click('nav a:has-text("Overview")');
  await page.waitForSelector(".held .diff");
  await page.click('nav a:has-text("Reviews")');
  seen.difference = await page.$$eval(".held .diff span", (lines) => lines.map((line) => line.textContent.trim()));
  await shoot(page, "held");
  await check(page, "held");
  await page.click(".held a.mono");
  await page.waitForSelector("text=Nobody can call it");
  await shoot(page, "held-tool");
  await page.click('button:text-is("Approve")');
  await page.waitForSelector('h2:text-is("Try it")');
  seen.approved = await page.textContent(".description");
}

async function tryRules(page) {
  await page.click("text=Would it run?");
  await page.waitForURL(/policy\?server=drifting/);
  await page.fill("#try-arguments", '{"text": "a"}');
  await page.click('button:text-is("Try")');
  await page.waitForSelector("#explained .badge");
  seen.verdict = (await page.textContent("#explained .badge")).trim();
  await page.fill("#what-if-text", '{"rules": [{"effect": "deny", "target": "echo/*"}]}');
  await page.click('button:has-text("Compare")');
  await page.waitForSelector("#compared strong");
  seen.otherwise = Number(await page.textContent("#compared strong")) > 0;
  await shoot(page, "policy");
  await check(page, "policy");
}

// A page of the server runs in a frame, gets what its tool gave, and asks before it calls more.
async function useApp(page) {
  await page.goto(new URL("/tools/apps/show", page.url()).href);
  await page.fill('[data-field="who"]', "Ada");
  await page.click("text=Call in its app");
  const frame = page.frameLocator(".app-frame");
  await frame.locator("#said:not(:text('nothing yet'))").waitFor();
  await page.click('[data-inline-reviews] [data-answer="run"]');
  await frame.locator("#called:not(:empty)").waitFor();
  const texts = ["#said", "#called", "#tried"].map((name) => frame.locator(name).textContent());
  seen.app = await Promise.all(texts);
  await page.waitForFunction(() => document.querySelector(".app-frame").style.height === "222px");
  seen.app.push(await page.$eval(".app-frame", (place) => place.style.height));
  await shoot(page, "app");
}

// Somebody else's call comes in while the page is open.
async function approveCall(page) {
  await page.click('nav a:has-text("Reviews")');
  await page.waitForSelector("text=Nothing waits");
  console.error("ready for a call");
  const review = await page.waitForSelector("[data-review]");
  seen.waiting = (await page.textContent("nav .count")).trim();
  await shoot(page, "reviews");
  await check(page, "reviews");
  await review.focus();
  await page.keyboard.press("r");
  await page.waitForSelector("text=Nothing waits");
}

async function findCall(page) {
  await page.click('nav a:has-text("Calls")');
  await page.waitForSelector("tbody tr");
  seen.newest = await page.$eval("tbody tr:first-child td:nth-child(2)", (cell) => cell.innerText.trim());
  await shoot(page, "calls");
  await page.click("tbody tr:first-child a.mono");
  await page.waitForSelector(".timeline");
  seen.steps = await page.$$eval(".timeline .step", (steps) => steps.map((step) => step.textContent));
  await shoot(page, "call");
  await check(page, "call");
  await page.goto(new URL("/resources", page.url()).href);
  await shoot(page, "resources");
  await page.goto(new URL("/", page.url()).href);
  await page.waitForSelector(".chart .bar");
  await shoot(page, "overview");
  await check(page, "overview");
}

// Where pictures are wanted there is something to see on them.
async function busy(page) {
  if (!pictures) return;
  await page.evaluate(async () => {
    const token = document.querySelector('meta[name="token"]').content;
    const headers = { "content-type": "application/json", "x-switchboard-token": token };
    const wanted = [["echo", { text: "hello" }], ["add", { a: 19, b: 23 }], ["slow", { ms: 40 }], ["fail", { message: "no such row" }]];
    for (let number = 0; number < 60; number += 1) {
      const [tool, args] = wanted[number % 7] ?? wanted[number % 3];
      const body = JSON.stringify({ arguments: args });
      await fetch(`/api/v1/tools/echo/${tool}/call`, { method: "POST", headers, body });
    }
  });
  await page.goto(new URL("/", page.url()).href);
  await shoot(page, "overview");
}

const places = ["", "servers", "add-server", "tools", "tools/echo/add", "resources", "reviews", "calls", "sessions", "policy"];

// Other eyes: dark, narrow, huge.
async function otherEyes(context, page) {
  const cookies = await context.cookies();
  for (const [name, options] of [
    ["dark", { viewport: { width: 1280, height: 860 }, colorScheme: "dark" }],
    ["narrow", { viewport: { width: 380, height: 800 } }],
    ["huge", { viewport: { width: 3840, height: 2160 } }],
  ]) {
    const other = await signIn(options);
    await other.context.addCookies(cookies);
    for (const place of places) {
      await other.page.goto(new URL(`/${place}`, page.url()).href);
      const shown = `${name}-${place.replaceAll("/", "-") || "overview"}`;
      const over = await other.page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      if (over > 0) seen.wide.push(`${shown}: ${over}`);
      await shoot(other.page, shown);
      if (name === "dark") await check(other.page, shown);
    }
    await other.context.close();
  }
}

try {
  const { context, page } = await signIn({ viewport: { width: 1280, height: 860 } });
  await page.goto(link);
  await page.waitForURL((url) => url.pathname === "/" && !url.search);
  seen.title = await page.textContent("h1");
  await page.waitForSelector('.live[data-live-state="on"]');
  await lookAtServers(page);
  await addServer(page);
  await tryTool(page);
  await approveDefinition(page);
  await tryRules(page);
  await useApp(page);
  await approveCall(page);
  await findCall(page);
  await busy(page);
  await otherEyes(context, page);
  await page.click("text=Sign out");
  await page.waitForSelector("text=Print a new link there");
  seen.out = await page.textContent("h1");
} catch (error) {
  seen.failed = String(error);
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
