// A conversation in the page: sends messages and shows the streamed reply.
"use strict";

const talkPlace = document.querySelector("[data-talk]");
const talkForm = document.querySelector("[data-say]");
const stopButton = document.querySelector("[data-stop]");

document.querySelector("[data-begin]")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  form.querySelector("button").disabled = true;
  try {
    const answer = await post(form.dataset.begin, membersOf(form));
    const { session } = await answer.json();
    location.assign(`/sessions/${encodeURIComponent(session)}`);
  } catch (error) {
    toast(error.message, "bad");
    form.querySelector("button").disabled = false;
  }
});

for (const words of document.querySelectorAll("[data-say] textarea, [data-begin] textarea")) {
  words.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    words.form.requestSubmit();
  });
}

talkForm?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const words = talkForm.querySelector("textarea");
  try {
    await post(talkForm.dataset.say, { text: words.value });
    bubble("person").textContent = words.value;
    words.value = "";
    atWork(true);
  } catch (error) {
    toast(error.message, "bad");
  }
});

stopButton?.addEventListener("click", () => {
  post(`${talkPlace.dataset.talk}/direct`, { what: "cancel" }).catch((error) => toast(error.message, "bad"));
});

function bubble(who) {
  const item = document.createElement("div");
  item.className = `turn ${who}`;
  const name = document.createElement("span");
  name.className = "who";
  name.textContent = who;
  const said = document.createElement("div");
  said.className = "said";
  item.append(name, said);
  talkPlace.append(item);
  item.scrollIntoView({ block: "nearest" });
  return said;
}

// A refresh shows what is stored: everything but the answer that is being written, and notes.
obsoleteParts = () => {
  const writing = answerNow?.closest(".turn");
  return [...talkPlace?.children ?? []].filter((part) => part !== writing && !part.dataset.keep);
};

function atWork(is) {
  if (is === (underWay > 0)) return;
  underWay = is ? 1 : 0;
  stopButton.hidden = !is;
  document.getElementById("talk-state").textContent = is ? "working" : "";
  showReviewsInline();
}

let answerNow = null;
let unread = "";

// Text arrives in many small pieces; the page changes once per frame.
function write(text) {
  if (!unread) {
    requestAnimationFrame(flush);
  }
  unread += text;
}

function flush() {
  // The turn ended, or the answer was discarded, before this frame.
  if (!unread) return;
  answerNow ??= bubble("model");
  answerNow.append(unread);
  unread = "";
  answerNow.scrollIntoView({ block: "end" });
}

function endAnswer() {
  flush();
  answerNow = null;
}

// A note that is not part of the stored conversation; the end of the turn removes it.
function note(text) {
  endAnswer();
  const said = bubble("note");
  said.textContent = text;
  const item = said.closest(".turn");
  item.dataset.keep = "";
  return item;
}

// Asks whether to continue past a limit of the conversation.
function askToGoOn() {
  const place = bubble("note");
  place.closest(".turn").dataset.keep = "";
  place.textContent = "A limit is reached. Continue? ";
  for (const [what, label] of [["go_on", "Continue"], ["stop", "Stop here"]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button";
    button.textContent = label;
    button.addEventListener("click", () => {
      place.remove();
      post(`${talkPlace.dataset.talk}/direct`, { what }).catch((error) => toast(error.message, "bad"));
    });
    place.append(button, " ");
  }
}

async function happened(event) {
  switch (event.event) {
    case "asking": atWork(true); endAnswer(); break;
    case "text": atWork(true); write(event.text); break;
    case "answered": endAnswer(); break;
    case "again": answerNow?.closest(".turn").remove(); answerNow = null; unread = ""; break;
    case "waiting": note(`Waiting for the model: ${event.why}`); break;
    case "call":
      atWork(true);
      note(`Calling ${event.server ? `${event.server} / ` : ""}${event.target} …`).dataset.slot = event.slot;
      break;
    case "ended": {
      // From here on, a refresh shows the call.
      const calling = talkPlace.querySelector(`[data-slot="${event.slot}"]`);
      if (calling) delete calling.dataset.keep;
      break;
    }
    case "progress": if (event.message) document.getElementById("talk-state").textContent = event.message; break;
    case "limit": askToGoOn(); break;
    case "warning": note(event.text); break;
    case "turn_ended":
      atWork(false);
      // The stored turn replaces the streamed one in one step, so no text is shown twice or lost.
      await refreshNow(() => {
        talkPlace.replaceChildren();
        answerNow = null;
        unread = "";
      });
      break;
    case "missed": refresh(); break;
    default: break;
  }
}

async function hearTalk() {
  for (;;) {
    try {
      const headers = { accept: "text/event-stream", "x-switchboard-token": token };
      const answer = await fetch(`${talkPlace.dataset.talk}/events`, { headers });
      if (!answer.ok) throw new Error(String(answer.status));
      // Earlier messages are stored, so a refresh shows those that the stream missed. The turn may
      // already wait for an approval.
      refresh();
      showReviewsInline();
      let rest = "";
      for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
        const blocks = (rest + piece).split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) {
          if (block.startsWith("data:")) await happened(JSON.parse(block.slice(5)));
        }
      }
    } catch { /* Retried below. */ }
    await new Promise((done) => { setTimeout(done, 2000); });
  }
}

if (talkPlace && token) hearTalk();
