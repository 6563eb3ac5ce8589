// Live updates: the event stream, replaced fragments, notifications and relative times.
"use strict";

// ---- Notifications -----------------------------------------------------------------------------

const notifyButton = document.querySelector("[data-notify]");
const canNotify = "Notification" in globalThis;
const wantsNotices = () => canNotify && Notification.permission === "granted"
  && localStorage.getItem("notices") === "on";

function showNotices() {
  if (!notifyButton || !canNotify || Notification.permission === "denied") return;
  notifyButton.hidden = false;
  notifyButton.setAttribute("aria-pressed", String(wantsNotices()));
  notifyButton.textContent = wantsNotices()
    ? "Notifications are on" : "Notify me";
}

// Browsers grant the permission only after a click.
notifyButton?.addEventListener("click", async () => {
  const on = wantsNotices();
  if (!on) await Notification.requestPermission();
  localStorage.setItem("notices", on ? "off" : "on");
  showNotices();
});
showNotices();

function notice(data) {
  if (!document.hidden || !wantsNotices()) return;
  try {
    const { event, server, target, id } = JSON.parse(data);
    if (event !== "waiting") return;
    const shown = new Notification("Review needed", {
      body: target ? `${server} / ${target}` : server, tag: `switchboard-${id}`,
    });
    shown.onclick = () => { focus(); location.assign("/reviews"); };
  } catch { /* The reviews page still shows it. */ }
}

// ---- Live --------------------------------------------------------------------------------------

const parsed = (text) => new DOMParser().parseFromString(text, "text/html");

// The HTML of each live part as fetched, without later changes by scripts.
const fetched = new Map();

for (const place of document.querySelectorAll("[data-live]")) {
  fetched.set(place.dataset.live, essence(place));
}

// Relative times change on their own, so they do not count as a difference.
function essence(place) {
  return place.innerHTML.replace(/(<time [^>]*>)[^<]*/g, "$1");
}

// Replaces the parts that changed, except those that the user is working with.
function replace(fresh) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = fresh.querySelector(`[data-live="${CSS.escape(old.dataset.live)}"]`);
    if (!now) continue;
    const next = essence(now);
    if (fetched.get(old.dataset.live) === next) continue;
    if ("keep" in old.dataset) keepReviews(old, now);
    else if (isInUse(old)) continue;
    else putIn(old, now);
    fetched.set(old.dataset.live, next);
  }
}

// Highlights new rows, and keeps the row that the user reads at its position on the screen.
function putIn(old, now) {
  const rows = [...old.querySelectorAll("[data-key]")];
  const known = new Set(rows.map((row) => row.dataset.key));
  const top = (row) => row.getBoundingClientRect().top;
  const read = scrollY > 0 ? rows.find((row) => top(row) >= 0) : undefined;
  const before = read ? top(read) : 0;
  become(old, now);
  if (read?.isConnected) scrollBy({ top: top(read) - before, behavior: "instant" });
  const fresh = [...old.querySelectorAll("[data-key]")].filter((row) => !known.has(row.dataset.key));
  // If nearly everything is new, a highlight carries no information.
  if (known.size && fresh.length <= 10) fresh.forEach((row) => row.classList.add("fresh"));
}

// Morphs one tree into the other and reuses existing nodes, so that scroll position, hover and focus
// survive.
function become(old, now) {
  const rows = new Map([...old.children].filter((row) => row.dataset.key).map((row) => [row.dataset.key, row]));
  let at = old.firstChild;
  for (const next of [...now.childNodes]) {
    const key = next.dataset?.key;
    const same = key ? rows.get(key) : at;
    if (!same || same.nodeName !== next.nodeName || same.dataset?.key !== key) {
      old.insertBefore(next, at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    if (same.nodeType !== Node.ELEMENT_NODE) {
      if (same.nodeValue !== next.nodeValue) same.nodeValue = next.nodeValue;
    } else if (!same.isEqualNode(next)) {
      dress(same, next);
      become(same, next);
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

// Details that the user opened stay open.
function dress(old, now) {
  const isFresh = old.classList.contains("fresh");
  for (const { name } of [...old.attributes]) {
    if (!now.hasAttribute(name) && !(name === "open" && old.matches("details"))) old.removeAttribute(name);
  }
  for (const { name, value } of now.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (isFresh) old.classList.add("fresh");
}

function isInUse(place) {
  const active = document.activeElement;
  const selected = String(getSelection() ?? "");
  return (active?.matches("input, textarea, select") && place.contains(active))
    || (selected !== "" && place.contains(getSelection().anchorNode));
}

// A pending review keeps its node, and with it the text that the user typed.
function keepReviews(old, now) {
  const known = new Map([...old.querySelectorAll("[data-review]")].map((one) => [one.dataset.review, one]));
  const children = [...now.childNodes].map((node) => known.get(node.dataset?.review) ?? node);
  const active = document.activeElement;
  old.replaceChildren(...children);
  if (active !== document.body && old.contains(active)) active.focus();
}

const pauseButton = () => document.querySelector("[data-pause]");

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-pause]");
  if (!button) return;
  const paused = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(paused));
  button.textContent = paused ? "Resume" : "Pause";
  if (!paused) refresh();
});

let refreshing = false;
let again = false;
// Set once older results are loaded: a refresh would replace them with the newest page.
let isSearching = false;

// Parts of the page that a refresh, begun now, makes obsolete. A conversation sets it.
let obsoleteParts = () => [];

async function refreshNow(replaced = () => {}) {
  const obsolete = obsoleteParts();
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.status === 401) { location.reload(); return; }
    if (answer.ok) {
      replace(parsed(await answer.text()));
      for (const part of obsolete) part.remove();
      replaced();
    }
  } catch { /* The event stream notices when the server is back. */ }
}

