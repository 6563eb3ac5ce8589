// Open pages during a flood of calls: how long each was blocked, and whether it responded.
// Arguments: the name of an echo tool, the maximum number of calls per second, and the number of
// calls per page.
import { clientCall, seen, story } from "./browser.mjs";

const CALLERS = 16;

// Measures, in the page, how long it was blocked and how soon it handled a click.
function meter() {
  const noted = { task: 0, gap: 0, click: 0, clicks: 0, shift: 0, shifted: [] };
  globalThis.noted = noted;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) noted.task = Math.max(noted.task, duration);
  }).observe({ type: "longtask", buffered: true });
  let last = performance.now();
  const frame = (now) => {
    noted.gap = Math.max(noted.gap, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  document.querySelector("h1").addEventListener("click", (event) => {
    noted.click = Math.max(noted.click, performance.now() - event.timeStamp);
    noted.clicks += 1;
  });
  // Rows of a live list and centred numbers below a chart may move; nothing else may.
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      for (const { node } of entry.sources) {
        const element = node?.nodeType === Node.TEXT_NODE ? node.parentElement : node;
        if (!element || element.closest("tbody, svg, .scale")) continue;
        noted.shift += entry.value;
        noted.shifted.push(element.outerHTML.slice(0, 60));
      }
    }
  }).observe({ type: "layout-shift", buffered: false });
}

// Counts the events that another viewer receives meanwhile.
async function listen(context, page) {
  const cookies = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const token = await page.$eval('meta[name="token"]', (meta) => meta.content);
  const stop = new AbortController();
  const told = { events: 0, missed: 0 };
  const answer = await fetch(new URL("/api/v1/events", page.url()), {
    headers: { cookie: cookies, "x-switchboard-token": token }, signal: stop.signal,
  });
  const reading = (async () => {
    for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
      told.events += piece.split("\ndata:").length - 1;
      told.missed += piece.split("event: all").length - 1;
    }
  })().catch(() => {});
  return { told, end: async () => { stop.abort(); await reading; } };
}

// Makes the given number of calls, at the given rate per second at most.
async function flood(page, tool, rate, calls) {
  const begun = performance.now();
  const passed = () => (performance.now() - begun) / 1000;
  let sent = 0;
  const caller = async () => {
    while (sent < calls) {
      if (sent >= passed() * rate) {
        await new Promise((done) => { setTimeout(done, 2); });
        continue;
      }
      sent += 1;
      await clientCall(page, tool, { text: "x" });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return { calls: sent, seconds: passed() };
}

async function newestIsShown(page) {
  await page.waitForFunction(async () => {
    const { calls } = await (await fetch("/api/v1/calls?limit=1")).json();
    return document.querySelector("tbody tr")?.dataset.key === calls[0].id;
  }, null, { polling: 500 });
  return true;
}

// The scroll position stays the same for a user further down while rows are added above.
async function reading(page, tool) {
  await flood(page, tool, 1000, 60);
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 50);
  await page.evaluate(() => scrollTo(0, 500));
  const key = await page.evaluate(() => {
    const rows = [...document.querySelectorAll("tbody tr")];
    return rows.find((row) => row.getBoundingClientRect().top > 200).dataset.key;
  });
  const top = () => page.$eval(`[data-key="${key}"]`, (row) => row.getBoundingClientRect().top);
  const before = await top();
  for (let call = 0; call < 3; call += 1) await clientCall(page, tool, { text: "x" });
  await newestIsShown(page);
  const moved = Math.round(await top() - before);
  await page.evaluate(() => scrollTo(0, 0));
  return moved;
}

story(async ({ page, context, another }, tool, rate, wanted) => {
  const overview = page;
  const calls = await another();
  await calls.goto(new URL("/calls", page.url()).href);
  await calls.waitForSelector('.live[data-live-state="on"]');
  await clientCall(page, tool, { text: "x" });
  for (const one of [overview, calls]) await newestIsShown(one);
  seen.moved = await reading(calls, tool);
  const { told, end } = await listen(context, page);
  const made = { calls: 0, seconds: 0 };
  const notes = new Map();
  // One page at a time: a page in the background draws no frames that could be counted.
  for (const one of [overview, calls]) {
    await one.bringToFront();
    await one.evaluate(meter);
    const flooding = flood(page, tool, Number(rate), Number(wanted));
    let ended = false;
    flooding.then(() => { ended = true; }, () => { ended = true; });
    while (!ended) {
      await one.click("h1");
      await new Promise((done) => { setTimeout(done, 100); });
    }
    const { calls: sent, seconds } = await flooding;
    made.calls += sent;
    made.seconds += seconds;
    notes.set(one, await one.evaluate(() => globalThis.noted));
  }
  for (let step = 0; step < 50 && !told.missed && told.events < 2 * made.calls; step += 1) {
    await new Promise((done) => { setTimeout(done, 100); });
  }
  seen.events_per_second = told.events / made.seconds;
  seen.events = told.events;
  seen.missed = told.missed;
  seen.made = made.calls;
  await end();
  for (const [name, one] of [["overview", overview], ["calls", calls]]) {
    const newest = await newestIsShown(one);
    seen[name] = { ...notes.get(one), newest, rows: await one.$$eval("tbody tr", (rows) => rows.length) };
  }
  const begun = performance.now();
  await calls.click('nav a:has-text("Servers")');
  await calls.waitForSelector("h1:text-is('Servers')");
  seen.next_page = performance.now() - begun;
});
