// A conversation in the page with a scripted model: text, a call that waits inline, its answer.
import { answerable, check, go, seen, story } from "./browser.mjs";

const spoken = (page) => page.$$eval(".turns .turn", (turns) => turns.map((turn) => {
  const who = turn.querySelector(".who")?.textContent ?? "call";
  const said = turn.querySelector(".said") ?? turn.querySelector("summary .mono");
  return `${who}: ${said.textContent.trim()}`;
}));

// Waits until the page shows the stored conversation and nothing is in flight.
function rests(page, text) {
  return page.waitForFunction((wanted) => {
    const last = [...document.querySelectorAll(".turns .turn")].pop();
    return last?.textContent.includes(wanted) && !document.querySelector("#now").hasChildNodes()
      && document.querySelector("#talk-state").textContent === "";
  }, text);
}

story(async ({ page }) => {
  await page.click('nav a:has-text("Sessions")');
  await page.fill("#first-words", "Hi");
  await page.keyboard.press("Enter");
  await page.waitForURL(/sessions\/.+/);
  await rests(page, "Hello there.");
  await page.fill("#words", "Call it");
  await page.keyboard.press("Enter");
  await answerable(page);
  seen.asked = (await page.textContent("[data-inline-reviews] h2")).trim();
  await check(page, "talk");
  await answerable(page);
  await page.click("[data-inline-reviews] [data-answer=run]");
  await rests(page, "It said so.");
  seen.turns = await spoken(page);
  await check(page, "session");
  await page.click(".turns .turn.call summary");
  await page.click(".turns .turn.call a");
  await page.waitForSelector(".timeline");
  seen.caller = await page.$eval(".timeline li:first-child", (step) => step.textContent.includes("model:main"));
  await go(page, "/sessions");
  seen.listed = await page.$$eval("tbody tr", (rows) => rows.length);
  await check(page, "sessions-kept");
});
