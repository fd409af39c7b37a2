// Puts the parts together: knobs and buttons, the visit, three pictures, and what is said to who cannot see them.

import { Fleet } from "./fleet.js";
import { Lanes } from "./lanes.js";
import { Shaper } from "./shaper.js";
import { Clock, say } from "./svg.js";
import { Visit } from "./visit.js";

const SETTLED_MS = 4500;
const CALM_MS = 1000;

const byId = id => document.getElementById(id);
const knobs = ["rate", "limit", "burst"].map(byId);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const clock = new Clock();
const lanes = new Lanes(byId("lanes"));
const shaper = new Shaper(byId("shaper"), byId("interval"), byId("shaper-totals"));
const fleet = new Fleet(byId("fleet"), document.querySelector(".store"));

let paused = false;
let settled;
let shownAt = 0;

const visit = new Visit(values(), {
  opened() {
    clock.restart();
    lanes.restart();
    shaper.restart();
    summariseSoon();
  },
  frame(frame) {
    clock.arrived(frame.time);
    // Without motion, the pictures are stills that change once a second.
    if (calm.matches && performance.now() - shownAt < CALM_MS) {
      lanes.keep(frame);
      shaper.keep(frame);
      return;
    }
    shownAt = performance.now();
    lanes.frame(frame);
    shaper.frame(frame);
    fleet.frame(frame);
    if (calm.matches) {
      move(frame.time);
    }
  },
  state,
});

function values() {
  return Object.fromEntries(knobs.map(knob => [knob.name, knob.value]));
}

function state(name, text) {
  document.body.dataset.state = name;
  byId("state").dataset.state = name;
  say(byId("state"), text);
  byId("spike").disabled = name !== "live";
}

/** Screen readers hear of a change once, when its effect can be told, and not of every frame. */
function summariseSoon() {
  clearTimeout(settled);
  settled = setTimeout(() => say(byId("summary"), lanes.summary()), SETTLED_MS);
}

function showValues() {
  for (const knob of knobs) {
    const shown = document.querySelector(`[data-value=${knob.name}]`);
    say(shown, knob.value);
    knob.setAttribute("aria-valuetext", shown.parentElement.textContent.trim());
  }
}

for (const knob of knobs) {
  knob.addEventListener("input", () => {
    showValues();
    visit.turn(values());
    summariseSoon();
  });
}

byId("spike").addEventListener("click", () => visit.spike());

byId("pause").addEventListener("click", event => {
  paused = !paused;
  say(event.currentTarget, paused ? "Resume" : "Pause");
  follow();
});

/** Who does not look takes no seat. */
function follow() {
  if (!paused && !document.hidden) {
    visit.start();
    return;
  }
  visit.stop();
  clearTimeout(settled);
  state("paused", paused ? "Paused" : "Paused while you look elsewhere");
}

document.addEventListener("visibilitychange", () => {
  if (!paused) {
    follow();
  }
});
addEventListener("pagehide", () => visit.stop());
addEventListener("pageshow", event => event.persisted && follow());

function move(now) {
  lanes.move(now);
  shaper.move(now);
}

function animate() {
  if (clock.running && document.body.dataset.state === "live" && !calm.matches) {
    move(clock.now());
  }
  requestAnimationFrame(animate);
}

showValues();
follow();
animate();
