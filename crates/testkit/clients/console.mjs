// A user at the console in a real browser: inspects, adds, tries, approves, and finds a call again.
// Arguments: a file that changes what a server offers, and the entry of a server to add.
import { writeFileSync } from "node:fs";
import { answerable, check, clientCall, go, pictures, seen, shoot, story, textOf } from "./browser.mjs";

async function lookAtServers(page) {
  await page.click('nav a:has-text("Servers")');
  await page.waitForSelector('.badge.good:has-text("ready")');
  seen.servers = await page.$$eval("tbody .strong", (cells) => cells.map((cell) => cell.textContent));
  await page.click('a:has-text("echo")');
  await page.waitForSelector("text=Restart");
  await check(page, "server");
}

// A new server's offers are shown, and none of them is used before the user approves them.
async function useNew(page, picture) {
  await page.waitForSelector('.held:has-text("is new")');
  const offered = await page.$$eval(".held .first strong", (names) => names.map((name) => name.textContent));
  await check(page, picture);
  await page.click('.held button:text-is("Approve as shown")');
  await page.waitForFunction(() => !document.querySelector(".held"));
  return offered;
}

// Pastes, previews, adds and disables a server, and removes it with two clicks.
async function pasteServer(page, entry) {
  await page.click('nav a:has-text("Servers")');
  await page.click("text=Add a server");
  await page.fill("#add-text", `{"mcpServers": {"added": ${JSON.stringify(entry)}}} // pasted`);
  await page.click('form:has(#add-text) button:has-text("Preview")');
  await page.waitForSelector('.proposed h3:text-is("added")');
  await check(page, "add");
  await page.click('.proposed button:has-text("Add")');
  await page.waitForURL(/servers\/added$/);
  await page.waitForSelector('h1 .badge:has-text("ready")');
  seen.new = (await useNew(page, "new-server")).includes("echo");
  await page.click('button:text-is("Disable")');
  await page.waitForSelector('h1 .badge:has-text("disabled")');
  await page.click('a:text-is("Edit")');
  seen.entry = JSON.parse(await page.inputValue("#entry")).env;
  await check(page, "edit");
  await page.click('a:text-is("Cancel")');
  await page.click('button:text-is("Remove")');
  await page.click('button:text-is("Confirm removal")');
  await page.waitForURL(/servers$/);
  await page.waitForFunction(() => !document.querySelector('a[href="/servers/added"]'));
}

// Adds a server by the fields of the form, with an environment variable.
async function fillInServer(page, { command, args }) {
  await go(page, "/add-server");
  await page.fill("#add-name", "typed");
  await page.fill("#add-target", [command, ...args].join(" "));
  await page.click('form:has(#add-target) summary:has-text("Variables and headers")');
  await page.fill("#add-environment", "GREETING=hello");
  await page.click('form:has(#add-target) button:has-text("Preview")');
  await page.waitForSelector('.proposed h3:text-is("typed")');
  await page.click('.proposed button:has-text("Add")');
  await page.waitForURL(/servers\/typed$/);
  await page.waitForSelector('h1 .badge:has-text("ready")');
  await useNew(page, "new-typed");
  await go(page, "/tools/typed/environment");
  await page.click('button:has-text("Call")');
  await page.waitForSelector("#ran .result");
  seen.typed = (await page.textContent("#ran")).includes("hello");
  await go(page, "/servers/typed");
  await page.click('button:text-is("Remove")');
  await page.click('button:text-is("Confirm removal")');
  await page.waitForURL(/servers$/);
}

async function tryTool(page) {
  await page.click('nav a:has-text("Tools")');
  await page.fill('input[name="q"]', "add two numbers");
  await page.press('input[name="q"]', "Enter");
  await page.waitForURL(/q=add/);
  await page.click('a.tool:has(strong:text-is("add")):has-text("echo")');
  await page.fill('[data-field="a"]', "2");
  await page.fill('[data-field="b"]', "40");
  await page.click('button:has-text("Call")');
  await page.waitForSelector("#ran .result");
  seen.sum = (await page.textContent("#ran .result pre")).trim();
  await check(page, "tool");
}

// Fills in nested objects, choices and lists; the call receives the same values.
async function tryNested(page) {
  await go(page, "/tools/apps/plan");
  await page.fill('[data-field="title"]', "A journey");
  await page.fill('[data-field="from"] [data-field="city"]', "Basel");
  await page.fill('[data-field="from"] [data-field="at"] [data-field="hour"]', "7");
  await page.selectOption('[data-field="class"]', { label: "second" });
  await page.check('[data-field="extras"] label:has-text("bicycle") input');
  await page.check('[data-field="extras"] label:has-text("dog") input');
  await page.selectOption('[data-field="from"] [data-field="quiet"]', { label: "yes" });
  await page.click('button:text-is("Call")');
  await page.waitForSelector("#ran .result");
  // The page shows the answer as a tree, and the raw answer below it.
  const sent = JSON.parse(await page.textContent("#ran .result details:last-of-type pre"));
  seen.nested = JSON.parse(sent.content[0].text);
  await check(page, "nested");
}

