// Pending questions answered in a real browser: forms and URLs of servers, calls by keyboard only,
// and a crashed server that is restarted. Pages are loaded only by navigation, never reloaded.
// Arguments: the file with a server's process id, and the file without which it cannot start.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { answerable, check, clientCall, go, seen, story, textOf } from "./browser.mjs";

const inline = "[data-inline-reviews] [data-review]";

// A real server asks for many values; some are filled in, others keep their defaults.
async function fillInForm(page) {
  await go(page, "/tools/everything/trigger-elicitation-request");
  await page.click('button:text-is("Call")');
  await page.waitForSelector(`${inline} .form`);
  const form = page.locator(inline);
  await form.locator('[data-field="name"]').fill("Ada Lovelace");
  await form.locator('[data-field="check"]').selectOption({ label: "yes" });
  await form.locator('[data-field="email"]').fill("ada@example.org");
  await form.locator('[data-field="birthdate"]').fill("1815-12-10");
  await form.locator('[data-field="integer"]').fill("7");
  await form.locator('[data-field="number"]').fill("2.5");
  await form.locator('[data-field="untitledMultipleSelectEnum"] label:has-text("Piano") input').check();
  await check(page, "form");
  await answerable(page, inline);
  await form.locator('[data-answer="accept"]').click();
  await page.waitForSelector("#ran .result");
  seen.thanked = (await page.textContent("#ran")).includes("User provided the requested information");
  const raw = (await lastResult(page)).content.at(-1).text;
  seen.form = JSON.parse(raw.slice(raw.indexOf("{")));
}

// Returns the recorded result of the newest call.
function lastResult(page) {
  return page.evaluate(async () => {
    const { calls } = await (await fetch("/api/v1/calls?limit=1")).json();
    return (await (await fetch(`/api/v1/calls/${calls[0].id}`)).json()).result;
  });
}

// The form is also among the reviews; once answered there, it disappears from the tool's page.
async function declineForm(page, another) {
  await go(page, "/tools/everything/trigger-elicitation-request");
  const reviews = await another();
  await reviews.goto(new URL("/reviews", page.url()).href);
  await reviews.waitForSelector("text=No pending reviews");
  await page.click('button:text-is("Call")');
  await page.waitForSelector(`${inline} .form`);
  await answerable(reviews, "[data-review]");
  await reviews.click("[data-review] [data-answer=decline]");
  await reviews.waitForSelector("text=No pending reviews");
  await page.waitForSelector("#ran .result");
  await page.waitForSelector(inline, { state: "detached" });
  seen.declined = (await lastResult(page)).content[0].text;
  await reviews.close();
}

// A URL is shown with its domain, and nothing is sent there automatically.
async function visitAddress(page) {
  const went = [];
  page.on("request", (request) => { if (request.url().includes("example.com")) went.push(request.url()); });
  await go(page, "/tools/everything/trigger-url-elicitation");
  await page.fill('[data-field="url"]', "https://login.example.com/consent?for=me");
  await page.click('button:text-is("Call")');
  await page.waitForSelector(`${inline} .address`);
  const link = page.locator(`${inline} a[target=_blank]`);
  seen.address = {
    shown: await page.textContent(`${inline} .address`),
    domain: await page.textContent(`${inline} strong.mono`),
    rel: await link.getAttribute("rel"),
    went: went.length,
  };
  await check(page, "address");
  await answerable(page, inline);
  await page.click(`${inline} [data-answer=accept]`);
  await page.waitForSelector("#ran .result");
  seen.address.told = /accept/i.test(await page.textContent("#ran"));
  seen.address.went = went.length;
}

// Of three pending calls, one is run, one rejected with a message, one skipped, without a pointer.
async function byKeysAlone(page) {
  await go(page, "/");
  await tabTo(page, 'nav a[href="/reviews"]');
  await page.keyboard.press("Enter");
  await page.waitForURL(/reviews$/);
  await page.waitForSelector("text=No pending reviews");
  const calls = [];
  for (const text of ["one", "two", "three"]) {
    calls.push(clientCall(page, "echo__echo", { text }));
    await page.waitForSelector(`[data-review]:has-text("${text}")`);
  }
  await page.keyboard.press("j");
  await chosen(page, "one");
  await page.keyboard.press("r");
  await page.waitForSelector('[data-review]:has-text("one")', { state: "detached" });
  await chosen(page, "two");
  await tabTo(page, "[data-words]");
  await page.keyboard.type("not today");
  await tabTo(page, '[data-answer="reject"]');
  await page.keyboard.press("Enter");
  await page.waitForSelector('[data-review]:has-text("two")', { state: "detached" });
  await chosen(page, "three");
  await page.keyboard.press("s");
  await page.waitForSelector("text=No pending reviews");
  const answers = (await Promise.all(calls)).map(textOf);
  seen.keys = answers.map((text, number) => (number === 1 ? text.includes("not today") : text));
}

async function chosen(page, text) {
  await page.waitForFunction((wanted) => {
    const review = document.activeElement?.closest("[data-review]");
    return review && !("arming" in review.dataset) && review.textContent.includes(wanted);
  }, text);
}

async function tabTo(page, wanted) {
  for (let step = 0; step < 80; step += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((name) => document.activeElement.matches(name), wanted)) return;
  }
  throw new Error(`no key leads to ${wanted}`);
}

// A server crashes and cannot start until the gate is back; the page reports it and restarts it.
async function restartCrashed(page, processFile, gate) {
  await go(page, "/servers/mortal");
  await page.waitForSelector('h1 .badge:has-text("ready")');
  await page.evaluate(() => { globalThis.stayed = true; });
  rmSync(gate);
  process.kill(Number(readFileSync(processFile, "utf8")), "SIGKILL");
  rmSync(processFile);
  await page.waitForSelector(".note.bad");
  await page.waitForSelector('[data-live="server-log"] :text("the gate is closed")');
  seen.crashed = {
    ready: (await page.textContent("h1 .badge")).trim() === "ready",
    has_reason: (await page.textContent(".note.bad")).trim() !== "",
  };
  await check(page, "crashed");
  writeFileSync(gate, "");
  await page.click('button:text-is("Restart")');
  await page.waitForSelector('h1 .badge:has-text("ready")');
  seen.crashed.back = existsSync(processFile);
  seen.crashed.stayed = await page.evaluate(() => globalThis.stayed === true);
  seen.crashed.notes = await page.$$eval(".note.bad", (notes) => notes.length);
}

story(async ({ page, another }, processFile, gate) => {
  await fillInForm(page);
  await declineForm(page, another);
  await visitAddress(page);
  await byKeysAlone(page);
  await restartCrashed(page, processFile, gate);
});
