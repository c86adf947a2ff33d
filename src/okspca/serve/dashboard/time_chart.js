// Lines over time, drawn by uPlot.

import {Frame, colour, element, write} from "./dom.js";
import {UNKNOWN, clock, number} from "./words.js";

const FONT = "11px system-ui, sans-serif", ROWS = 12;
const MINUTE = 60, DAY = 86400;

const ticks = (plot, splits, axis, space, step) => splits.map(at => {
  const t = new Date(1000 * at), told = clock(at);
  if (step >= DAY) return `${t.getDate()} ${t.toLocaleString("en", {month: "short"})}`;
  return step >= MINUTE ? told.slice(0, 5) : told;
});

const powers = (plot, splits) => splits.map(value => {
  if (value === null) return "";
  const power = Math.round(Math.log10(value));
  if (Math.abs(Math.log10(value) - power) > 1e-9) return "";
  return value >= 0.01 && value <= 1000 ? String(value) : `1e${power}`;
});

// So few whole powers that their names have room.
const sparse = most => (plot, axis, low, high) => {
  const from = Math.round(Math.log10(low)), to = Math.round(Math.log10(high));
  const step = Math.ceil((to - from) / most), found = [];
  for (let power = to; power >= from; power -= step) found.unshift(10 ** power);
  return found;
};

// A logarithmic axis over whole powers of ten.
const decades = (plot, low, high) => {
  if (low === null || high === null) return [0.1, 10];
  const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
  return [10 ** from, 10 ** Math.max(to, from + 1)];
};

// Room above and below, and none to a scale that is constant.
const roomy = (least, most) => (plot, low, high) => {
  if (low === null || high === null) return [0, 1];
  const from = Math.max(low, least), to = Math.min(high, most);
  const room = 0.06 * (to - from) || 0.05 * Math.abs(to) || 1;
  return [Math.max(from - room, least === 0 ? 0 : -Infinity), to + room];
};

export class TimeChart {
  // series: {label, of(columns), colour, dash, width, scale, text}; options: log, least, most,
  // lines (values marked across), right (name of a second scale), bands, zero (smallest on a log axis).
  constructor(id, title, series, options = {}) {
    this.series = series;
    this.options = options;
    this.frame = new Frame(id, title);
    this.frame.changed = () => this.draw(this.columns, this.alarms);
    this.legend = element("ul", undefined, undefined, "legend");
    this.frame.plot.before(this.legend);
    this.values = series.map(one => this.entry(one));
    new ResizeObserver(() => this.resize()).observe(this.frame.plot);
  }

  entry(one) {
    if (!one.label) return null;
    const line = element("li", this.legend);
    const swatch = element("span", line, undefined, "swatch");
    element("span", line, one.label);
    return {swatch, value: element("b", line, UNKNOWN)};
  }

  get size() {
    return {width: Math.max(this.frame.plot.clientWidth, 50), height: Math.max(this.frame.plot.clientHeight, 50)};
  }

  resize() {
    if (this.plot && this.frame.plot.clientWidth) this.plot.setSize(this.size);
  }

  axis(scale, side) {
    const isLog = scale === "y" && this.options.log;
    return {
      scale, side, size: 46, font: FONT, gap: 3, stroke: () => colour("quiet"),
      grid: {show: side === 3, stroke: () => colour("grid"), width: 1}, ticks: {show: false},
      values: isLog ? powers : (plot, splits) => splits.map(value => value === null ? "" : number(value)),
      space: 28, ...(isLog ? {splits: sparse(5), filter: (plot, splits) => splits} : {}),
    };
  }

  scale(name) {
    if (name === "y" && this.options.log) return {distr: 3, range: decades};
    const {least = -Infinity, most = Infinity} = this.options;
    return {range: name === "y" ? roomy(least, most) : roomy(0, Infinity)};
  }

