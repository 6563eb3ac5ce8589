// Somebody at the console in a real browser: signs in, looks, tries, approves, finds it again.
// Arguments: the folder of packages, the link, the folder for pictures. Prints what was seen.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [packages, link, pictures] = process.argv.slice(2);
const require = createRequire(`${packages}/x.js`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const seen = { errors: [], dialogs: 0, violations: [], wide: [] };
const browser = await chromium.launch({
  executablePath: process.env.SWITCHBOARD_BROWSER ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});

async function shoot(page, name) {
  await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
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

try {
  const { context, page } = await signIn({ viewport: { width: 1280, height: 860 } });
  await page.goto(link);
  await page.waitForURL((url) => url.pathname === "/" && !url.search);
  seen.title = await page.textContent("h1");
  await page.waitForSelector('.live[data-live-state="on"]');

  await page.click('nav a:has-text("Servers")');
  await page.waitForSelector('.badge.good:has-text("ready")');
  seen.servers = await page.$$eval("tbody .strong", (cells) => cells.map((cell) => cell.textContent));
  await shoot(page, "servers");
  await page.click('a:has-text("echo")');
  await page.waitForSelector("text=Restart");
  await shoot(page, "server");
  await check(page, "server");

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

  // Somebody else's call comes in while the page is open.
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

  const cookies = await context.cookies();
  for (const [name, places, options] of [
    ["dark", ["", "reviews"], { viewport: { width: 1280, height: 860 }, colorScheme: "dark" }],
    ["narrow", ["", "servers", "tools/echo/add", "calls"], { viewport: { width: 380, height: 800 } }],
    ["huge", [""], { viewport: { width: 3840, height: 2160 } }],
  ]) {
    const other = await signIn(options);
    await other.context.addCookies(cookies);
    for (const place of places) {
      await other.page.goto(new URL(`/${place}`, page.url()).href);
      const shown = `${name}-${place.split("/")[0] || "overview"}`;
      const over = await other.page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      if (over > 0) seen.wide.push(`${shown}: ${over}`);
      await shoot(other.page, shown);
      if (shown === "dark-overview") await check(other.page, shown);
    }
    await other.context.close();
  }
  await page.click("text=Sign out");
  await page.waitForSelector("text=Print a new link there");
  seen.out = await page.textContent("h1");
} catch (error) {
  seen.failed = String(error);
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
