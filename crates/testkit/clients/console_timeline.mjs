// The page of one call with many events. Argument: the number of the call.
import { check, go, seen, story } from "./browser.mjs";

story(async ({ page }, call) => {
  await go(page, `/calls/${call}`);
  await page.waitForSelector(".timeline .reports");
  seen.steps = await page.$$eval(".timeline > li > .step", (steps) => steps.map((step) => step.textContent.trim()));
  seen.reports = await page.$eval(".timeline > li:has(.reports) > .muted", (count) => count.textContent);
  const far = await page.$$eval(".reports .far", (all) => all.map((one) => Number.parseInt(one.textContent, 10)));
  seen.first = far[0];
  seen.last = far.at(-1);
  seen.in_order = far.every((one, at) => at === 0 || far[at - 1] < one);
  seen.words = await page.$eval(".reports li:first-child .words", (words) => words.textContent);
  await check(page, "timeline");
});