// Refreshes at most once a second, whatever the number of events.
async function refresh() {
  if (isSearching || pauseButton()?.getAttribute("aria-pressed") === "true") return;
  // A hidden page catches up when it becomes visible.
  if (refreshing || document.hidden) { again = true; return; }
  refreshing = true;
  await refreshNow();
  setTimeout(() => {
    refreshing = false;
    if (again) { again = false; refresh(); }
  }, 1000);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && again && !refreshing) { again = false; refresh(); }
});

// Shows pending reviews next to the call that they may belong to.
async function showReviewsInline() {
  const place = document.querySelector("[data-inline-reviews]");
  if (!place) return;
  const { session } = place.dataset;
  if (!underWay && !session) { place.replaceChildren(); return; }
  const answer = await fetch("/reviews", { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const all = [...parsed(await answer.text()).querySelectorAll("[data-review]")];
  // A conversation shows only the questions about its own calls.
  const waiting = all.filter((review) => !session || review.dataset.session === session);
  const holder = document.createElement("div");
  holder.append(...waiting);
  keepReviews(place, holder);
  if (session && waiting.length > 0) atWork(true);
}

function live(state, word) {
  const sign = document.querySelector(".live");
  if (!sign) return;
  sign.dataset.liveState = state;
  sign.querySelector(".live-word").textContent = word;
}

let lastId = null;

function heard(block) {
  if (block.startsWith(":")) return;
  let kind = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) lastId = line.slice(3).trim();
    else if (line.startsWith("event:")) kind = line.slice(6).trim();
    else if (line.startsWith("data:")) data = line.slice(5).trim();
  }
  if (kind === "hello") return;
  if (kind === "progress") { progressed(data); return; }
  if (kind === "reviews") {
    notice(data);
    showReviewsInline();
  }
  refresh();
}

// Not an `EventSource`, which cannot send the CSRF token that the stream requires.
async function listen() {
  let pause = 1000;
  for (;;) {
    try {
      const headers = { accept: "text/event-stream", "x-switchboard-token": token };
      if (lastId) headers["last-event-id"] = lastId;
      const answer = await fetch("/api/v1/events", { headers });
      if (answer.status === 401) { location.reload(); return; }
      if (!answer.ok) throw new Error(String(answer.status));
      live("on", "live");
      pause = 1000;
      if (lastId) refresh();
      let rest = "";
      for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
        const blocks = (rest + piece).split("\n\n");
        rest = blocks.pop();
        blocks.forEach(heard);
      }
    } catch { /* Retried below. */ }
    live("off", "disconnected");
    await new Promise((done) => { setTimeout(done, pause); });
    pause = Math.min(pause * 2, 15000);
  }
}

// A text search has no index and works in short time slices, newest first. The page continues it
// until the page is full or the record ends.
async function lookFurther() {
  for (;;) {
    const link = document.querySelector("[data-further]");
    if (!link || document.querySelectorAll(".calls tbody tr").length >= 50) return;
    isSearching = true;
    const answer = await fetch(link.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = parsed(await answer.text());
    const found = fresh.querySelectorAll(".calls tbody tr");
    const body = document.querySelector(".calls tbody");
    if (body) body.append(...found);
    else if (found.length) document.querySelector(".empty")?.replaceWith(found[0].closest(".scroll"));
    link.closest(".pages").replaceWith(...fresh.querySelectorAll(".pages"));
  }
}

lookFurther().catch(() => { /* The button still works. */ });

function ago(time) {
  const seconds = Math.floor((Date.now() - Date.parse(time)) / 1000);
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

setInterval(() => {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const text = ago(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
  }
}, 5000);

if (token) listen();