  make(data) {
    const {right, bands} = this.options;
    const time = {
      font: FONT, size: 24, gap: 3, stroke: () => colour("quiet"), values: ticks, space: 64,
      grid: {show: false}, ticks: {stroke: () => colour("line"), width: 1, size: 4},
    };
    const lines = this.series.map(one => ({
      label: one.label || "", scale: one.scale || "y", width: one.width ?? 1.6, dash: one.dash,
      stroke: () => one.colour ? colour(one.colour) : "transparent",
      points: {show: false}, spanGaps: false,
    }));
    const scales = {x: {time: true}, y: this.scale("y")};
    if (right) scales[right] = this.scale(right);
    this.plot = new uPlot({
      ...this.size, scales, series: [{}, ...lines], bands: bands && bands(),
      axes: [time, this.axis("y", 3), ...(right ? [this.axis(right, 1)] : [])],
      legend: {show: false}, padding: [6, right ? 0 : 22, 0, 0],
      cursor: {y: false, drag: {setScale: false}, points: {size: 6}, sync: {key: "okspca"}},
      hooks: {draw: [plot => this.mark(plot)], setCursor: [plot => this.tell(plot.cursor.idx)]},
    }, data, this.frame.plot);
  }

  // Alarms as lines down, limits as lines across.
  mark(plot) {
    const pen = plot.ctx, {left, top, width, height} = plot.bbox;
    pen.save();
    pen.setLineDash([]);
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    pen.lineWidth = devicePixelRatio;
    pen.strokeStyle = colour("bad");
    for (const value of this.options.lines || []) {
      const y = Math.round(plot.valToPos(value, "y", true));
      pen.beginPath();
      pen.moveTo(left, y);
      pen.lineTo(left + width, y);
      pen.stroke();
    }
    pen.globalAlpha = 0.35;
    for (const x of new Set(this.alarms.map(alarm => Math.round(plot.valToPos(alarm.time, "x", true))))) {
      pen.beginPath();
      pen.moveTo(x, top);
      pen.lineTo(x, top + height);
      pen.stroke();
    }
    pen.restore();
  }

  draw(columns, alarms) {
    if (!columns) return;
    this.columns = columns;
    this.alarms = this.options.alarms ? alarms : [];
    this.found = this.series.map(one => one.of(columns));
    const isThere = this.found.some(values => values.some(value => value !== null));
    this.legend.hidden = !isThere;
    if (!this.frame.show(isThere ? "" : this.options.empty || "Nothing is known yet.")) return;
    if (this.frame.isTable) this.list();
    else {
      const data = [columns.time, ...this.found];
      if (this.plot) this.plot.setData(data);
      else this.make(data);
      this.resize();
    }
    this.tell(this.plot && this.plot.cursor.idx);
    this.frame.describe(this.summary());
  }

  // Colours have changed.
  repaint() {
    if (this.plot) this.plot.redraw(false);
    this.paint();
  }

  paint() {
    this.values.forEach((entry, i) => {
      if (!entry) return;
      entry.swatch.style.borderTopColor = colour(this.series[i].colour);
      entry.swatch.style.borderTopStyle = this.series[i].dash ? "dashed" : "solid";
    });
  }

  text(i, at) {
    const {text = number} = this.series[i], value = this.found[i][at];
    return value === null || value === undefined ? UNKNOWN : text(this.series[i].back ? this.series[i].back(value) : value);
  }

  // Values under the cursor, or the latest.
  tell(place) {
    if (!this.found) return;
    const at = place ?? this.columns.time.length - 1;
    this.paint();
    this.values.forEach((entry, i) => entry && write(entry.value, this.text(i, at)));
  }

  summary() {
    const times = this.columns.time, last = times.length - 1;
    const told = this.values.flatMap((entry, i) => {
      if (!entry) return [];
      const known = this.found[i].filter(value => value !== null);
      if (!known.length) return [];
      const {text = number, back = value => value} = this.series[i];
      const range = `between ${text(back(Math.min(...known)))} and ${text(back(Math.max(...known)))}`;
      return [`${this.series[i].label}: now ${this.text(i, last)}, ${range}`];
    });
    return `From ${clock(times[0])} to ${clock(times[last])}. ${told.join("; ")}.`;
  }

  list() {
    const times = this.columns.time, n = times.length, shown = Math.min(n, ROWS);
    const places = Array.from({length: shown}, (_, i) => n - 1 - Math.round(i * (n - 1) / Math.max(shown - 1, 1)));
    const named = this.series.map((one, i) => i).filter(i => this.series[i].label);
    const header = ["time", ...named.map(i => this.series[i].label)];
    this.frame.table(header, places.map(at => [clock(times[at]), ...named.map(i => this.text(i, at))]));
  }
}
