// Actions with the page's CSRF token, forms as JSON, reviews and keyboard shortcuts.
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

// Sends an action as JSON, which no HTML form can send, with the CSRF token of this page.
async function post(url, body, accept = "application/json", signal = null) {
  const headers = { "content-type": "application/json", accept };
  if (token) headers["x-switchboard-token"] = token;
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body ?? {}), signal });
  if (answer.ok) return answer;
  let words = `request failed (${answer.status})`;
  try {
    const { error } = await answer.json();
    words = error.hint ? `${error.message}; ${error.hint}` : error.message;
  } catch { /* Not JSON, so the status is all there is. */ }
  throw new Error(words);
}

// ---- Forms -------------------------------------------------------------------------------------

// Number of calls of this page in flight. Their reviews are shown inline.
let underWay = 0;

// Calls that show their progress in the place of their result, by the id in `watch`.
const watched = new Map();

function waitingSign(word, giveUp) {
  const said = document.createElement("span");
  said.textContent = "Running …";
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", "Progress");
  const stop = document.createElement("button");
  stop.type = "button";
  stop.className = "button";
  stop.textContent = "Stop";
  stop.addEventListener("click", () => giveUp.abort());
  const sign = document.createElement("div");
  sign.className = "under-way";
  sign.append(bar, said, stop);
  watched.set(word, { said, bar });
  return sign;
}

function progressed(data) {
  const { watch, progress, total, message } = JSON.parse(data);
  const place = watched.get(watch);
  if (!place) return;
  if (Number.isFinite(total) && total > 0) { place.bar.max = total; place.bar.value = progress; }
  const far = Number.isFinite(total) ? `${progress} of ${total}` : String(progress ?? "");
  place.said.textContent = message ? `${message} (${far})` : far;
}

async function call(form) {
  const into = document.getElementById(form.dataset.into);
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  into.setAttribute("aria-busy", "true");
  underWay += 1;
  const giveUp = new AbortController();
  const watch = `w${Date.now()}${Math.random().toString(36).slice(2)}`;
  const before = [...into.childNodes];
  // A fast call shows no progress, so that the page does not flicker.
  const slow = setTimeout(() => into.replaceChildren(waitingSign(watch, giveUp)), 400);
  try {
    const answer = await post(form.dataset.call, { ...bodyOf(form), watch }, "text/html", giveUp.signal);
    const text = await answer.text();
    clearTimeout(slow);
    into.replaceChildren(...parsed(text).body.childNodes);
    into.scrollIntoView({ block: "nearest" });
  } catch (error) {
    clearTimeout(slow);
    into.replaceChildren(...before);
    toast(giveUp.signal.aborted ? "Cancelled" : error.message, "bad");
  } finally {
    watched.delete(watch);
    button.disabled = false;
    into.removeAttribute("aria-busy");
    underWay -= 1;
    showReviewsInline();
  }
}

// Submits a form that changes something, then opens the page that shows it.
async function act(form) {
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  try {
    await post(form.dataset.act, membersOf(form));
    if (form.dataset.then) { location.assign(form.dataset.then); return; }
    toast("Done");
    refresh();
  } catch (error) {
    toast(error.message, "bad");
    askAgain(form, error.message);
  }
  button.disabled = false;
}

// Adds several servers. Each card reports its own result.
async function addChosen(button) {
  const forms = [...button.closest(".stack").querySelectorAll("form.proposed")]
    .filter((form) => form.querySelector("[data-chosen]:checked"));
  if (!forms.length) { toast("no server is selected", "bad"); return; }
  // All confirmations come first, so that no server is added before a missing one is noticed.
  if (!forms.every((form) => form.reportValidity())) return;
  button.disabled = true;
  let failed = 0;
  for (const form of forms) {
    const said = document.createElement("p");
    try {
      await post(form.dataset.act, membersOf(form));
      said.textContent = "Added.";
      form.querySelectorAll("button, input").forEach((input) => { input.disabled = true; });
      form.querySelector("[data-chosen]").checked = false;
    } catch (error) {
      failed += 1;
      said.className = "problem";
      said.textContent = error.message;
    }
    form.append(said);
  }
  button.disabled = false;
  if (failed) toast(`${failed} could not be added`, "bad");
  else location.assign("/servers");
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-add-chosen]");
  if (button) addChosen(button);
});

// Adds a checkbox to the form if the server reports a danger that has to be accepted.
function askAgain(form, message) {
  const word = /is dangerous: .*\(([^()]+)\); /.exec(message)?.[1];
  const place = form.querySelector(".asks");
  if (!word || !place || place.querySelector(`[data-agreed="${CSS.escape(word)}"]`)) return;
  const label = document.createElement("label");
  label.className = "check note bad";
  const box = document.createElement("input");
  box.type = "checkbox";
  box.dataset.agreed = word;
  label.append(box, ` ${message.slice(0, message.lastIndexOf("; "))}. I accept this.`);
  place.append(label);
}

// ---- Reviews -----------------------------------------------------------------------------------

async function answer(review, word) {
  const problem = review.querySelector(".problem");
  const buttons = review.querySelectorAll("[data-answer]");
  buttons.forEach((button) => { button.disabled = true; });
  try {
    const body = { digest: review.dataset.digest, answer: word };
    const other = review.querySelector("details[open] [data-arguments]");
    if (word === "run" && other) body.arguments = other.value;
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
    // Only the focused review is answered, and only with an answer that it offers.
    reviews[at].querySelector(`[data-answer="${keysOfReviews[event.key]}"]`)?.click();
  }
});

// ---- Clicks and submits ------------------------------------------------------------------------

document.addEventListener("click", async (event) => {
  const answering = event.target.closest("[data-answer]");
  if (answering) {
    answer(answering.closest("[data-review]"), answering.dataset.answer);
    return;
  }
  const button = event.target.closest("[data-post]");
  if (!button || !isSure(button)) return;
  button.disabled = true;
  try {
    await post(button.dataset.post, JSON.parse(button.dataset.body ?? "{}"));
    if (button.dataset.then) { location.assign(button.dataset.then); return; }
    toast(button.dataset.done ?? "Done");
    refresh();
  } catch (error) {
    toast(error.message, "bad");
  }
  button.disabled = false;
});

// Returns the filled-in call as a command line or as an MCP request.
function copied({ copy, server, tool }, form) {
  const args = bodyOf(form).arguments;
  if (copy === "request") {
    return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } }, null, 2);
  }
  const quoted = (word) => (/^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  return `switchboard call ${quoted(server)} ${quoted(tool)} --json-args ${quoted(JSON.stringify(args))}`;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(copied(button.dataset, button.closest("form")));
    toast("Copied");
  } catch (error) {
    toast(error.message, "bad");
  }
});

// Irreversible actions need a second click within five seconds.
function isSure(button) {
  const { sure } = button.dataset;
  if (!sure || "asked" in button.dataset) return true;
  const label = button.textContent;
  button.dataset.asked = "";
  button.textContent = sure;
  setTimeout(() => {
    delete button.dataset.asked;
    button.textContent = label;
  }, 5000);
  return false;
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-call], [data-act]");
  if (!form) return;
  event.preventDefault();
  if (form.dataset.call) call(form);
  else act(form);
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-file]")) { takeFile(event.target); return; }
  if (event.target.matches("form[data-auto] select")) event.target.form.requestSubmit();
});
