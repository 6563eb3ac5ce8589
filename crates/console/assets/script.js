// The page's own small script: actions with the page's token, forms to JSON, live fragments, keys.
"use strict";

const token = document.querySelector('meta[name="token"]')?.content;

function toast(text, tone) {
  const place = document.getElementById("toast");
  if (!place) return;
  const line = document.createElement("p");
  line.textContent = text;
  if (tone) line.className = tone;
  place.append(line);
  setTimeout(() => line.remove(), tone === "bad" ? 9000 : 4000);
}

// Every action goes through here: JSON, which no form can send, and the token of this page.
async function post(url, body, accept = "application/json") {
  const headers = { "content-type": "application/json", accept };
  if (token) headers["x-switchboard-token"] = token;
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body ?? {}) });
  if (answer.ok) return answer;
  let words = `it was refused (${answer.status})`;
  try {
    const { error } = await answer.json();
    words = error.hint ? `${error.message}; ${error.hint}` : error.message;
  } catch { /* The status says it. */ }
  throw new Error(words);
}

// ---- Forms -------------------------------------------------------------------------------------

function valueOf(field) {
  const kind = field.dataset.kind;
  const required = "required" in field.dataset;
  if (kind === "choices") {
    const chosen = [...field.querySelectorAll("input:checked")].map((box) => JSON.parse(box.value));
    return chosen.length || required ? chosen : undefined;
  }
  const text = field.value;
  if (text === "") return kind === "string" && required ? "" : undefined;
  if (kind === "string") return text;
  if (kind === "number") return Number(text);
  try {
    return JSON.parse(text);
  } catch {
    field.focus();
    throw new Error(`${field.dataset.field} is not JSON`);
  }
}

function filledIn(place) {
  const content = {};
  for (const field of place.querySelectorAll("[data-field]")) {
    const value = valueOf(field);
    if (value !== undefined) content[field.dataset.field] = value;
  }
  return content;
}

function bodyOf(form) {
  const members = form.querySelectorAll("[data-member]");
  if (members.length) {
    return Object.fromEntries([...members].map((member) => [member.dataset.member, member.value]));
  }
  const raw = form.querySelector("[data-raw]")?.value.trim();
  if (!raw) return { arguments: filledIn(form) };
  try {
    return { arguments: JSON.parse(raw) };
  } catch {
    throw new Error("the arguments are not JSON");
  }
}

async function call(form) {
  const into = document.getElementById(form.dataset.into);
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  into.setAttribute("aria-busy", "true");
  try {
    const answer = await post(form.dataset.call, bodyOf(form), "text/html");
    into.replaceChildren(...parsed(await answer.text()).body.childNodes);
    into.scrollIntoView({ block: "nearest" });
  } catch (error) {
    toast(error.message, "bad");
  } finally {
    button.disabled = false;
    into.removeAttribute("aria-busy");
  }
}

// ---- Reviews -----------------------------------------------------------------------------------

async function answer(review, word) {
  const problem = review.querySelector(".problem");
  const buttons = review.querySelectorAll("[data-answer]");
  buttons.forEach((button) => { button.disabled = true; });
  try {
    const body = { digest: review.dataset.digest, answer: word };
    if (word === "reject") body.words = review.querySelector("[data-words]")?.value;
    const form = review.querySelector(".form");
    if (word === "accept" && form) body.content = filledIn(form);
    await post(review.dataset.api, body);
    const next = review.nextElementSibling ?? review.previousElementSibling;
    review.remove();
    next?.focus();
    toast(`Answered: ${word}`);
    refresh();
  } catch (error) {
    problem.textContent = error.message;
    buttons.forEach((button) => { button.disabled = false; });
  }
}

