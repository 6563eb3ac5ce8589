// The bridge to a tool's app (MCP Apps): answers the messages of a frame of another origin.
"use strict";

const APP_PROTOCOL = "2026-01-26";
const LONGEST_MESSAGE = 4 * 2 ** 20;
const MOST_AT_ONCE = 32;
const MOST_LOGGED = 200;
const TALLEST = 1600;

const isDark = matchMedia("(prefers-color-scheme: dark)");
const appPlace = () => document.getElementById("app-place");

function element(name, props = {}, ...children) {
  const made = Object.assign(document.createElement(name), props);
  made.append(...children);
  return made;
}

// The console's colours under the names of the extension, so that an app can match the page.
function styleVariables() {
  const own = getComputedStyle(document.documentElement);
  const of = (name) => own.getPropertyValue(name).trim();
  const variables = {
    "--color-background-primary": of("--card"), "--color-background-secondary": of("--back"),
    "--color-background-tertiary": of("--note"), "--color-background-info": of("--accent-soft"),
    "--color-background-danger": of("--bad-soft"), "--color-background-success": of("--good-soft"),
    "--color-text-primary": of("--text"), "--color-text-secondary": of("--soft"),
    "--color-text-info": of("--busy"), "--color-text-danger": of("--bad"),
    "--color-text-success": of("--good"), "--color-text-warning": of("--warn"),
    "--color-border-primary": of("--line"), "--color-border-secondary": of("--field"),
    "--color-ring-primary": of("--accent"),
    "--font-sans": getComputedStyle(document.body).fontFamily, "--font-mono": of("--mono"),
    "--font-text-sm-size": "12px", "--font-text-md-size": "14px",
    "--border-radius-md": of("--radius"), "--border-width-regular": "1px",
  };
  return variables;
}

class AppBridge {
  constructor(frame, api, given) {
    Object.assign(this, {
      frame, api, given, open: 0, ready: false, mode: "inline", modes: null, context: null,
      asked: new Map(), nextId: 1, logged: 0,
    });
    this.hear = (event) => {
      // Checks the source window, because a sandboxed frame has no origin to check.
      if (event.source !== frame.contentWindow || typeof event.data !== "object" || !event.data) return;
      if (JSON.stringify(event.data).length > LONGEST_MESSAGE) return;
      this.received(event.data);
    };
    this.themed = () => this.changed({ theme: theme(), styles: { variables: styleVariables() } });
    this.sized = new ResizeObserver(() => this.changed({ containerDimensions: this.dimensions() }));
    addEventListener("message", this.hear);
    isDark.addEventListener("change", this.themed);
  }

  // Gives the app up to a second to clean up before its frame is removed.
  async end(reason) {
    if (this.ready) {
      const answer = this.ask("ui/resource-teardown", { reason });
      await Promise.race([answer, new Promise((done) => { setTimeout(done, 1000); })]);
    }
    removeEventListener("message", this.hear);
    isDark.removeEventListener("change", this.themed);
    this.sized.disconnect();
    this.show("inline");
  }

