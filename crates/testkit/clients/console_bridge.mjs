// A user and a tool's app in a real browser: its logs, messages, display modes and teardown.
import { check, go, seen, shoot, story } from "./browser.mjs";

const frame = (page) => page.frameLocator(".app-frame");

// Returns the value that the app has recorded under a name.
const noted = (page, name) => frame(page).locator(`#${name}`).textContent();

function becomes(page, name, text) {
  return frame(page).locator(`#${name}`, { hasText: text }).waitFor();
}

// Clicks a button of the app, not with the mouse: a growing frame may move away from it.
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

// The app may fill the screen, and every way back works; it is notified each time.
async function screen(page) {
  const modes = [await noted(page, "modes")];
  await does(page, "grow");
  await becomes(page, "mode", "fullscreen");
  modes.push(await noted(page, "context"), await whole(page));
  const box = await page.locator(".app-frame").boundingBox();
  const size = page.viewportSize();
  modes.push(box.width > size.width * 0.95 && box.height > size.height * 0.8);
  await shoot(page, "app-whole", {});
  await page.click("text=Exit full screen");
  await becomes(page, "context", "inline");
  modes.push(await whole(page));
  await does(page, "grow");
  await becomes(page, "context", "fullscreen");
  await page.focus("text=Exit full screen");
  await page.keyboard.press("Escape");
  await becomes(page, "context", "inline");
  modes.push(await whole(page));
  await does(page, "float");
  await becomes(page, "mode", "inline");
  return modes;
}

// The app's logs are shown up to a limit, as text.
async function logs(page) {
  await does(page, "log");
  await page.waitForFunction(() => document.querySelector('[data-app-note="log"] pre')?.textContent.includes("line 198"));
  await does(page, "unknown");
  await becomes(page, "error", "-32601");
  const text = await page.$eval('[data-app-note="log"] pre', (pre) => pre.textContent);
  const lines = text.trim().split("\n");
  return [lines.length, lines[0], lines.at(-1), await page.$$eval('[data-app-note="log"] b', (all) => all.length)];
}

// The app's context for the model is shown; its message is sent only after a click.
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
  await page.click('#app-place .note button:text-is("Decline")');
  await becomes(page, "answer", "the user declined");
  heard.push(await page.evaluate(async () => (await (await fetch("/api/v1/sessions")).json()).length));
  await does(page, "message");
  const opening = context.waitForEvent("page");
  await page.click('button:text-is("Start a conversation")');
  const talk = await opening;
  await talk.waitForSelector(".turns .turn.model");
  await talk.waitForFunction(() => document.querySelector(".turns .turn.model .said")?.textContent.includes("understood"));
  heard.push(await talk.$eval(".turns .turn.person .said", (said) => said.textContent.trim()));
  await talk.close();
  await page.bringToFront();
  await becomes(page, "answer", "agreed");
  await does(page, "empty");
  await becomes(page, "answer", "the message is empty");
  return heard;
}

// The app is notified of its teardown and the reason, and may answer; the wait is limited.
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
