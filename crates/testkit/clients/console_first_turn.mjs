// The first turn of a conversation waits for an approval: in its own page only, once, also after a
// reload and in a second tab.
import { answerable, seen, story } from "./browser.mjs";

const spoken = (page) => page.$$eval(".turns .turn:not(.note)", (turns) => turns.map((turn) => {
  const who = turn.querySelector(".who")?.textContent ?? "call";
  const said = turn.querySelector(".said") ?? turn.querySelector("summary .mono");
  return `${who}: ${said.textContent.trim()}`;
}));

const inline = "[data-inline-reviews] [data-review]";

async function begin(page) {
  await page.goto(new URL("/sessions", page.url()).href);
  await page.fill("#first-words", "Call it");
  await page.keyboard.press("Enter");
  await page.waitForURL(/sessions\/.+/);
  await answerable(page, inline);
}

async function waiting(page) {
  await answerable(page, inline);
  // The stored part of the turn replaces the streamed one with the next refresh.
  await page.waitForFunction(() => document.querySelectorAll("#now .turn:not(.note)").length === 0);
  return {
    reviews: await page.$$eval(inline, (all) => all.length),
    stop: await page.isVisible("[data-stop]"),
    turns: await spoken(page),
  };
}

story(async ({ page, another }) => {
  await begin(page);
  const other = await another();
  await other.goto(page.url());
  await begin(other);
  const elsewhere = other.url();
  // A browser has few connections to one address, and every page keeps two of them.
  await other.close();
  seen.first = await waiting(page);
  await page.reload();
  seen.reloaded = await waiting(page);
  const tab = await another();
  await tab.goto(page.url());
  seen.tab = await waiting(tab);
  await tab.click(`${inline} [data-answer=run]`);
  for (const one of [page, tab]) {
    await one.waitForFunction(() => document.querySelector(".turns")?.textContent.includes("It said so.")
      && document.querySelectorAll("[data-inline-reviews] [data-review]").length === 0
      && document.querySelector("#talk-state").textContent === "");
  }
  seen.ended = [await spoken(page), await spoken(tab)];
  await tab.goto(elsewhere);
  seen.other = await waiting(tab);
});