  // A sandboxed frame has an opaque origin, so no target origin can be named.
  send(message) { this.frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*"); }

  tell(method, params) { this.send({ method, params }); }

  ask(method, params) {
    const id = `host-${this.nextId++}`;
    this.send({ id, method, params });
    return new Promise((done) => { this.asked.set(id, done); });
  }

  // The app receives notifications only after `ui/notifications/initialized`.
  changed(context) {
    if (this.ready) this.tell("ui/notifications/host-context-changed", context);
  }

  async received(message) {
    const { id, method, params } = message;
    if (typeof method !== "string") {
      this.asked.get(id)?.(message);
      this.asked.delete(id);
      return;
    }
    if (id === undefined) { this.noticed(method, params ?? {}); return; }
    if (this.open >= MOST_AT_ONCE) {
      this.send({ id, error: { code: -32000, message: "too many requests in flight" } });
      return;
    }
    this.open += 1;
    try {
      this.send({ id, result: await this.answer(method, params ?? {}) });
    } catch (error) {
      this.send({ id, error: { code: error.code ?? -32000, message: error.message } });
    } finally {
      this.open -= 1;
    }
  }

  noticed(method, params) {
    if (method === "ui/notifications/initialized" && !this.ready) {
      this.ready = true;
      this.sized.observe(this.frame.parentElement);
      this.tell("ui/notifications/tool-input", { arguments: this.given.arguments });
      this.given.result.then(
        (result) => this.tell("ui/notifications/tool-result", result),
        (error) => this.tell("ui/notifications/tool-cancelled", { reason: error.message }),
      );
    } else if (method === "ui/notifications/size-changed" && this.mode === "inline") {
      if (Number.isFinite(params.height)) {
        this.frame.style.height = `${Math.min(Math.max(params.height, 60), TALLEST)}px`;
      }
    } else if (method === "notifications/message") {
      this.log(params);
    }
  }

  async answer(method, params) {
    switch (method) {
      case "ui/initialize": return this.welcome(params);
      case "ping": return {};
      case "tools/call": return this.line("call", { name: params.name, arguments: params.arguments ?? {} });
      case "resources/read": return this.line("read", { uri: params.uri });
      case "ui/open-link": return openLink(String(params.url));
      case "ui/message": return this.message(params);
      case "ui/update-model-context": return this.remember(params);
      case "ui/request-display-mode": return this.show(String(params.mode));
      default: throw Object.assign(new Error(`unknown method ${method}`), { code: -32601 });
    }
  }

  welcome({ appCapabilities }) {
    const modes = appCapabilities?.availableDisplayModes;
    this.modes = Array.isArray(modes) ? modes : null;
    return {
      protocolVersion: APP_PROTOCOL,
      hostInfo: { name: "switchboard", version: "1" },
      hostCapabilities: {
        openLinks: {}, serverTools: {}, serverResources: {}, logging: {}, sandbox: { csp: this.given.csp },
      },
      hostContext: {
        toolInfo: { tool: this.given.tool }, theme: theme(), styles: { variables: styleVariables() },
        displayMode: this.mode, availableDisplayModes: ["inline", "fullscreen"],
        platform: "web", locale: navigator.language, userAgent: "switchboard",
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        deviceCapabilities: {
          touch: matchMedia("(pointer: coarse)").matches, hover: matchMedia("(hover: hover)").matches,
        },
        safeAreaInsets: { top: 0, right: 0, bottom: 0, left: 0 },
        containerDimensions: this.dimensions(),
      },
    };
  }

  dimensions() {
    const { clientWidth: width, clientHeight: height } = this.frame;
    return this.mode === "fullscreen" ? { width, height } : { width, maxHeight: TALLEST };
  }

  // Switches only to a mode that the app supports, and returns the mode in effect.
  show(mode) {
    const can = ["inline", "fullscreen"].includes(mode) && (this.modes?.includes(mode) ?? true);
    if (can && mode !== this.mode) {
      this.mode = mode;
      this.frame.parentElement.classList.toggle("whole", mode === "fullscreen");
      this.changed({ displayMode: mode, containerDimensions: this.dimensions() });
    }
    return { mode: this.mode };
  }

  // An app reaches a model only with the user's consent, as the user's message.
  message({ content }) {
    const parts = (Array.isArray(content) ? content : [content]).filter((part) => part?.type === "text");
    const text = parts.map((part) => String(part.text)).join("\n").slice(0, 20_000);
    if (!text.trim()) throw new Error("the message is empty");
    if (!("canTalk" in appPlace().dataset)) throw new Error("no model is configured here");
    const known = this.context ? `Context from the app:\n${this.context}\n\n` : "";
    return consent("The app wants to send this message to a model:", text, "Start a conversation", async () => {
      const answer = await post("/api/v1/sessions", { model: "", text: known + text });
      const { session } = await answer.json();
      open(`/sessions/${encodeURIComponent(session)}`, "_blank", "noopener");
    });
  }

  // Stored for the next message, and shown: the user sees everything that a model gets.
  remember({ content, structuredContent }) {
    const words = (content ?? []).filter((part) => part?.type === "text").map((part) => part.text);
    if (structuredContent) words.push(JSON.stringify(structuredContent, null, 2));
    this.context = words.join("\n").slice(0, 20_000);
    this.note("context", "Context for the model").textContent = this.context;
    return {};
  }

  log({ level, data }) {
    this.logged += 1;
    if (this.logged > MOST_LOGGED) return;
    const text = typeof data === "string" ? data : JSON.stringify(data);
    this.note("log", "App log").append(`${String(level)}: ${String(text).slice(0, 2000)}\n`);
  }

  note(kind, title) {
    const there = appPlace().querySelector(`[data-app-note="${kind}"] pre`);
    if (there) return there;
    const pre = element("pre", { className: "code", tabIndex: 0 });
    const box = element("details", { className: "below" }, element("summary", { textContent: title }), pre);
    box.dataset.appNote = kind;
    appPlace().append(box);
    return pre;
  }

  // Calls of an app pass through the API like any other, and their reviews are shown inline.
  async line(what, body) {
    underWay += 1;
    try {
      const answer = await post(`${this.api}/app/${what}`, body);
      return await answer.json();
    } finally {
      underWay -= 1;
      showReviewsInline();
    }
  }
}

const theme = () => (isDark.matches ? "dark" : "light");

// Asks the user. The whole request is shown, and nothing happens without a click.
function consent(words, shown, label, act) {
  // A full-screen app would cover the question.
  bridge?.show("inline");
  return new Promise((done, failed) => {
    const box = element("div", { className: "note" }, element("p", { textContent: words }),
      element("p", { className: "address mono", textContent: shown }));
    if (label) {
      const yes = typeof label === "string" ? element("button", { type: "button", textContent: label }) : label;
      yes.className = "button";
      yes.addEventListener("click", async () => {
        box.remove();
        try { await act?.(); done({}); } catch (error) { toast(error.message, "bad"); failed(error); }
      });
      box.append(yes, " ");
    }
    const no = element("button", { type: "button", className: "button", textContent: "Decline" });
    no.addEventListener("click", () => { box.remove(); failed(new Error("the user declined")); });
    box.append(no);
    appPlace().prepend(box);
  });
}

function openLink(url) {
  let target = null;
  try { target = new URL(url); } catch { /* Not a URL; shown as text only. */ }
  const link = target?.protocol === "https:"
    ? element("a", { href: target.href, target: "_blank", rel: "noopener noreferrer", textContent: `Open ${target.host}` })
    : null;
  return consent("The app wants to open this URL:", url, link);
}

let bridge = null;

document.addEventListener("keydown", (event) => { if (event.key === "Escape") bridge?.show("inline"); });

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-app]");
  if (!button) return;
  const form = button.closest("form");
  button.disabled = true;
  try {
    const api = button.dataset.app;
    const asked = { arguments: bodyOf(form).arguments };
    const { src, tool, csp } = await (await post(`${api}/app`)).json();
    const given = { ...asked, tool, csp };
    given.result = post(`${api}/call`, asked)
      .then((answer) => answer.json())
      .then((ran) => ran.result ?? Promise.reject(new Error(ran.message ?? ran.outcome)));
    // The app gets the error later; until then it must not count as unhandled.
    given.result.catch(() => {});
    await bridge?.end("another call");
    const frame = element("iframe", { className: "app-frame", title: "App of this tool" });
    frame.setAttribute("sandbox", "allow-scripts allow-forms");
    frame.referrerPolicy = "no-referrer";
    bridge = new AppBridge(frame, api, given);
    frame.src = src;
    const small = element("button", { type: "button", className: "button smaller", textContent: "Exit full screen" });
    small.addEventListener("click", () => bridge.show("inline"));
    const close = element("button", { type: "button", className: "button", textContent: "Close the app" });
    close.addEventListener("click", async () => {
      await bridge?.end("closed");
      bridge = null;
      appPlace().replaceChildren();
    });
    appPlace().replaceChildren(element("div", { className: "app-holder" }, small, frame), close);
  } catch (error) {
    toast(error.message, "bad");
  }
  button.disabled = false;
});
