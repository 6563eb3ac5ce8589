// Form values as JSON: fields, objects, lists, URI templates, files and completions.
"use strict";

function valueOf(field) {
  const kind = field.dataset.kind;
  const required = "required" in field.dataset;
  if (kind === "choices") {
    const chosen = [...field.querySelectorAll("input:checked")].map((box) => JSON.parse(box.value));
    return chosen.length || required ? chosen : undefined;
  }
  if (kind === "list") {
    const items = [...field.querySelector(":scope > [data-items]").children];
    const all = items.map((item) => filledIn(item).item).filter((value) => value !== undefined);
    return all.length || required ? all : undefined;
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
  if (kind === "numbers") {
    const all = text.split(/\s+/).filter((word) => word !== "").map(Number);
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

const owner = (node) => node.closest("[data-kind=object], [data-item]");

function filledIn(place) {
  const content = {};
  for (const field of place.querySelectorAll("[data-field]")) {
    // Fields of a nested object or list item are collected by that object or item.
    if (owner(field.parentElement) !== owner(place)) continue;
    const value = valueOf(field);
    if (value !== undefined) content[field.dataset.field] = value;
  }
  return content;
}

// Returns the members of a form whose fields are the request itself, not arguments of a call.
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
  if (form.dataset.fields) body[form.dataset.fields] = filledIn(form);
  return body;
}

// Expands a URI template (RFC 6570). Values are percent-encoded.
function expanded(template, values) {
  return template.replace(/\{([+/?&]?)([^}]+)\}/g, (_, sign, names) => {
    const all = names.split(",").map((name) => name.replace(/\*$/, ""));
    const given = all.filter((name) => values[name]);
    const safe = sign === "+" ? encodeURI : encodeURIComponent;
    if (sign === "?" || sign === "&") {
      const pairs = given.map((name) => `${name}=${safe(values[name])}`).join("&");
      return pairs ? sign + pairs : "";
    }
    const joined = given.map((name) => safe(values[name])).join(sign === "/" ? "/" : ",");
    return sign === "/" && joined ? `/${joined}` : joined;
  });
}

function bodyOf(form) {
  const { template } = form.dataset;
  if (template) return { ...membersOf(form), uri: expanded(template, filledIn(form)) };
  if (form.querySelector("[data-member]")) return membersOf(form);
  const raw = form.querySelector("[data-raw]")?.value.trim();
  if (!raw) return { arguments: filledIn(form) };
  try {
    return { arguments: JSON.parse(raw) };
  } catch {
    throw new Error("the arguments are not JSON");
  }
}

// Copies a file into its field, as text or in base64.
async function takeFile(input) {
  const [file] = input.files;
  if (!file) return;
  if (file.size > 4 * 2 ** 20) { toast("the file is larger than 4 MB", "bad"); return; }
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  document.getElementById(input.dataset.file).value = input.dataset.as === "text"
    ? new TextDecoder().decode(bytes) : btoa(text);
}

// ---- Lists in forms ----------------------------------------------------------------------------

let nextItem = 0;

function addItem(button) {
  const list = button.closest("[data-kind=list]");
  const item = list.querySelector(":scope > template").content.firstElementChild.cloneNode(true);
  nextItem += 1;
  for (const node of item.querySelectorAll("[id], [for], [data-file]")) {
    for (const name of ["id", "for", "data-file"]) {
      const value = node.getAttribute(name);
      if (value) node.setAttribute(name, value.replace("__n__", String(nextItem)));
    }
  }
  list.querySelector(":scope > [data-items]").append(item);
  item.querySelector("input, textarea, select")?.focus();
}

document.addEventListener("click", (event) => {
  const adding = event.target.closest("[data-add-item]");
  if (adding) addItem(adding);
  event.target.closest("[data-remove-item]")?.closest("[data-item]").remove();
});

// ---- Completion --------------------------------------------------------------------------------

let asking = null;

// Offers the server's completions in a datalist.
async function suggest(input) {
  const form = input.closest("[data-complete]");
  const { complete: server, completePrompt: prompt, completeTemplate: template } = form.dataset;
  const context = filledIn(form);
  delete context[input.dataset.field];
  const body = { server, prompt, template, argument: input.dataset.field, value: input.value, context };
  try {
    const { values } = await (await post("/api/v1/complete", body)).json();
    const id = `${input.id}-known`;
    const list = document.getElementById(id) ?? document.createElement("datalist");
    list.id = id;
    list.replaceChildren(...values.map((value) => Object.assign(document.createElement("option"), { value })));
    input.after(list);
    input.setAttribute("list", id);
  } catch {
    // After an error, the server is not asked again on every keystroke.
    form.removeAttribute("data-complete");
  }
}

for (const kind of ["input", "focusin"]) {
  document.addEventListener(kind, ({ target }) => {
    if (!target.matches?.("[data-complete] input[data-field]")) return;
    clearTimeout(asking);
    asking = setTimeout(() => suggest(target), 200);
  });
}
