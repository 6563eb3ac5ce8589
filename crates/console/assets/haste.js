// Prevents accidental answers: to a review that has just appeared or moved, or before the end of its
// arguments was seen. Keyboard answers are clicks too, so they pass through here.
"use strict";

const ARMING_MS = 500;
const agreeing = new Set(["run", "session", "always", "accept"]);

// The last known position of each review.
let places = new Map();
const timers = new WeakMap();

function arm(review) {
  clearTimeout(timers.get(review));
  review.dataset.arming = "";
  timers.set(review, setTimeout(() => { delete review.dataset.arming; }, ARMING_MS));
}

// Reviews that are new or have moved take no answer for a moment. After a review disappears, none
// does: a click meant for it could hit another one.
function settle() {
  const reviews = [...document.querySelectorAll("[data-review]")];
  if (!reviews.length && !places.size) return;
  const now = new Map(reviews.map((one) => [one.dataset.review, one.getBoundingClientRect().top + scrollY]));
  const isGone = [...places.keys()].some((id) => !now.has(id));
  for (const review of reviews) {
    const [before, top] = [places.get(review.dataset.review), now.get(review.dataset.review)];
    if (isGone || before === undefined || Math.abs(before - top) > 4) arm(review);
    if (before === undefined) watchEnd(review);
  }
  places = now;
}

// Arguments that do not fit into their box must be scrolled to the end once.
function watchEnd(review) {
  const box = review.querySelector("pre.code");
  if (!box) return;
  const isAtEnd = () => box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
  if (isAtEnd()) return;
  review.dataset.unseen = new TextEncoder().encode(box.textContent).length;
  box.addEventListener("scroll", () => {
    if (!isAtEnd()) return;
    delete review.dataset.unseen;
    review.querySelector(".problem").textContent = "";
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-answer]");
  const review = button?.closest("[data-review]");
  if (!review) return;
  if ("arming" in review.dataset) {
    event.stopImmediatePropagation();
  } else if ("unseen" in review.dataset && agreeing.has(button.dataset.answer)) {
    event.stopImmediatePropagation();
    const count = Number(review.dataset.unseen).toLocaleString("en");
    review.querySelector(".problem").textContent = `scroll to the end of the arguments first (${count} bytes)`;
    review.querySelector("pre.code").focus();
  }
}, { capture: true });

new MutationObserver(settle).observe(document.body, { childList: true, subtree: true });
settle();
