// Small things: relative times, copying, printing, the columns of the table.
const STEPS = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [30, "day"],
  [12, "month"],
  [Infinity, "year"],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "narrow" });

export function tools() {
  refreshed(document);
  setInterval(() => times(document), 5000);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-print]")) window.print();
    const copier = event.target.closest("button.copier");
    if (copier) copy(copier);
  });
  document.querySelector("form[data-columns]")?.addEventListener("submit", columns);
}

// Prepares a new part of the page.
export function refreshed(part) {
  if (part.id) part.drawn = part.innerHTML; // as the server drew it, to see what differs next time
  times(part);
  for (const text of part.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copier";
    button.textContent = "Copy";
    text.before(button);
  }
}

function times(part) {
  for (const time of part.querySelectorAll("time[datetime]")) {
    time.title ||= time.textContent;
    time.textContent = ago((Date.now() - Date.parse(time.dateTime)) / 1000);
  }
}

function ago(seconds) {
  if (seconds < 2) return "now";
  let amount = seconds;
  for (const [size, unit] of STEPS) {
    if (amount < size) return relative.format(-Math.floor(amount), unit);
    amount /= size;
  }
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.nextElementSibling.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.nextElementSibling);
    button.textContent = "Selected; press Ctrl+C";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

// Many boxes become one short field of the address.
function columns(event) {
  event.preventDefault();
  const form = event.target;
  const chosen = [...form.querySelectorAll("input[name=column]:checked")].map((box) => box.value);
  const address = new URLSearchParams({ filter: form.elements.filter.value, sort: form.elements.sort.value, columns: chosen.join(",") });
  location.assign(`${location.pathname}?${address}`);
}
