// Tooltips of plots: shown at once beside the pointer or finger, where a browser would wait for a second. Clicking the mark of a trial opens
// its page.
export function tips() {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  let current = null;

  const hide = () => {
    tip.hidden = true;
    current?.classList.remove("pointed");
    current = null;
  };

  const show = (event) => {
    const mark = event.target.closest?.(".panel g");
    if (!mark || mark === current) {
      if (!mark) hide();
      else place(event);
      return;
    }
    const text = words(mark);
    if (!text) return hide();
    hide();
    current = mark;
    mark.classList.add("pointed");
    tip.textContent = text;
    tip.hidden = false;
    place(event);
  };

  const place = (event) => {
    const { innerWidth: width, innerHeight: height } = window;
    const box = tip.getBoundingClientRect();
    const left = event.clientX + 14 + box.width > width ? event.clientX - box.width - 14 : event.clientX + 14;
    const top = event.clientY + 14 + box.height > height ? event.clientY - box.height - 14 : event.clientY + 14;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  };

  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", hide, { passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("click", (event) => {
    const trial = event.target.closest?.(".panel [data-trial]")?.dataset.trial;
    const study = document.body.dataset.events?.match(/\/studies\/([^/]+)/)?.[1];
    if (trial && study && !event.defaultPrevented) location.assign(`/studies/${study}/trials/${trial}`);
  });
}

// The title moves to an attribute, or the browser would show it as well.
function words(mark) {
  const title = mark.querySelector(":scope > title");
  if (title) {
    mark.dataset.words = title.textContent;
    mark.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  return mark.dataset.words ?? (mark.dataset.trial && `trial ${mark.dataset.trial}`);
}