// A changed definition is held until the user has seen the difference.
async function approveDefinition(page, overlay) {
  writeFileSync(overlay, JSON.stringify({ tools: [{ name: "echo", description: "Now it shouts." }] }));
  await go(page, "/servers/drifting");
  await page.click('button:text-is("Restart")');
  await page.waitForSelector(".held .diff .come");
  seen.refused = textOf(await clientCall(page, "drifting__echo", { text: "x" }));
  await page.click('nav a:has-text("Overview")');
  await page.waitForSelector(".held .diff");
  await page.click('nav a:has-text("Reviews")');
  seen.difference = await page.$$eval(".held .diff span", (lines) => lines.map((line) => line.textContent.trim()));
  await check(page, "held");
  await page.click(".held a.mono");
  await page.waitForSelector("text=The tool cannot be called");
  await check(page, "held-tool");
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
  await check(page, "policy");
}

// A server's app runs in a frame, receives its tool's result, and needs approval for more calls.
async function useApp(page) {
  await go(page, "/tools/apps/show");
  await page.fill('[data-field="who"]', "Ada");
  await page.click("text=Call in its app");
  const frame = page.frameLocator(".app-frame");
  await frame.locator("#said:not(:text('nothing yet'))").waitFor();
  await answerable(page);
  await page.click('[data-inline-reviews] [data-answer="run"]');
  await frame.locator("#called:not(:empty)").waitFor();
  const texts = ["#said", "#called", "#tried"].map((name) => frame.locator(name).textContent());
  seen.app = await Promise.all(texts);
  await page.waitForFunction(() => document.querySelector(".app-frame").style.height === "222px");
  seen.app.push(await page.$eval(".app-frame", (place) => place.style.height));
  await shoot(page, "app");
}

// A client's call arrives while the page is open, and is found in the record afterwards.
async function approveCall(page) {
  await page.click('nav a:has-text("Reviews")');
  await page.waitForSelector("text=No pending reviews");
  const called = clientCall(page, "echo__echo", { text: "from a client" });
  await answerable(page);
  seen.waiting = (await page.textContent("nav .count")).trim();
  await check(page, "reviews");
  await answerable(page);
  await page.focus("[data-review]");
  await page.keyboard.press("r");
  await page.waitForSelector("text=No pending reviews");
  seen.answered = textOf(await called);
}

async function findCall(page) {
  await page.click('nav a:has-text("Calls")');
  await page.waitForSelector("tbody tr");
  seen.newest = await page.$eval("tbody tr:first-child td:nth-child(2)", (cell) => cell.innerText.trim());
  await page.click("tbody tr:first-child a.mono");
  await page.waitForSelector(".timeline");
  seen.steps = await page.$$eval(".timeline .step", (steps) => steps.map((step) => step.textContent));
  await check(page, "call");
  await page.click('button:text-is("Run again")');
  await page.waitForSelector("#ran .result");
  seen.again = (await page.textContent("#ran .result pre")).trim();
  await page.click('nav a:has-text("Calls")');
  seen.callers = await page.$$eval("tbody tr td:last-child", (cells) => cells.slice(0, 2).map((cell) => cell.innerText.trim()));
}

// If not all calls were searched in time, the page searches further back automatically.
async function lookFurther(page) {
  await page.route("**/calls?text=far", async (route) => {
    const answer = await route.fetch({ url: new URL("/calls?text=nowhere", page.url()).href });
    const more = '<p class="pages"><a data-further href="/calls?text=tester">Search further back</a></p></main>';
    await route.fulfill({ response: answer, body: (await answer.text()).replace("</main>", more) });
  });
  await go(page, "/calls?text=far");
  await page.waitForSelector(".calls tbody tr");
  seen.further = await page.$$eval("[data-further], .empty", (left) => left.length);
}

// Makes calls, so that the pages have content if screenshots are taken.
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
}

const places = ["", "servers", "add-server", "tools", "resources", "reviews", "calls", "sessions", "policy", "servers/nobody"];

// Places whose screenshots have another name.
const names = { "": "overview", reviews: "reviews-empty", "servers/nobody": "nobody" };

story(async ({ page }, overlay, entry) => {
  seen.title = await page.textContent("h1");
  await lookAtServers(page);
  await pasteServer(page, JSON.parse(entry));
  await fillInServer(page, JSON.parse(entry));
  await tryTool(page);
  await tryNested(page);
  await approveDefinition(page, overlay);
  await tryRules(page);
  await useApp(page);
  await approveCall(page);
  await findCall(page);
  await lookFurther(page);
  await busy(page);
  for (const place of places) {
    await go(page, `/${place}`);
    await check(page, names[place] ?? place);
  }
  await page.click("text=Sign out");
  await page.waitForSelector("text=Print a new link");
  seen.out = await page.textContent("h1");
  await check(page, "signed-out");
});
