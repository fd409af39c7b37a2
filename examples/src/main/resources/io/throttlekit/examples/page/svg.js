// What all three pictures need: elements, numbers, and a clock that runs on between two frames.

const NAMESPACE = "http://www.w3.org/2000/svg";
const NUMBER = new Intl.NumberFormat("en");

/** Frames come this late and unevenly; showing the past hides it. */
const LAG_MS = 180;

/** Adds an SVG element to a parent. */
export function draw(parent, name, attributes = {}) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  return parent.appendChild(element);
}

/** Adds an HTML element to a parent. */
export function add(parent, name, attributes = {}, text = "") {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  element.textContent = text;
  return parent.appendChild(element);
}

export const number = value => NUMBER.format(value);

/** Puts a text where another one is; an equal one is left alone. */
export function say(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** The visit's time as it is shown: behind the server's, and as even as the screen's. */
export class Clock {
  #offset = Infinity;

  /** A frame of that time has arrived. The fastest frames tell the offset; what it drifts is given up slowly. */
  arrived(time) {
    this.#offset = Math.min(this.#offset + 0.5, performance.now() - time);
  }

  restart() {
    this.#offset = Infinity;
  }

  get running() {
    return this.#offset < Infinity;
  }

  now() {
    return performance.now() - this.#offset - LAG_MS;
  }
}

/** Tells the size of an element in pixels, now and whenever it changes. */
export function onSize(element, tell) {
  new ResizeObserver(() => tell(element.clientWidth, element.clientHeight)).observe(element);
  tell(element.clientWidth, element.clientHeight);
}