const keysOfReviews = { r: "run", s: "skip", x: "reject" };

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const reviews = [...document.querySelectorAll("[data-review]")];
  const at = reviews.indexOf(document.activeElement?.closest("[data-review]"));
  if (event.key === "/") {
    const search = document.querySelector('[data-hotkey="/"]');
    if (search) { event.preventDefault(); search.focus(); }
  } else if (event.key === "j" && reviews.length) {
    reviews[Math.min(at + 1, reviews.length - 1)].focus();
  } else if (event.key === "k" && reviews.length) {
    reviews[Math.max(at - 1, 0)].focus();
  } else if (at >= 0 && keysOfReviews[event.key]) {
    // Only what is chosen is answered, and only with an answer that it offers.
    reviews[at].querySelector(`[data-answer="${keysOfReviews[event.key]}"]`)?.click();
  }
});

// ---- What is clicked and sent ------------------------------------------------------------------

document.addEventListener("click", async (event) => {
  const answering = event.target.closest("[data-answer]");
  if (answering) {
    answer(answering.closest("[data-review]"), answering.dataset.answer);
    return;
  }
  const button = event.target.closest("[data-post]");
  if (!button) return;
  button.disabled = true;
  try {
    await post(button.dataset.post);
    if (button.dataset.then) { location.assign(button.dataset.then); return; }
    toast(button.dataset.done ?? "Done");
    refresh();
  } catch (error) {
    toast(error.message, "bad");
  }
  button.disabled = false;
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-call]");
  if (!form) return;
  event.preventDefault();
  call(form);
});

document.addEventListener("change", (event) => {
  if (event.target.matches("form[data-auto] select")) event.target.form.requestSubmit();
});

// ---- Live --------------------------------------------------------------------------------------

const parsed = (text) => new DOMParser().parseFromString(text, "text/html");

// Puts in what is different, and leaves alone what somebody is working with.
function replace(fresh) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = fresh.querySelector(`[data-live="${CSS.escape(old.dataset.live)}"]`);
    if (!now || old.innerHTML === now.innerHTML) continue;
    if ("keep" in old.dataset) keepReviews(old, now);
    else if (!isInUse(old)) old.replaceChildren(...now.childNodes);
  }
}

function isInUse(place) {
  const active = document.activeElement;
  const selected = String(getSelection() ?? "");
  return (active?.matches("input, textarea, select") && place.contains(active))
    || (selected !== "" && place.contains(getSelection().anchorNode));
}

// Each review stays as it is, with what was typed into it, as long as it waits.
function keepReviews(old, now) {
  const known = new Map([...old.querySelectorAll("[data-review]")].map((one) => [one.dataset.review, one]));
  const children = [...now.childNodes].map((node) => known.get(node.dataset?.review) ?? node);
  const active = document.activeElement;
  old.replaceChildren(...children);
  if (active !== document.body && old.contains(active)) active.focus();
}

let refreshing = false;
let again = false;

// At most once a second, however much happens.
async function refresh() {
  if (refreshing) { again = true; return; }
  refreshing = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.status === 401) { location.reload(); return; }
    if (answer.ok) replace(parsed(await answer.text()));
  } catch { /* The stream says when we are reached again. */ }
  setTimeout(() => {
    refreshing = false;
    if (again) { again = false; refresh(); }
  }, 1000);
}

function live(state, word) {
  const sign = document.querySelector(".live");
  if (!sign) return;
  sign.dataset.liveState = state;
  sign.querySelector(".live-word").textContent = word;
}

let lastId = null;

function heard(block) {
  let kind = "message";
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) lastId = line.slice(3).trim();
    if (line.startsWith("event:")) kind = line.slice(6).trim();
  }
  if (block.startsWith(":")) return;
  if (kind !== "hello") refresh();
}

// Not an EventSource: that cannot carry the token, and a cookie alone opens no stream.
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
    } catch { /* Tried again below. */ }
    live("off", "not connected");
    await new Promise((done) => { setTimeout(done, pause); });
    pause = Math.min(pause * 2, 15000);
  }
}

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
