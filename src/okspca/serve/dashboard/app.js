// The dashboard: what one model does, as it does it.

import {Connection, ask} from "./connection.js";
import {colour, element, forgetColours, options, write} from "./dom.js";
import {Alarms, Aside, Figures, Inputs} from "./lists.js";
import {Scatter} from "./scatter.js";
import {Store} from "./store.js";
import {TimeChart} from "./time_chart.js";
import {alarming, bound, clock, number, percent, proven, status} from "./words.js";

const SMALLEST = 1e-16, LIST_MS = 20000, CALM_MS = 3000;
const THEMES = {light: "dark", dark: "", "": "light"};
const SAID = {light: "Theme: light", dark: "Theme: dark", "": "Theme: auto"};

const $ = id => document.getElementById(id);
const column = name => columns => columns[name];
const over = name => columns => columns[name].map((value, i) => {
  const least = columns[`${name}_limit`][i];
  return value === null || !(least > 0) ? null : Math.max(value / least, 1e-2);
});
const above = (values, least) => values.map(value => value === null ? null : Math.max(value, least));
const times = value => `${number(value, 2)} ×`;
const share = value => percent(value);
const right = {isRight: false};
const scored = value => right.isRight ? share(value) : number(value);

const charts = [
  new TimeChart("score", "Score", [
    {label: "recent rows", of: column("recent"), colour: "ours", width: 2, text: scored},
    {label: "all rows", of: column("score"), colour: "third", width: 1.2, text: scored},
    {label: "baseline", of: column("baseline"), colour: "quiet", dash: [4, 4], width: 1.2, text: scored},
  ], {alarms: true, least: -1, most: 1, empty: "This model keeps no score. Heads made with prequential=True do."}),
  new TimeChart("monitor", "T² and SPE in units of their limits", [
    {label: "T²", of: over("t2"), colour: "ours", width: 1, dash: [2, 3], text: times},
    {label: "T² trend", of: over("t2_trend"), colour: "ours", width: 2, text: times},
    {label: "SPE", of: over("spe"), colour: "other", width: 1, dash: [2, 3], text: times},
    {label: "SPE trend", of: over("spe_trend"), colour: "other", width: 2, text: times},
  ], {alarms: true, log: true, lines: [1], empty: "Rows are not compared with limits yet."}),
  new TimeChart("certificate", "Certificate", [
    {label: "share of the best, proven", of: columns => above(columns.rho_lower.map(rho => rho === null ? null : 1 - rho), SMALLEST),
      colour: "ours", text: proven, back: missing => missing <= SMALLEST ? 1 : 1 - missing},
    {label: "degrees off, at most", of: columns => above(columns.angle_upper, SMALLEST), colour: "other", text: bound},
  ], {log: true, empty: "There is nothing to certify yet."}),
  new TimeChart("stability", "Stability", [
    {label: "estimated distance", of: column("distance"), colour: "ours", width: 2},
    {label: "from", of: column("low"), colour: "quiet", dash: [3, 3], width: 1},
    {label: "to", of: column("high"), colour: "quiet", dash: [3, 3], width: 1},
  ], {least: 0, bands: () => [{series: [3, 2], fill: () => colour("pale")}], empty: "Not estimated. Models made with stability=8 tell it."}),
  new TimeChart("rates", "Rows a second and latency", [
    {label: "rows/s", of: column("rows_per_second"), colour: "ours"},
    {label: "requests/s", of: column("requests_per_second"), colour: "third", width: 1.2},
    {label: "p50 ms", of: column("p50"), colour: "quiet", width: 1.2, scale: "ms"},
    {label: "p99 ms", of: column("p99"), colour: "other", width: 1.2, scale: "ms"},
  ], {least: 0, right: "ms", empty: "Nothing came yet."}),
];
const scatter = new Scatter("embedding", "Latest rows");
const lists = {figures: new Figures(), inputs: new Inputs(), alarms: new Alarms(), aside: new Aside()};

const store = new Store();
let session = {role: "ask", csrf: null}, isPaused = false, isDue = false, drawnAt = 0;
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");

