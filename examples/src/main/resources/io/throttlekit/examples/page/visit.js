// The stream of events: opened, kept open, told of turned knobs.

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 8000;

/** Frames come ten times a second; without one for so long the connection is gone, whatever the browser thinks. */
const SILENCE_MS = 4000;

export class Visit {
  #source;
  #id;
  #knobs;
  #told;
  #telling = false;
  #timer;
  #watch;
  #retryMs = FIRST_RETRY_MS;

  /**
   * @param on `opened()`, `frame(frame)` and `state(name, text)`, which is told each change of what goes on
   */
  constructor(knobs, on) {
    this.#knobs = knobs;
    this.on = on;
  }

  get running() {
    return this.#source !== undefined || this.#timer !== undefined;
  }

  start() {
    this.stop();
    this.#open();
  }

  stop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#watch);
    this.#timer = undefined;
    this.#source?.close();
    this.#source = undefined;
    this.#id = undefined;
  }

  #query() {
    return new URLSearchParams(this.#knobs).toString();
  }

  #open() {
    this.#timer = undefined;
    this.#told = this.#query();
    const source = new EventSource(`/page/events?${this.#told}`);
    this.#source = source;
    source.addEventListener("visit", event => {
      this.#id = JSON.parse(event.data).id;
      this.#retryMs = FIRST_RETRY_MS;
      this.on.opened();
      this.on.state("live", "Live");
      this.#tell();
    });
    source.addEventListener("frame", event => {
      this.#expectMore();
      this.on.frame(JSON.parse(event.data));
    });
    source.onerror = () => this.#lost();
    this.#expectMore();
  }

  #expectMore() {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#lost(), SILENCE_MS);
  }

  /** The browser would come back with the knobs of before, so that is done here. */
  #lost() {
    this.stop();
    const wait = this.#retryMs;
    this.#retryMs = Math.min(LAST_RETRY_MS, wait * 2);
    this.#timer = setTimeout(() => this.#open(), wait);
    this.on.state("lost", "Connection lost. Trying again.");
    this.#why();
  }

  /** An EventSource does not tell why it failed; a request does. */
  async #why() {
    const asking = new AbortController();
    const timer = this.#timer;
    try {
      const answer = await fetch(`/page/events?${this.#query()}`, { signal: asking.signal });
      if (answer.status === 503 && timer === this.#timer) {
        this.on.state("full", (await answer.json()).detail);
      }
    } catch {
      // Nobody answers: that is what the page says already.
    } finally {
      asking.abort();
    }
  }

  turn(knobs) {
    this.#knobs = knobs;
    this.#tell();
  }

  /** Tells the last knobs; one request at a time, however fast they turn. */
  async #tell() {
    if (this.#telling || this.#id === undefined || this.#told === this.#query()) {
      return;
    }
    this.#telling = true;
    this.#told = this.#query();
    try {
      await fetch(`/page/visits/${this.#id}?${this.#told}`, { method: "PUT" });
    } catch {
      this.#told = undefined;
      return;
    } finally {
      this.#telling = false;
    }
    this.#tell();
  }

  async spike() {
    if (this.#id !== undefined) {
      await fetch(`/page/visits/${this.#id}/spike`, { method: "POST" }).catch(() => undefined);
    }
  }
}
