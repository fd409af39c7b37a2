// The shaper's time line: arrivals above, departures below, and a thread from each to its own.

import { draw, number, onSize, say } from "./svg.js";

const MOST_MS = 4000;
const LEAST_MS = 700;
const DEPARTURE_PX = 7;
const ARRIVALS_Y = 34;
const FOOT = 30;

export class Shaper {
  #svg;
  #places = [];
  #refused = [];
  #frame;
  #width = 0;
  #height = 0;

  constructor(svg, interval, totals) {
    this.#svg = svg;
    this.interval = interval;
    this.totals = name => totals.querySelector(`[data-total=${name}]`);
    this.future = draw(svg, "rect", { class: "future" });
    this.seconds = draw(svg, "path", { class: "second" });
    const clips = draw(svg, "defs");
    this.clipPast = this.#clip(clips, "past");
    this.clipFuture = this.#clip(clips, "to-come");
    this.rows = draw(svg, "path", { class: "axis" });
    this.moving = [this.#moving("past"), this.#moving("to-come")];
    this.past = this.#marks(this.moving[0], "dot");
    this.toCome = this.#marks(this.moving[1], "ring");
    this.now = draw(svg, "path", { class: "now" });
    this.labels = ["arrive", "depart", "now"].map(text => {
      const label = draw(svg, "text", { class: "tick" });
      label.textContent = text;
      return label;
    });
    onSize(svg, (width, height) => {
      this.#width = width;
      this.#height = height;
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.#draw();
    });
  }

  #clip(defs, id) {
    return draw(draw(defs, "clipPath", { id }), "rect", { y: 0 });
  }

  #moving(clip) {
    return draw(draw(this.#svg, "g", { "clip-path": `url(#${clip})` }), "g");
  }

  #marks(parent, departure) {
    return {
      threads: draw(parent, "path", { class: "thread" }),
      arrivals: draw(parent, "path", { class: "arrival" }),
      refused: draw(parent, "path", { class: "cross" }),
      departures: draw(parent, "path", { class: departure }),
    };
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
    const perMs = this.#width / this.#span();
    const nowX = this.#width * (1 - this.#ahead());
    const low = this.#height - FOOT;
    this.clipPast.setAttribute("width", nowX);
    this.clipPast.setAttribute("height", this.#height);
    this.clipFuture.setAttribute("x", nowX);
    this.clipFuture.setAttribute("width", this.#width - nowX);
    this.clipFuture.setAttribute("height", this.#height);
    this.future.setAttribute("x", nowX);
    this.future.setAttribute("width", this.#width - nowX);
    this.future.setAttribute("height", this.#height);
    this.now.setAttribute("d", `M${nowX} 16V${this.#height}`);
    this.rows.setAttribute("d", `M0 ${ARRIVALS_Y}H${this.#width}M0 ${low}H${this.#width}`);
    const [arrive, depart, now] = this.labels;
    this.#put(arrive, 0, 12);
    this.#put(depart, 0, this.#height - 6);
    this.#put(now, nowX, 12, "middle");
    this.#marksOf(this.past, perMs, low, 3.2);
    this.#marksOf(this.toCome, perMs, low, 2.6);
  }

  #put(label, x, y, anchor = "start") {
    label.setAttribute("x", x);
    label.setAttribute("y", y);
    label.setAttribute("text-anchor", anchor);
  }

  #marksOf(marks, perMs, low, radius) {
    let threads = "";
    let arrivals = "";
    let departures = "";
    for (const place of this.#places) {
      const from = (place.arrival * perMs).toFixed(1);
      const to = place.departure * perMs;
      threads += `M${from} ${ARRIVALS_Y}L${to.toFixed(1)} ${low}`;
      arrivals += `M${from} ${ARRIVALS_Y - 5}v10`;
      departures += circle(to, low, radius);
    }
    let refused = "";
    for (const time of this.#refused) {
      refused += `M${(time * perMs - 3).toFixed(1)} ${ARRIVALS_Y - 12}l6 6m0 -6l-6 6`;
    }
    marks.threads.setAttribute("d", threads);
    marks.arrivals.setAttribute("d", arrivals);
    marks.departures.setAttribute("d", departures);
    marks.refused.setAttribute("d", refused);
  }

  move(now) {
    if (!this.#frame || this.#width === 0) {
      return;
    }
    const span = this.#span();
    const perMs = this.#width / span;
    const nowX = this.#width * (1 - this.#ahead());
    const transform = `translate(${(nowX - now * perMs).toFixed(2)} 0)`;
    this.moving.forEach(group => group.setAttribute("transform", transform));
    let ticks = "";
    const step = span > 1500 ? 1000 : 250;
    for (let time = Math.floor((now + span) / step) * step; time > now - span; time -= step) {
      ticks += `M${(nowX + (time - now) * perMs).toFixed(1)} 16V${this.#height}`;
    }
    this.seconds.setAttribute("d", ticks);
  }

  restart() {
    this.#places = [];
    this.#refused = [];
  }
}

const circle = (x, y, r) => `M${(x - r).toFixed(1)} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
