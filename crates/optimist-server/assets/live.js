// Keeps the live parts of a page up to date: when the server reports new records, the page is requested again, and parts that differ
// replace the old ones. The server draws everything; nothing is drawn here.
import { refreshed } from "./tools.js";

const LEAST = 600; // milliseconds between two requests, at least
const LIST = 3000; // how often the list of studies is requested
const RETRY = 3000; // how much later to try again after a failed request
const AGAIN = 1200; // how soon to ask again for what the server is still computing

let looking = false;
let wanted = false;
let last = 0;

export function follow() {
  if (!document.querySelector("[data-live]")) return;
  const events = document.body.dataset.events;
  if (events) {
    if (!document.hidden) listen(events);
    // Browsers allow six connections to a server. A page that nobody sees, in another tab or in the history, must not hold one.
    const update = (isShown) => (isShown ? resume(events) : rest());
    document.addEventListener("visibilitychange", () => update(!document.hidden));
    window.addEventListener("pagehide", () => update(false));
    window.addEventListener("pageshow", (event) => event.persisted && update(true));
  } else setInterval(() => document.hidden || look(), LIST);
  askAgain();
}

let source = null;
let again = null;

function listen(address) {
  clearTimeout(again);
  source?.close();
  const own = (source = new EventSource(address));
  own.addEventListener("record", () => look());
  own.addEventListener("open", () => say(""));
  own.addEventListener("error", () => {
    say("connection lost; reconnecting");
    // The browser reconnects by itself, unless the server has refused the connection.
    if (own.readyState === EventSource.CLOSED && own === source) again = setTimeout(() => listen(address), 5000);
  });
}

function rest() {
  clearTimeout(again);
  source?.close();
  source = null;
}

// Whatever happened in the meantime is in the page that is requested now.
function resume(address) {
  if (source) return;
  listen(address);
  look();
}

// Requests the page now, or as soon as the last request is long enough ago, however many records arrive in between.
async function look() {
  wanted = true;
  if (looking || document.hidden) return;
  looking = true;
  await new Promise((done) => setTimeout(done, Math.max(0, last + LEAST - Date.now())));
  wanted = false;
  last = Date.now();
  try {
    const answer = await fetch(location.href, { headers: { "x-live": "1", accept: "text/html" }, redirect: "error" });
    say("");
    if (answer.ok) replace(await answer.text());
    if (answer.status === 401) location.reload(); // leads to the login page, and back
  } catch {
    wanted = true;
    say("connection lost; reconnecting");
    last = Date.now() + RETRY;
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

// Whether somebody is using a part: typing, choosing, dragging, or has ticked a box.
function isBusy(part) {
  const active = document.activeElement;
  const typing = active && active !== document.body && part.contains(active) && active.matches("input, select, textarea, a, summary");
  return typing || part.querySelector(".brushing, input:checked");
}

// The server is still computing something, and no record will announce when it is done.
function askAgain() {
  if (document.querySelector("[data-again]")) setTimeout(look, AGAIN);
}

function say(text) {
  const place = document.getElementById("connection");
  if (place) place.textContent = text;
}
