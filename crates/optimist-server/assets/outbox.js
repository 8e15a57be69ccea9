// Results survive a lost connection: each field is saved on this device as it is typed, and an entered result stays in an outbox here until
// the server confirms it. Retries send the same idempotency key, so a result counts once.
const OUTBOX = "optimist-outbox";
const DRAFTS = "optimist-drafts";
const FIRST = 2000; // milliseconds until the first retry, doubled each time up to LONGEST
const LONGEST = 60000;

let pause = FIRST;
let timer = null;
let sending = false;

export function outbox() {
  for (const form of document.querySelectorAll("form[data-outbox]")) attend(form);
  window.addEventListener("online", () => send());
  send();
}

function attend(form) {
  const drafts = read(DRAFTS, {});
  const key = form.getAttribute("action") + "#" + form.elements.trial.value;
  for (const field of form.querySelectorAll("input:not([type=hidden])")) {
    const draft = drafts[key]?.[field.name];
    if (draft && !field.value) field.value = draft;
  }
  form.addEventListener("input", (event) => {
    const drafts = read(DRAFTS, {});
    drafts[key] = { ...drafts[key], [event.target.name]: event.target.value };
    write(DRAFTS, drafts);
  });
  form.addEventListener("submit", (event) => {
    const how = event.submitter?.value ?? "value";
    const value = [...form.querySelectorAll("[data-value]")].find((field) => !field.value.trim());
    if (how === "value" && value) {
      event.preventDefault();
      value.setAttribute("aria-invalid", "true");
      return value.focus();
    }
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form));
    body.set("how", how);
    body.delete("csrf"); // sent as a header instead: the session may be another one by then
    const trial = form.elements.trial.value;
    const item = { to: form.getAttribute("action"), body: body.toString(), key: crypto.randomUUID?.() ?? random(), trial };
    write(OUTBOX, [...read(OUTBOX, []), item]);
    forget(key);
    form.closest("article")?.classList.add("entered");
    form.querySelectorAll("input, button").forEach((field) => (field.disabled = true));
    send();
  });
}

// Sends what is in the outbox, in order. Results that the server rejects for good are reported and removed.
async function send() {
  clearTimeout(timer);
  if (sending) return;
  sending = true;
  let refused = "";
  let arrived = 0;
  while (read(OUTBOX, []).length) {
    const [item] = read(OUTBOX, []);
    let answer;
    try {
      answer = await fetch(item.to, {
        method: "POST",
        body: item.body,
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "x-csrf-token": document.querySelector('meta[name="csrf"]')?.content ?? "",
          "idempotency-key": item.key,
          "x-live": "1",
        },
      });
    } catch {
      answer = null;
    }
    // Retried without a connection, without a login, or when the server is in trouble. 409 may mean that the first try is still in progress.
    const isUnderWay = answer?.status === 409 && (item.tries = (item.tries ?? 0) + 1) < 4;
    if (!answer || isUnderWay || answer.status >= 500 || [401, 403, 408, 429].includes(answer.status)) {
      write(OUTBOX, [item, ...read(OUTBOX, []).slice(1)]);
      const why = answer?.status === 401 || answer?.status === 403 ? "log in again to send" : "waiting for a connection to send";
      say(`${count()} saved on this device; ${why}.`);
      timer = setTimeout(send, pause);
      pause = Math.min(2 * pause, LONGEST);
      sending = false;
      return;
    }
    if (!answer.ok) {
      refused = `The result of experiment ${item.trial} was rejected: ${await problem(answer)}`;
      giveBack(item);
    }
    write(OUTBOX, read(OUTBOX, []).slice(1));
    arrived += answer.ok ? 1 : 0;
  }
  pause = FIRST;
  sending = false;
  if (refused) say(refused);
  else if (arrived) location.assign(location.pathname + "?done=tell");
}

// What was rejected can be corrected, also after the page is loaded again.
function giveBack(item) {
  const isTyped = ([name]) => !["back", "trial", "how"].includes(name);
  const drafts = read(DRAFTS, {});
  drafts[item.to + "#" + item.trial] = Object.fromEntries([...new URLSearchParams(item.body)].filter(isTyped));
  write(DRAFTS, drafts);
  const experiment = document.getElementById(`trial-${item.trial}`);
  experiment?.classList.remove("entered");
  experiment?.querySelectorAll("input, button").forEach((field) => (field.disabled = false));
}

async function problem(answer) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return page.querySelector(".message")?.textContent ?? `the server answered ${answer.status}`;
}

function count() {
  const n = read(OUTBOX, []).length;
  return n === 1 ? "1 result" : `${n} results`;
}

function say(text) {
  const place = document.getElementById("outbox");
  if (!place) return;
  place.hidden = !text;
  place.textContent = text;
}

function forget(key) {
  const drafts = read(DRAFTS, {});
  delete drafts[key];
  write(DRAFTS, drafts);
}

const random = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

function read(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function write(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Storage is disabled: the result is only in the form until it has arrived.
  }
}
