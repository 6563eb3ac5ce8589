// The bridge to a tool's app: a frame of another origin speaks the protocol, we answer what we may.
"use strict";

const APP_PROTOCOL = "2026-01-26";
const LONGEST_MESSAGE = 4 * 2 ** 20;
const MOST_AT_ONCE = 32;

class AppBridge {
  constructor(frame, api, given) {
    Object.assign(this, { frame, api, given, open: 0, ready: false });
    this.hear = (event) => {
      // Only what comes from this very frame counts; its origin says nothing, for it has none.
      if (event.source !== frame.contentWindow || typeof event.data !== "object" || !event.data) return;
      if (JSON.stringify(event.data).length > LONGEST_MESSAGE) return;
      this.received(event.data);
    };
    addEventListener("message", this.hear);
  }

  end() { removeEventListener("message", this.hear); }

  // A frame in a sandbox has no origin that could be named.
  send(message) { this.frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*"); }

  tell(method, params) { this.send({ method, params }); }

  async received({ id, method, params }) {
    if (typeof method !== "string") return;
    if (id === undefined) { this.noticed(method, params ?? {}); return; }
    if (this.open >= MOST_AT_ONCE) {
      this.send({ id, error: { code: -32000, message: "too much at once" } });
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
      this.tell("ui/notifications/tool-input", { arguments: this.given.arguments });
      this.given.result.then(
        (result) => this.tell("ui/notifications/tool-result", result),
        (error) => this.tell("ui/notifications/tool-cancelled", { reason: error.message }),
      );
    } else if (method === "ui/notifications/size-changed" && Number.isFinite(params.height)) {
      this.frame.style.height = `${Math.min(Math.max(params.height, 60), 1600)}px`;
    }
  }

  async answer(method, params) {
    switch (method) {
      case "ui/initialize": return this.welcome();
      case "ping": return {};
      case "tools/call": return this.line("call", { name: params.name, arguments: params.arguments ?? {} });
      case "resources/read": return this.line("read", { uri: params.uri });
      case "ui/open-link": return openLink(String(params.url));
      case "ui/request-display-mode": return { mode: "inline" };
      default: throw Object.assign(new Error(`${method} is not known here`), { code: -32601 });
    }
  }

  welcome() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return {
      protocolVersion: APP_PROTOCOL,
      hostInfo: { name: "switchboard", version: "1" },
      hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {} },
      hostContext: {
        theme: dark ? "dark" : "light", displayMode: "inline", availableDisplayModes: ["inline"],
        platform: "web", locale: navigator.language, userAgent: "switchboard",
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        containerDimensions: { width: this.frame.clientWidth, maxHeight: 1600 },
      },
    };
  }

  // What the app wants takes the same line as everybody's; a review is shown in place meanwhile.
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

// Nothing is opened by itself: the whole address is shown, and only a click goes there.
function openLink(url) {
  const place = document.getElementById("app-place");
  return new Promise((done) => {
    const box = document.createElement("div");
    box.className = "note";
    const words = document.createElement("p");
    words.textContent = "The app wants to open this address:";
    const shown = document.createElement("p");
    shown.className = "address mono";
    shown.textContent = url;
    box.append(words, shown);
    const close = (result) => { box.remove(); done(result); };
    let target = null;
    try { target = new URL(url); } catch { /* Then it is no address. */ }
    if (target?.protocol === "https:") {
      const link = document.createElement("a");
      link.className = "button";
      link.href = target.href;
      link.target = "_blank";
      link.rel = "noopener noreferrer";
      link.textContent = `Open ${target.host}`;
      link.addEventListener("click", () => close({}));
      box.append(link, " ");
    }
    const no = document.createElement("button");
    no.type = "button";
    no.className = "button";
    no.textContent = "No";
    no.addEventListener("click", () => close({ isError: true }));
    box.append(no);
    place.prepend(box);
  });
}

let bridge = null;

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-app]");
  if (!button) return;
  const form = button.closest("form");
  const place = document.getElementById("app-place");
  button.disabled = true;
  try {
    const given = { arguments: bodyOf(form).arguments };
    const api = button.dataset.app;
    const { src } = await (await post(`${api}/app`)).json();
    given.result = post(`${api}/call`, { arguments: given.arguments })
      .then((answer) => answer.json())
      .then((ran) => ran.result ?? Promise.reject(new Error(ran.message ?? ran.outcome)));
    // Whoever listens later hears of it; until then it is nobody's mistake.
    given.result.catch(() => {});
    bridge?.end();
    const frame = document.createElement("iframe");
    frame.className = "app-frame";
    frame.title = "The app of this tool";
    frame.setAttribute("sandbox", "allow-scripts allow-forms");
    frame.referrerPolicy = "no-referrer";
    bridge = new AppBridge(frame, api, given);
    frame.src = src;
    place.replaceChildren(frame);
  } catch (error) {
    toast(error.message, "bad");
  }
  button.disabled = false;
});
