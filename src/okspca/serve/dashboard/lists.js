// What is told as lists: the figures of now, inputs, alarms and rows set aside.

import {bars, element, write} from "./dom.js";
import {UNKNOWN, bound, count, moment, number, percent, proven, rate, rows, statistic} from "./words.js";

const MOST_BARS = 8, MOST_REASONS = 8;

const shares = (list, items, alarming) => {
  const shown = items.slice(0, MOST_BARS), rest = items.length - shown.length;
  bars(list, shown.map(([name, share]) => [name, share ?? 0, percent(share)]), alarming);
  return rest;
};

export class Figures {
  constructor() {
    this.list = document.getElementById("figures");
    this.cells = new Map();
  }

  put(name, value, isBad = false) {
    if (!this.cells.has(name)) {
      const box = element("div", this.list);
      element("dt", box, name);
      this.cells.set(name, [box, element("dd", box)]);
    }
    const [box, cell] = this.cells.get(name);
    write(cell, value);
    box.className = isBad ? "bad" : "";
  }

  draw(state, alarms, isAlarming) {
    const {score, certificate} = state, latency = state.latency_ms || {};
    this.put("rows learned", count(state.rows));
    this.put("rows a second", rate(state.rows_per_second));
    this.put("99 % answered within", latency.p99 === null || latency.p99 === undefined ? UNKNOWN : `${number(latency.p99)} ms`);
    const told = score && (score.measure === "R²" ? `R² ${number(score.recent)}` : `${percent(score.recent)} right`);
    this.put("recent rows predicted", told || UNKNOWN);
    this.put("of the best, proven", proven(certificate && certificate.rho_lower));
    this.put("degrees off, at most", bound(certificate && certificate.angle_upper));
    this.put("alarms", count(state.n_alarms ?? alarms.length), isAlarming);
  }
}

export class Inputs {
  constructor() {
    this.body = document.getElementById("inputs");
    this.empty = element("p", this.body, "", "empty");
    this.list = element("ul", this.body, undefined, "bars");
    this.rest = element("p", this.body, "", "note");
  }

  draw(state) {
    const items = (state.inputs || []).map(({name, share}) => [name, share]);
    this.empty.hidden = items.length > 0;
    write(this.empty, items.length ? "" : "Not known yet, or not known for this kind of model.");
    const rest = shares(this.list, items, false);
    write(this.rest, rest > 0 ? `and ${count(rest)} inputs with smaller shares` :
      items.length ? "Shares of what moves the components over the latest rows." : "");
  }
}

export class Alarms {
  constructor() {
    this.body = document.getElementById("alarms");
    this.empty = element("p", this.body, "", "empty");
    this.title = element("p", this.body, "", "chosen-title");
    this.bars = element("ul", this.body, undefined, "bars alarming");
    this.list = element("ul", this.body, undefined, "list");
    this.list.setAttribute("aria-label", "Alarms, newest first");
    this.forget();
  }

  forget() {
    this.chosen = null;
    this.shown = "";
    this.list.replaceChildren();
  }

  key(alarm) {
    return `${alarm.time} ${alarm.row} ${alarm.statistic}`;
  }

  draw(state, alarms) {
    const newest = [...alarms].reverse(), isWatched = Boolean(state.monitor);
    this.empty.hidden = newest.length > 0;
    write(this.empty, isWatched ? "None so far." : "Rows are not compared with limits yet.");
    this.title.hidden = this.bars.hidden = this.list.hidden = !newest.length;
    const keys = JSON.stringify(newest.map(alarm => [this.key(alarm), alarm.n]));
    if (keys !== this.shown) {
      this.shown = keys;
      this.fill(state, newest);
    }
    if (newest.length) this.choose(newest.find(alarm => this.key(alarm) === this.chosen) || newest[0]);
  }

  // The alarm that has the focus keeps it when others come.
  fill(state, newest) {
    const focused = this.list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.list.replaceChildren();
    for (const alarm of newest) {
      const line = element("li", this.list), button = element("button", line);
      button.type = "button";
      button.dataset.key = this.key(alarm);
      const when = element("time", button, moment(alarm.time, state.time));
      when.dateTime = new Date(1000 * alarm.time).toISOString();
      element("span", button, ` ${rows(alarm)} `, "row");
      element("strong", button, statistic(alarm.statistic));
      button.addEventListener("click", () => {
        this.chosen = this.key(alarm);
        this.choose(alarm);
      });
      if (button.dataset.key === focused) button.focus({preventScroll: true});
    }
  }

  choose(alarm) {
    const key = this.key(alarm);
    for (const line of this.list.children) {
      const isChosen = line.firstChild.dataset.key === key;
      line.className = isChosen ? "chosen" : "";
      line.firstChild.setAttribute("aria-pressed", String(isChosen));
    }
    write(this.title, alarm.sentence);
    shares(this.bars, Object.entries(alarm.inputs || {}), true);
  }
}

export class Aside {
  constructor() {
    this.body = document.getElementById("aside");
    this.told = element("p", this.body);
    this.list = element("ul", this.body, undefined, "list");
    this.list.setAttribute("aria-label", "Latest reasons");
    this.list.tabIndex = 0;
    this.link = element("a", this.body, "Download them as NDJSON");
  }

  draw(state, role) {
    const n = state.rows_set_aside ?? 0, reasons = (state.latest_set_aside || []).slice(-MOST_REASONS).reverse();
    write(this.told, n ? `${count(n)} rows could not be learned and were kept aside.` : "None: every row that came could be learned.");
    this.link.hidden = !n || role === "ask";
    this.link.href = `models/${encodeURIComponent(state.model)}/set-aside`;
    this.link.download = `${state.model}-set-aside.ndjson`;
    this.list.hidden = !reasons.length;
    while (this.list.children.length > reasons.length) this.list.lastChild.remove();
    reasons.forEach(({reason, row}, i) => {
      const line = this.list.children[i] || element("li", this.list);
      write(line, row === null || row === undefined ? reason : `Row ${count(row)}: ${reason}`);
    });
  }
}
