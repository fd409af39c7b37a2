// The shaper's time line: arrivals above, departures below, and a thread from each to its own.

import { add, draw, number, onSize, say } from "./svg.js";

const MOST_MS = 4000;
const LEAST_MS = 700;
const DEPARTURE_PX = 7;
const ARRIVALS_Y = 34;
const FOOT = 30;

/** What is shown lags behind what is known by less than this. */
const LATE_MS = 1000;

export class Shaper {
  #places = [];
  #refused = [];
  #frame;
  #width = 0;
  #height = 0;

  constructor(chart, interval, totals) {
    this.interval = interval;
    this.totals = name => totals.querySelector(`[data-total=${name}]`);
    const ground = draw(chart, "svg", { class: "still" });
    this.rows = draw(ground, "path", { class: "axis" });
    this.past = new Part(chart, "past", "dot");
    this.toCome = new Part(chart, "to-come", "ring");
    const still = draw(chart, "svg", { class: "still" });
    this.now = draw(still, "path", { class: "now" });
    this.labels = ["arrive", "depart", "now"].map(text => {
      const label = draw(still, "text", { class: "tick" });
      label.textContent = text;
      return label;
    });
    onSize(chart, (width, height) => {
      this.#width = width;
      this.#height = height;
      this.#draw();
    });
  }

  /** Takes a frame in without showing it. */
  keep(frame) {
    const shaper = frame.shaper;
    this.#frame = frame;
    this.#places = this.#places.concat(shaper.reserved).filter(place => place.departure > frame.time - MOST_MS);
    this.#refused = this.#refused.concat(shaper.refused).filter(time => time > frame.time - MOST_MS);
  }

  frame(frame) {
    const shaper = frame.shaper;
    this.keep(frame);
    say(this.interval, number(Math.round(shaper.intervalMs * 10) / 10));
    say(this.totals("departed"), number(shaper.totalDeparted));
    say(this.totals("waiting"), number(shaper.waiting));
    say(this.totals("refused"), number(shaper.totalRefused));
    this.#draw();
  }

  /** So much time fits that departures can be told apart. */
  #span() {
    const fits = this.#width / DEPARTURE_PX * this.#frame.shaper.intervalMs;
    return Math.min(MOST_MS, Math.max(LEAST_MS, fits));
  }

  /** The part of the width that is still to come. */
  #ahead() {
    return Math.min(0.4, this.#frame.shaper.maxWaitMs * 1.1 / this.#span());
  }

  #draw() {
    if (!this.#frame || this.#width === 0) {
      return;
    }
    const nowX = this.#width * (1 - this.#ahead());
    const low = this.#height - FOOT;
    this.now.setAttribute("d", `M${nowX} 16V${this.#height}`);
    this.rows.setAttribute("d", `M0 ${ARRIVALS_Y}H${this.#width}M0 ${low}H${this.#width}`);
    const [arrive, depart, now] = this.labels;
    this.#put(arrive, 0, 12);
    this.#put(depart, 0, this.#height - 6);
    this.#put(now, nowX, 12, "middle");
    this.past.place(0, nowX);
    this.toCome.place(nowX, this.#width - nowX);

    const perMs = this.#width / this.#span();
    const origin = this.#frame.time;
    const x = time => (nowX + (time - origin) * perMs).toFixed(1);
    const threads = this.#places.map(place => `M${x(place.arrival)} ${ARRIVALS_Y}L${x(place.departure)} ${low}`).join("");
    const recent = this.#places.filter(place => place.departure > origin - LATE_MS);
    this.past.draw({
      threads,
      arrivals: this.#places.map(place => `M${x(place.arrival)} ${ARRIVALS_Y - 5}v10`).join(""),
      refused: this.#refused.map(time => `M${x(time)} ${ARRIVALS_Y - 12}m-3 0l6 6m0-6l-6 6`).join(""),
      departures: this.#places.map(place => circle(x(place.departure), low, 3.2)).join(""),
    });
    this.toCome.draw({
      threads,
      departures: recent.map(place => circle(x(place.departure), low, 2.7)).join(""),
    });
  }

  #put(label, x, y, anchor = "start") {
    label.setAttribute("x", x);
    label.setAttribute("y", y);
    label.setAttribute("text-anchor", anchor);
  }

  move(now) {
    if (!this.#frame) {
      return;
    }
    const shift = (this.#frame.time - now) * this.#width / this.#span();
    this.past.move(shift);
    this.toCome.move(shift);
  }

  restart() {
    this.#places = [];
    this.#refused = [];
  }
}

const circle = (x, y, r) => `M${x} ${y}m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

/** One side of now: it shows its part of a picture that is as wide as the chart and moves. */
class Part {
  #left = 0;

  constructor(chart, name, departure) {
    this.window = add(chart, "div", { class: `part ${name}` });
    this.layer = draw(this.window, "svg", { class: "layer" });
    this.marks = {
      threads: draw(this.layer, "path", { class: "thread" }),
      arrivals: draw(this.layer, "path", { class: "arrival" }),
      refused: draw(this.layer, "path", { class: "cross" }),
      departures: draw(this.layer, "path", { class: departure }),
    };
  }

  place(left, width) {
    this.#left = left;
    this.window.style.left = `${left}px`;
    this.window.style.width = `${width}px`;
  }

  draw(paths) {
    for (const [name, path] of Object.entries(paths)) {
      this.marks[name].setAttribute("d", path);
    }
  }

  move(shift) {
    this.layer.style.transform = `translateX(${(shift - this.#left).toFixed(2)}px)`;
  }
}
