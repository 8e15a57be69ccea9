// Keeps the live parts of a page up to date: when the server says that a study has new records, the page is asked for again, and parts
// that differ take the place of the old ones. The server draws everything; nothing is drawn here.
import { refreshed } from "./tools.js";

const LEAST = 600; // milliseconds between two looks
const LIST = 3000; // how often the list of studies is looked at
const AGAIN = 1200; // how soon to look again for what is being found out

let looking = false;
let wanted = false;
let last = 0;

export function follow() {
  if (!document.querySelector("[data-live]")) return;
  const events = document.body.dataset.events;
  if (events) listen(events);
  else setInterval(() => document.hidden || look(), LIST);
  askAgain();
  document.addEventListener("visibilitychange", () => !document.hidden && wanted && look());
}

function listen(address) {
  const source = new EventSource(address);
  source.addEventListener("record", () => look());
  source.addEventListener("open", () => say(""));
  source.addEventListener("error", () => {
    say("no connection; trying again");
    // The browser comes again by itself unless the server has refused.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => listen(address), 5000);
  });
}

// Looks now, or as soon as the last look is long enough ago; however many records come in between.
async function look() {
  wanted = true;
  if (looking || document.hidden) return;
  looking = true;
  await new Promise((done) => setTimeout(done, Math.max(0, last + LEAST - Date.now())));
  wanted = false;
  last = Date.now();
  try {
    const answer = await fetch(location.href, { headers: { "x-live": "1", accept: "text/html" }, redirect: "error" });
    if (answer.ok) replace(await answer.text());
    if (answer.status === 401) location.reload();
  } catch {
    wanted = true;
  }
  looking = false;
  if (wanted) setTimeout(look, LEAST);
}

export function replace(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const part of fresh.querySelectorAll("[data-live]")) {
    const old = document.getElementById(part.id);
    if (!old || isBusy(old) || old.drawn === part.innerHTML) continue;
    const opened = [...old.querySelectorAll("details")].map((details) => details.open);
    const scrolled = [...old.querySelectorAll(".scroll, .panel")].map((box) => box.scrollLeft);
    old.replaceChildren(...part.childNodes);
    old.querySelectorAll("details").forEach((details, i) => opened[i] !== undefined && (details.open = opened[i]));
    old.querySelectorAll(".scroll, .panel").forEach((box, i) => (box.scrollLeft = scrolled[i] ?? 0));
    refreshed(old);
  }
  askAgain();
}

// Whether somebody is at work in a part: types, chooses, drags or has ticked something.
function isBusy(part) {
  const active = document.activeElement;
  const typing = active && active !== document.body && part.contains(active) && active.matches("input, select, textarea, a, summary");
  return typing || part.querySelector(".brushing, input:checked");
}

// The server is still finding something out, and no record will tell when it is done.
function askAgain() {
  if (document.querySelector("[data-again]")) setTimeout(look, AGAIN);
}

function say(text) {
  const place = document.getElementById("connection");
  if (place) place.textContent = text;
}
