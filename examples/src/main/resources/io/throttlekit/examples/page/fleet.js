// The nodes of the fleet: what each has leased and not used, and when it asks the store.

import { add, number, say } from "./svg.js";

const ASKS_MS = 150;

class Node {
  #calls = 0;
  #calmAt = 0;

  constructor(parent, name) {
    const node = add(parent, "div", { class: "node", "data-node": name });
    add(node, "h3", {}, `Node ${name}`);
    this.gauge = add(node, "div", { class: "gauge", role: "meter", "aria-label": `Credits of node ${name}`, "aria-valuemin": 0 });
    this.fill = add(this.gauge, "i");
    this.credits = add(this.gauge, "b", {}, "0");
    this.admitted = add(node, "small", {}, "0 admitted");
    this.denied = add(node, "small", {}, "0 denied");
    this.wire = add(node, "div", { class: "wire", "aria-hidden": "true" });
  }

  frame(node, batch) {
    const most = Math.max(batch, node.credits);
    this.gauge.setAttribute("aria-valuemax", most);
    this.gauge.setAttribute("aria-valuenow", node.credits);
    this.fill.style.transform = `scaleY(${node.credits / most})`;
    say(this.credits, number(node.credits));
    say(this.admitted, `${number(node.admitted)} admitted`);
    say(this.denied, `${number(node.denied)} denied`);
    const now = performance.now();
    if (node.storeCalls > this.#calls) {
      this.#calmAt = now + ASKS_MS;
    }
    this.#calls = node.storeCalls;
    this.wire.classList.toggle("asks", now < this.#calmAt);
  }
}

export class Fleet {
  #nodes = [];

  constructor(parent, card) {
    this.parent = parent;
    this.value = name => card.querySelector(`[data-fleet=${name}]`);
  }

  frame({ fleet }) {
    while (this.#nodes.length < fleet.nodes.length) {
      this.#nodes.push(new Node(this.parent, "ABCDEFGH"[this.#nodes.length]));
    }
    fleet.nodes.forEach((node, index) => this.#nodes[index].frame(node, fleet.batch));
    say(document.getElementById("fleet-limit"), number(fleet.limit));
    say(document.getElementById("fleet-batch"), number(fleet.batch));
    say(this.value("storeCalls"), number(fleet.storeCalls));
    say(this.value("requests"), number(fleet.requests));
    say(this.value("ratio"), fleet.storeCalls === 0 ? "" : `${(fleet.requests / fleet.storeCalls).toFixed(1)} requests per call`);
  }
}