const draw = () => {
  isDue = false;
  drawnAt = Date.now();
  const state = store.state;
  if (!state) return;
  const isAlarming = alarming(state, store.alarms), [first, rest] = status(state, store.alarms);
  const line = $("status");
  line.className = isAlarming ? "alarming" : "";
  if (line.textContent !== `${first} ${rest}`) {
    line.replaceChildren();
    element("strong", line, first);
    line.append(` ${rest}`);
  }
  document.title = `${isAlarming ? "Alarm: " : ""}${state.model} – okspca`;
  right.isRight = Boolean(state.score) && state.score.measure !== "R²";
  write($("title-score"), state.score ? `Score: ${state.score.measure} before learning` : "Score");
  const columns = store.since(Number($("range").value));
  for (const chart of charts) chart.draw(columns, store.alarms);
  scatter.draw(state);
  lists.figures.draw(state, store.alarms, isAlarming);
  lists.inputs.draw(state);
  lists.alarms.draw(state, store.alarms);
  lists.aside.draw(state, session.role);
};

// At most once a frame, not where nobody looks, and seldom where motion is not wanted.
const due = () => {
  if (isDue || isPaused || document.hidden) return;
  isDue = true;
  const wait = isCalm.matches ? Math.max(CALM_MS - (Date.now() - drawnAt), 0) : 0;
  setTimeout(() => requestAnimationFrame(() => isPaused ? (isDue = false) : draw()), wait);
};

const announce = alarms => {
  if (!alarms.length) return;
  const last = alarms[alarms.length - 1].sentence;
  write($("announcer"), alarms.length > 1 ? `${alarms.length} alarms. The last: ${last}` : `Alarm. ${last}`);
};

const tell = (state, seconds) => {
  const box = $("connection"), known = store.state;
  box.dataset.state = state;
  if (state === "live") write(box, isPaused ? "live, paused" : "live");
  else {
    const again = seconds ? `reconnecting in ${seconds} s` : "reconnecting";
    write(box, known ? `${again}; as of ${clock(known.time)}` : again);
  }
};

const connection = new Connection({
  tell,
  take: state => {
    announce(store.take(state));
    due();
  },
  gone: () => {
    write($("status"), "This model was deleted.");
    store.clear();
    setTimeout(refresh, 1000);
  },
});

const choose = name => {
  store.clear();
  scatter.forget();
  lists.alarms.forget();
  write($("status"), "Waiting for the first answer.");
  history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  connection.open(name);
};

// The model that the address names, so that a page can be marked and sent.
const named = () => {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
};

// Models come and go; the one that is shown stays as long as it is there.
const refresh = async () => {
  const answer = await ask("models").catch(() => null);
  if (!answer || !answer.ok) return;
  const names = (await answer.json()).models.map(model => model.name);
  const shown = [connection.model, named()].find(name => names.includes(name)) ?? names[0];
  options($("model"), names.map(name => [name, name]), shown ?? "");
  if (shown === undefined) {
    write($("status"), "There is no model yet; PUT one to models/<name>.");
    tell("waiting", 0);
    write($("connection"), "no model");
  } else if (shown !== connection.model) choose(shown);
};

const repaint = () => {
  forgetColours();
  charts.forEach(chart => chart.repaint());
  scatter.redraw();
};

const listen = () => {
  $("model").addEventListener("change", event => choose(event.target.value));
  addEventListener("hashchange", () => {
    const known = [...$("model").options].map(option => option.value), asked = named();
    if (!known.includes(asked) || asked === connection.model) return;
    $("model").value = asked;
    choose(asked);
  });
  $("range").addEventListener("change", draw);
  $("pause").addEventListener("click", event => {
    isPaused = !isPaused;
    event.target.setAttribute("aria-pressed", String(isPaused));
    if ($("connection").dataset.state === "live") tell("live");
    if (!isPaused) draw();
  });
  $("theme").addEventListener("click", event => {
    const root = document.documentElement, next = THEMES[root.dataset.theme || ""];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    try { localStorage.setItem("okspca-theme", next); } catch { /* then it holds for this page */ }
    write(event.target, SAID[next]);
    repaint();
  });
  $("logout").addEventListener("click", async () => {
    const headers = {"X-CSRF-Token": session.csrf, "Content-Type": "application/json"};
    await ask("logout", {method: "POST", headers, body: "{}"}).catch(() => null);
    location.replace(`login${location.hash}`);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  document.addEventListener("visibilitychange", due);
  write($("theme"), SAID[document.documentElement.dataset.theme || ""]);
};

const start = async () => {
  const answer = await ask("session").catch(() => null);
  if (answer && answer.status === 401) return;
  if (!answer || !answer.ok) {
    tell("waiting", 3);
    setTimeout(start, 3000);
    return;
  }
  session = await answer.json();
  $("logout").hidden = !session.csrf;
  await refresh();
  setInterval(refresh, LIST_MS);
};

listen();
start();
