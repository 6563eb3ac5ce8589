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
  if (kind === "object") {
    const inner = filledIn(field);
    return Object.keys(inner).length || required ? inner : undefined;
  }
  const text = field.value;
  if (kind === "lines") {
    const all = text.split("\n").filter((line) => line !== "");
    return all.length || required ? all : undefined;
  }
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
    // What belongs to an object within is gathered by that object.
    if (field.parentElement.closest("[data-kind=object]") !== place.closest("[data-kind=object]")) continue;
    const value = valueOf(field);
    if (value !== undefined) content[field.dataset.field] = value;
  }
  return content;
}

// A form whose fields are members of what is sent, not arguments of a call.
function membersOf(form) {
  const body = {};
  for (const member of form.querySelectorAll("[data-member]")) {
    const kind = member.dataset.kind;
    if (kind === "yes") body[member.dataset.member] = member.checked;
    else if (kind === "json") body[member.dataset.member] = JSON.parse(member.value);
    else body[member.dataset.member] = member.value;
  }
  const agreed = [...form.querySelectorAll("[data-agreed]:checked")].map((box) => box.dataset.agreed);
  if (agreed.length) body.agreed = agreed;
  return body;
}

function bodyOf(form) {
  if (form.querySelector("[data-member]")) return membersOf(form);
  const raw = form.querySelector("[data-raw]")?.value.trim();
  if (!raw) return { arguments: filledIn(form) };
  try {
    return { arguments: JSON.parse(raw) };
  } catch {
    throw new Error("the arguments are not JSON");
  }
}

// How much of this page is under way: what waits meanwhile is shown in place.
let underWay = 0;

async function call(form) {
  const into = document.getElementById(form.dataset.into);
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  into.setAttribute("aria-busy", "true");
  underWay += 1;
  try {
    const answer = await post(form.dataset.call, bodyOf(form), "text/html");
    into.replaceChildren(...parsed(await answer.text()).body.childNodes);
    into.scrollIntoView({ block: "nearest" });
  } catch (error) {
    toast(error.message, "bad");
  } finally {
    button.disabled = false;
    into.removeAttribute("aria-busy");
    underWay -= 1;
    showReviewsInline();
  }
}

// A form that changes something; afterwards the page that shows it.
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

// Where something is dangerous, the form grows the box by which a person agrees to it.
function askAgain(form, message) {
  const word = /is dangerous: .*\(([^()]+)\); /.exec(message)?.[1];
  const place = form.querySelector(".asks");
  if (!word || !place || place.querySelector(`[data-agreed="${CSS.escape(word)}"]`)) return;
  const label = document.createElement("label");
  label.className = "check note bad";
  const box = document.createElement("input");
  box.type = "checkbox";
  box.dataset.agreed = word;
  label.append(box, ` ${message.slice(0, message.lastIndexOf("; "))}. I want it all the same.`);
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

// What is filled in, as a line for a terminal or as a message of the protocol.
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

// What cannot be taken back wants a second click, soon after the first.
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

// What is in a file goes into the field beside it, in letters that JSON can hold.
async function takeFile(input) {
  const [file] = input.files;
  if (!file) return;
  if (file.size > 4 * 2 ** 20) { toast("the file is larger than 4 MB", "bad"); return; }
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  document.getElementById(input.dataset.file).value = btoa(text);
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-file]")) { takeFile(event.target); return; }
  if (event.target.matches("form[data-auto] select")) event.target.form.requestSubmit();
});
