// Highlighting trials by dragging along an axis of the parallel coordinates. The range becomes conditions of the filter, which the server
// applies to all plots; so the address can be shared, and the table can show the same trials.
import { replace } from "./live.js";

const NEAR = 16; // how far from an axis a drag may begin, in points of the picture

export function brush() {
  const form = document.getElementById("brush");
  if (!form) return;
  let drag = null;

  document.addEventListener("pointerdown", (event) => {
    const picture = event.target.closest?.('[data-plot="parallel"] svg');
    if (!picture || event.button !== 0) return;
    const at = point(picture, event);
    const axis = axes(picture).find((axis) => Math.abs(axis.x - at.x) < NEAR && at.y > axis.top - 4 && at.y < axis.bottom + 4);
    if (!axis) return;
    event.preventDefault();
    drag = { picture, axis, from: at.y, box: box(picture) };
    picture.classList.add("brushing");
    picture.setPointerCapture(event.pointerId);
  });

  document.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [top, bottom] = range(drag, point(drag.picture, event).y);
    for (const [name, value] of Object.entries({ x: drag.axis.x - 8, y: top, width: 16, height: bottom - top }))
      drag.box.setAttribute(name, value);
  });

  document.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { picture, axis, from, box } = drag;
    const [top, bottom] = range(drag, point(picture, event).y);
    drag = null;
    picture.classList.remove("brushing");
    box.remove();
    const field = form.elements.filter;
    const others = words(field.value).filter((word) => !isAbout(word, axis.name));
    const isClick = Math.abs(bottom - top) < 4;
    field.value = [...others, ...(isClick ? [] : conditions(axis, top, bottom))].join(" ");
    if (!isClick || Math.abs(from - top) < 4) show(form);
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(form);
  });
}

// Has the server draw everything anew.
async function show(form) {
  const address = `${location.pathname}?${new URLSearchParams(new FormData(form))}`;
  document.body.classList.add("waiting");
  try {
    const answer = await fetch(address, { headers: { "x-live": "1", accept: "text/html" } });
    if (!answer.ok) throw new Error();
    history.replaceState(null, "", address);
    replace(await answer.text());
  } catch {
    form.submit();
  }
  document.body.classList.remove("waiting");
}

// The axes: in the order of their names, with the values that their ticks say. Text above an axis is its name.
function axes(picture) {
  const data = picture.closest("[data-axes]")?.dataset.axes;
  return data ? JSON.parse(data) : [];
}

function range({ axis, from }, to) {
  const inside = (y) => Math.min(axis.bottom, Math.max(axis.top, y));
  return [inside(Math.min(from, to)), inside(Math.max(from, to))];
}

// What a range of an axis means: numbers between two, or any of some choices.
function conditions(axis, top, bottom) {
  const part = (y) => (axis.bottom - y) / (axis.bottom - axis.top);
  const name = quoted(axis.name);
  if (axis.choices) {
    const n = axis.choices.length;
    const inside = axis.choices.filter((_, i) => (i + 0.5) / n >= part(bottom) && (i + 0.5) / n <= part(top));
    if (inside.length === 1) return [`${name}=${quoted(inside[0])}`];
    return axis.choices.filter((choice) => !inside.includes(choice)).map((choice) => `${name}!=${quoted(choice)}`);
  }
  const value = (part) =>
    axis.log ? Math.exp(Math.log(axis.low) + part * (Math.log(axis.high) - Math.log(axis.low))) : axis.low + part * (axis.high - axis.low);
  const low = bottom >= axis.bottom - 1 ? [] : [`${name}>=${short(value(part(bottom)))}`];
  const high = top <= axis.top + 1 ? [] : [`${name}<=${short(value(part(top)))}`];
  return [...low, ...high];
}

const short = (number) => String(Number(number.toPrecision(4)));
const quoted = (text) => (/^[\w.-]+$/.test(text) ? text : `"${text.replaceAll('"', "")}"`);
const words = (line) => line.match(/(?:"[^"]*"|[^\s,"])+/g) ?? [];
const isAbout = (word, name) => {
  const plain = word.replaceAll('"', "");
  return plain.startsWith(name) && /^[=!<>~]/.test(plain.slice(name.length));
};

function point(picture, event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
  return { x: at.x, y: at.y };
}

function box(picture) {
  const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  box.setAttribute("class", "brush");
  picture.append(box);
  return box;
}
