// Answers that nobody meant: given in haste to a question that has just come to its place, or
// before the end of what is decided about was seen. The clicks of keys come by here as well.
"use strict";

const ARMING_MS = 500;
const agreeing = new Set(["run", "session", "always", "accept"]);

// Where each question was when it was looked at last.
let places = new Map();
const timers = new WeakMap();

function arm(review) {
  clearTimeout(timers.get(review));
  review.dataset.arming = "";
  timers.set(review, setTimeout(() => { delete review.dataset.arming; }, ARMING_MS));
}

// What is new or has moved takes no answer yet, and nothing does once a question has gone: whoever
// was about to answer that one would answer another.
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

// What does not fit into its box has to be scrolled to its end once.
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
    review.querySelector(".problem").textContent = `look at the end of the arguments first: they have ${count} bytes`;
    review.querySelector("pre.code").focus();
  }
}, { capture: true });

new MutationObserver(settle).observe(document.body, { childList: true, subtree: true });
settle();
