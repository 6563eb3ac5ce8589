// Somebody and a tool's app in a real browser: what it logs, says and wants to be, and how it ends.
import { check, go, seen, shoot, story } from "./browser.mjs";

const frame = (page) => page.frameLocator(".app-frame");

// What the app has noted under a name.
const noted = (page, name) => frame(page).locator(`#${name}`).textContent();

function becomes(page, name, text) {
  return frame(page).locator(`#${name}`, { hasText: text }).waitFor();
}

// Has the app do something. Not with the mouse: a frame that is just growing may slip away from it.
async function does(page, name) {
  await frame(page).locator(`[data-do="${name}"]`).evaluate((button) => button.click());
}

async function begin(page, who) {
  await go(page, "/tools/apps/show");
  await page.fill('[data-field="who"]', who);
  await page.click("text=Call in its app");
  await becomes(page, "said", who);
}

const whole = (page) => page.$eval(".app-holder", (holder) => holder.classList.contains("whole"));

// It may fill the screen, and every way back works; it is told each time.
async function screen(page) {
  const modes = [await noted(page, "modes")];
  await does(page, "grow");
  await becomes(page, "mode", "fullscreen");
  modes.push(await noted(page, "context"), await whole(page));
  const box = await page.locator(".app-frame").boundingBox();
  const size = page.viewportSize();
  modes.push(box.width > size.width * 0.95 && box.height > size.height * 0.8);
  await shoot(page, "app-whole", {});
  await page.click("text=Make it small again");
  await becomes(page, "context", "inline");
  modes.push(await whole(page));
  await does(page, "grow");
  await becomes(page, "context", "fullscreen");
  await page.focus("text=Make it small again");
  await page.keyboard.press("Escape");
  await becomes(page, "context", "inline");
  modes.push(await whole(page));
  await does(page, "float");
  await becomes(page, "mode", "inline");
  return modes;
}

// So much is shown of what it logs, as text.
async function logs(page) {
  await does(page, "log");
  await page.waitForFunction(() => document.querySelector('[data-app-note="log"] pre')?.textContent.includes("line 198"));
  await does(page, "unknown");
  await becomes(page, "error", "-32601");
  const text = await page.$eval('[data-app-note="log"] pre', (pre) => pre.textContent);
  const lines = text.trim().split("\n");
  return [lines.length, lines[0], lines.at(-1), await page.$$eval('[data-app-note="log"] b', (all) => all.length)];
}

// What it wants a model to know is shown; what it wants to say is said after a click, and only then.
async function message(page, context) {
  const heard = [];
  await does(page, "context");
  await page.waitForSelector('[data-app-note="context"] pre', { state: "attached" });
  heard.push(await page.textContent('[data-app-note="context"] pre'));
  await does(page, "grow");
  await becomes(page, "context", "fullscreen");
  await does(page, "message");
  await page.waitForSelector("#app-place .note");
  heard.push(await whole(page), await page.textContent("#app-place .note .address"));
  await page.click('[data-app-note="context"] summary');
  await check(page, "app-message");
  await page.click('#app-place .note button:text-is("No")');
  await becomes(page, "answer", "the person said no");
  heard.push(await page.evaluate(async () => (await (await fetch("/api/v1/sessions")).json()).length));
  await does(page, "message");
  const opening = context.waitForEvent("page");
  await page.click('button:text-is("Begin a conversation with it")');
  const talk = await opening;
  await talk.waitForSelector(".turns .turn.model");
  await talk.waitForFunction(() => document.querySelector(".turns .turn.model .said")?.textContent.includes("understood"));
  heard.push(await talk.$eval(".turns .turn.person .said", (said) => said.textContent.trim()));
  await talk.close();
  await page.bringToFront();
  await becomes(page, "answer", "agreed");
  await does(page, "empty");
  await becomes(page, "answer", "there are no words in it");
  return heard;
}

// It hears that it is taken away and why, and may answer; who does not is not waited for.
async function ends(page) {
  await page.evaluate(() => {
    globalThis.heard = [];
    addEventListener("message", ({ data }) => {
      if (data?.method === "notifications/message") globalThis.heard.push(data.params.data);
      if (String(data?.id).startsWith("host-")) globalThis.heard.push("answered");
    });
  });
  await page.click("text=Call in its app");
  await becomes(page, "mode", "new");
  await becomes(page, "said", "Ada");
  await page.click("text=Close the app");
  await page.waitForFunction(() => !document.querySelector(".app-frame"));
  const heard = await page.evaluate(() => globalThis.heard);
  await begin(page, "stubborn");
  const begun = performance.now();
  await page.click("text=Close the app");
  await page.waitForFunction(() => !document.querySelector("#app-place").hasChildNodes());
  const took = performance.now() - begun;
  return [...heard, took > 900 && took < 20_000];
}

story(async ({ page, context }) => {
  await begin(page, "Ada");
  seen.screen = await screen(page);
  seen.logs = await logs(page);
  seen.message = await message(page, context);
  seen.ends = await ends(page);
});
