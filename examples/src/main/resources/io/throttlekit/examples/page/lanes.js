// A picture per strategy: bars of 100 ms, what was admitted at the bottom and what was denied on top of it.

import { add, draw, number, onSize, say } from "./svg.js";

const WINDOW_MS = 6000;
const BAR_MS = 100;

const TITLES = {
  gcra: ["GCRA", "Evenly, after a burst. The state is one instant."],
  tokenBucket: ["Token bucket", "As many tokens as the burst, refilled at the limit."],
  slidingWindow: ["Sliding window", "A second that slides, in ten buckets."],
  slidingWindowLog: ["Sliding window log", "A second that slides, exact to the millisecond."],
  fixedWindow: ["Fixed window", "Each second of the clock begins anew."],
  quota: ["Quota", "The same rate as an allowance for ten seconds."],
};

class Lane {
  #history = [];
  #origin = 0;
  #width = 0;
  #height = 0;

  constructor(parent, name) {
    const [title, about] = TITLES[name] ?? [name, ""];
    const card = add(parent, "article", { class: "card lane", "data-lane": name });
    const head = add(card, "header");
    add(head, "h3", {}, title);
    const share = add(head, "p", { class: "share" });
    this.share = add(share, "b", { "data-total": "share" }, "–");
    share.append(" admitted");
    add(card, "p", { class: "about" }, about);
    const chart = add(card, "div", { class: "chart", role: "img", "aria-label": `${title}: admitted and denied requests over the last six seconds` });
    this.layer = draw(chart, "svg", { class: "layer" });
    this.seconds = draw(this.layer, "path", { class: "second" });
    this.admitted = draw(this.layer, "path", { class: "bar-admitted" });
    this.denied = draw(this.layer, "path", { class: "bar-denied" });
    const still = draw(chart, "svg", { class: "still" });
    this.limit = draw(still, "path", { class: "limit-line" });
    this.axis = draw(still, "path", { class: "axis" });
    const totals = add(card, "dl", { class: "totals" });
    this.totalAdmitted = this.#total(totals, "Admitted", "admitted");
    this.most = add(this.totalAdmitted.parentElement, "small", { "data-total": "most" });
    this.totalDenied = this.#total(totals, "Denied", "denied");
    onSize(chart, (width, height) => {
      this.#width = width;
      this.#height = height;
      this.axis.setAttribute("d", `M0 ${height - 0.5}H${width}`);
    });
  }

  #total(list, title, name) {
    const row = add(list, "div");
    add(row, "dt", {}, title);
    return add(row, "dd", { "data-total": name }, "0");
  }

  keep(frame, lane) {
    this.#history.push({ time: frame.time, span: frame.spanMs, admitted: lane.admitted, denied: lane.denied });
    this.#history = this.#history.filter(bar => bar.time > frame.time - WINDOW_MS - 1000);
  }

  frame(frame, lane) {
    this.keep(frame, lane);
    say(this.totalAdmitted, number(lane.totalAdmitted));
    say(this.most, `of at most ${number(lane.most)}`);
    say(this.totalDenied, number(lane.totalDenied));
    const { admitted, offered } = this.recent(2000);
    say(this.share, offered === 0 ? "–" : `${Math.round(100 * admitted / offered)} %`);
  }

  /** What was admitted of what was offered in the last milliseconds. */
  recent(ms) {
    const last = this.#history.at(-1)?.time ?? 0;
    const bars = this.#history.filter(bar => bar.time > last - ms);
    const admitted = bars.reduce((sum, bar) => sum + bar.admitted, 0);
    return { admitted, offered: bars.reduce((sum, bar) => sum + bar.denied, admitted), span: bars.reduce((sum, bar) => sum + bar.span, 0) };
  }

  /** The highest bar, in requests per 100 ms. */
  peak() {
    return Math.max(0, ...this.#history.map(bar => (bar.admitted + bar.denied) * BAR_MS / bar.span));
  }

  /** Draws the bars to a scale; the last one ends at the right edge, and all are moved from there. */
  draw(top, limit) {
    const perMs = this.#width / WINDOW_MS;
    const perRequest = (this.#height - 1) / top;
    const x = time => this.#width - (this.#origin - time) * perMs;
    this.#origin = this.#history.at(-1).time;
    let admitted = "";
    let denied = "";
    for (const bar of this.#history) {
      const from = x(bar.time - bar.span);
      const width = Math.max(1, bar.span * perMs - 1);
      const low = bar.admitted * BAR_MS / bar.span * perRequest;
      const high = bar.denied * BAR_MS / bar.span * perRequest;
      admitted += low > 0 ? rectangle(from, this.#height - 1 - low, width, low) : "";
      denied += high > 0 ? rectangle(from, this.#height - 1 - low - high, width, high) : "";
    }
    let seconds = "";
    for (let time = Math.floor(this.#origin / 1000) * 1000; time > this.#origin - WINDOW_MS - 1000; time -= 1000) {
      seconds += `M${x(time).toFixed(1)} 0V${this.#height}`;
    }
    this.admitted.setAttribute("d", admitted);
    this.denied.setAttribute("d", denied);
    this.seconds.setAttribute("d", seconds);
    const y = this.#height - 1 - limit * BAR_MS / 1000 * perRequest;
    this.limit.setAttribute("d", `M0 ${y.toFixed(1)}H${this.#width}`);
  }

  /** Moves the bars to where they are at a time, which the compositor does without drawing them again. */
  move(now) {
    this.layer.style.transform = `translateX(${((this.#origin - now) * this.#width / WINDOW_MS).toFixed(2)}px)`;
  }

  restart() {
    this.#history = [];
  }
}

const rectangle = (x, y, width, height) =>
  `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`;

/** All strategies, on one scale. */
export class Lanes {
  #parent;
  #lanes = new Map();
  #top = 4;

  constructor(parent) {
    this.#parent = parent;
  }

  frame(frame) {
    for (const lane of frame.lanes) {
      if (!this.#lanes.has(lane.name)) {
        this.#lanes.set(lane.name, new Lane(this.#parent, lane.name));
      }
      this.#lanes.get(lane.name).frame(frame, lane);
    }
    const lanes = [...this.#lanes.values()];
    const wanted = Math.max(4, frame.knobs.limit * BAR_MS / 1000, ...lanes.map(lane => lane.peak())) * 1.12;
    this.#top += (wanted - this.#top) * (wanted > this.#top ? 0.6 : 0.15);
    lanes.forEach(lane => lane.draw(this.#top, frame.knobs.limit));
  }

  /** Takes a frame in without showing it. */
  keep(frame) {
    frame.lanes.forEach(lane => this.#lanes.get(lane.name)?.keep(frame, lane));
  }

  move(now) {
    this.#lanes.forEach(lane => lane.move(now));
  }

  /** A new visit, whose time begins at zero. */
  restart() {
    this.#lanes.forEach(lane => lane.restart());
  }

  /** A sentence about the last seconds, said when the knobs have stood still as long. */
  summary() {
    const parts = [...this.#lanes].map(([name, lane]) => {
      const { admitted, span } = lane.recent(4000);
      return `${TITLES[name]?.[0] ?? name} ${span === 0 ? 0 : Math.round(admitted * 1000 / span)}`;
    });
    return `Admitted per second in the first four seconds of these settings: ${parts.join(", ")}.`;
  }
}
