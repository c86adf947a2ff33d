// The latest rows in two coordinates, coloured by class or value; newer rows are stronger.

import {Frame, colour, element, options, write} from "./dom.js";
import {MOST_CLASSES, dot, isDark, mark, shade, sign} from "./marks.js";
import {count, number} from "./words.js";

const LEFT = 46, RIGHT = 8, TOP = 8, BOTTOM = 34, REACH = 16, ROW = "row", EDGE = 0.01;
export const MOST_ROWS = 500;

// Limits that grow at once and shrink slowly, so that the picture does not twitch.
class Limits {
  // So large a share of the values may lie beyond either of them.
  follow(values, beyond = 0) {
    const sorted = values.filter(value => value !== null).sort((a, b) => a - b), last = sorted.length - 1;
    if (last < 0) return;
    const [first, final] = [beyond, 1 - beyond].map(part => sorted[Math.round(part * last)]);
    const room = (0.05 + 10 * beyond) * (final - first) || 0.5, low = first - room, high = final + room;
    const slow = (old, now, isWider) => old === undefined || isWider ? now : old + 0.15 * (now - old);
    // What lies far off the picture in use (another model, another map) begins it anew.
    const isFar = this.low !== undefined && high - low < 0.1 * (this.high - this.low);
    this.low = slow(isFar ? undefined : this.low, low, low < this.low);
    this.high = slow(isFar ? undefined : this.high, high, high > this.high);
  }

  share(value) {
    return (value - this.low) / (this.high - this.low);
  }

  // The same for what is drawn at the edge where it lies beyond.
  inside(value) {
    return Math.min(Math.max(this.share(value), 0.005), 0.995);
  }

  ticks(most) {
    const raw = (this.high - this.low) / most, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(lead => lead * power).find(each => each >= raw), found = [];
    for (let v = Math.ceil(this.low / step) * step; v <= this.high; v += step)
      found.push(Math.abs(v) < 1e-9 * step ? 0 : Number(v.toPrecision(12)));
    return found;
  }
}

export class Scatter {
  constructor(id, title) {
    this.frame = new Frame(id, title);
    this.frame.changed = () => this.redraw();
    this.canvas = element("canvas", this.frame.plot);
    this.canvas.setAttribute("aria-hidden", "true");
    this.tip = element("div", this.frame.plot, "", "tip");
    this.tip.hidden = true;
    this.legend = element("ul", undefined, undefined, "legend");
    this.frame.plot.after(this.legend);
    this.axes = document.getElementById("axes");
    this.lists = [document.getElementById("across"), document.getElementById("up")];
    this.lists.forEach(list => list.addEventListener("change", () => this.choose()));
    this.canvas.addEventListener("pointermove", event => this.point(event));
    this.canvas.addEventListener("pointerdown", event => this.point(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    new ResizeObserver(() => this.redraw()).observe(this.frame.plot);
    this.forget();
  }

  // Another model: nothing of this one is kept.
  forget() {
    this.state = null;
    this.pair = null;
    this.limits = {};
    this.values = new Limits();
  }

  choose() {
    this.pair = this.lists.map(list => list.value);
    this.redraw();
  }

  redraw() {
    if (this.state) this.draw(this.state, true);
  }

  draw(state, isSame = false) {
    this.state = state;
    const rows = this.rows(state);
    this.legend.hidden = !rows;
    this.axes.hidden = !rows || this.frame.isTable;
    if (!this.frame.show(rows ? "" : this.reason(state))) return;
    this.isClass = state.task === "classification";
    if (!isSame) this.follow(rows);
    this.describe(rows);
    this.name(rows);
    if (this.frame.isTable) this.list(rows);
    else this.paint(rows);
  }

  reason(state) {
    if (!state.rows) return "No row was learned yet.";
    return state.pilot_rows_left ? `Rows are held back until ${count(state.pilot_rows_left)} more have come.` :
      "There is no embedding to show.";
  }

  // The rows that have a place, with the components that the basis has.
  rows(state) {
    const given = state.embedding;
    if (!given || !given.z.length) return null;
    const first = given.first_row || 0, from = Math.max(given.z.length - MOST_ROWS, 0), found = [];
    for (let i = from; i < given.z.length; i++)
      if (given.z[i] && given.z[i].every(value => value !== null))
        found.push({row: first + i, z: given.z[i], y: given.y[i], age: (given.z.length - 1 - i) / given.z.length});
    if (!found.length) return null;
    const width = found[0].z.length, rank = state.certificate ? state.certificate.rank : width;
    this.components = Array.from({length: width}, (_, j) => j).filter(j => j < rank || width === 1);
    if (!this.components.length) return null;
    this.axesFor();
    return found;
  }

  axesFor() {
    const names = [...this.components.map(j => [String(j), `okspca${j}`]), [ROW, "row number"]];
    const known = names.map(([value]) => value);
    const usual = this.components.length > 1 ? ["0", "1"] : [ROW, "0"];
    if (!this.pair || !this.pair.every(value => known.includes(value))) this.pair = usual;
    this.lists.forEach((list, side) => options(list, names, this.pair[side]));
  }

  value(row, axis) {
    return axis === ROW ? row.row : row.z[Number(axis)];
  }

  follow(rows) {
    for (const j of [...this.components.map(String), ROW]) {
      if (j === ROW) this.limits[j] = new Limits();  // moves on with the rows
      this.limits[j] = this.limits[j] || new Limits();
      this.limits[j].follow(rows.map(row => this.value(row, j)), j === ROW ? 0 : EDGE);
    }
    if (this.isClass) return;
    const known = rows.map(row => row.y).filter(y => typeof y === "number");
    if (known.length) this.values.follow(known, EDGE);
  }

  place(row) {
    const [across, up] = this.pair;
    return [
      LEFT + this.limits[across].inside(this.value(row, across)) * (this.width - LEFT - RIGHT),
      this.height - BOTTOM - this.limits[up].inside(this.value(row, up)) * (this.height - TOP - BOTTOM),
    ];
  }

  // Places of classes beyond those that are told apart are one.
  group(y) {
    return y === null || y === undefined ? MOST_CLASSES - 1 : Math.min(y, MOST_CLASSES - 1);
  }

  paint(rows) {
    const {clientWidth: width, clientHeight: height} = this.frame.plot, ratio = devicePixelRatio || 1;
    if (!width || !height) return;
    Object.assign(this, {width, height});
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.scales(pen);
    this.shown = rows.map(row => ({row, at: this.place(row)}));
    for (const {row, at} of this.shown) {
      pen.globalAlpha = 0.9 - 0.65 * row.age;
      if (this.isClass) mark(pen, ...at, this.group(row.y), 3);
      else dot(pen, ...at, typeof row.y === "number" ? shade(this.values.share(row.y)) : colour("quiet"), 3);
    }
    pen.globalAlpha = 1;
  }

  scales(pen) {
    const {width, height} = this, [across, up] = this.pair.map(axis => this.limits[axis]);
    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    pen.strokeStyle = colour("grid");
    pen.fillStyle = colour("quiet");
    pen.textAlign = "center";
    for (const v of across.ticks(Math.max(width / 90, 2))) {
      const x = Math.round(LEFT + across.share(v) * (width - LEFT - RIGHT)) + 0.5;
      this.line(pen, x, TOP, x, height - BOTTOM);
      pen.fillText(this.pair[0] === ROW ? count(v) : number(v), x, height - BOTTOM + 14);
    }
    pen.textAlign = "right";
    for (const v of up.ticks(Math.max(height / 60, 2))) {
      const y = Math.round(height - BOTTOM - up.share(v) * (height - TOP - BOTTOM)) + 0.5;
      this.line(pen, LEFT, y, width - RIGHT, y);
      pen.fillText(this.pair[1] === ROW ? count(v) : number(v), LEFT - 5, y + 4);
    }
    const called = axis => axis === ROW ? "row number" : `okspca${axis}, about its mean`;
    pen.textAlign = "center";
    pen.fillText(called(this.pair[0]), (LEFT + width - RIGHT) / 2, height - 4);
    pen.save();
    pen.translate(10, (TOP + height - BOTTOM) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(called(this.pair[1]), 0, 0);
    pen.restore();
  }

  line(pen, x0, y0, x1, y1) {
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
  }

  target(y) {
    if (y === null || y === undefined) return "unknown";
    return this.isClass ? String(this.state.classes[y]) : number(y, 4);
  }

  // The row under the pointer in words.
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let best = null, least = REACH;
    for (const one of this.shown || []) {
      const far = Math.hypot(one.at[0] - x, one.at[1] - y);
      if (far <= least) [best, least] = [one, far];
    }
    this.tip.hidden = !best;
    if (!best) return;
    write(this.tip, `row ${count(best.row.row)}: ${this.isClass ? "class" : "y ="} ${this.target(best.row.y)}`);
    const left = Math.min(best.at[0] + 10, this.width - this.tip.offsetWidth - 4);
    this.tip.style.left = `${Math.max(left, 0)}px`;
    this.tip.style.top = `${Math.max(best.at[1] - 26, 0)}px`;
  }

  groups(rows) {
    const found = new Map();
    for (const row of rows) {
      const place = this.group(row.y);
      found.set(place, [...(found.get(place) || []), row]);
    }
    return [...found].sort((a, b) => a[0] - b[0]);
  }

  called(place) {
    const {classes} = this.state;
    return place === MOST_CLASSES - 1 && classes.length > MOST_CLASSES ? "others" : this.target(place);
  }

  // The legend, written anew only where it has changed.
  name(rows) {
    const groups = this.isClass ? this.groups(rows).map(([place, own]) => [place, this.called(place), own.length]) : [];
    const scale = [this.values.low, this.values.high].map(value => value === undefined ? "" : number(value));
    const wanted = JSON.stringify([isDark(), this.isClass, this.isClass ? groups.map(g => g.slice(0, 2)) : scale]);
    if (this.legend.dataset.wanted !== wanted) {
      this.legend.dataset.wanted = wanted;
      this.legend.replaceChildren();
      if (this.isClass) groups.forEach(([place, called]) => this.entry(place, called));
      else if (scale[0]) this.scale(...scale);
    }
    groups.forEach(([, , n], i) => write(this.legend.children[i].lastChild, count(n)));
  }

  entry(place, called) {
    const line = element("li", this.legend);
    line.append(sign(place));
    element("span", line, called, "name").title = called;
    element("b", line, "");
  }

  scale(low, high) {
    const line = element("li", this.legend), ratio = devicePixelRatio || 1;
    element("span", line, `y = ${low}`);
    const canvas = element("canvas", line);
    canvas.setAttribute("aria-hidden", "true");
    Object.assign(canvas, {width: 120 * ratio, height: 10 * ratio});
    Object.assign(canvas.style, {width: "120px", height: "10px"});
    const pen = canvas.getContext("2d");
    for (let x = 0; x < canvas.width; x++) {
      pen.fillStyle = shade(x / (canvas.width - 1));
      pen.fillRect(x, 0, 1, canvas.height);
    }
    element("span", line, high);
  }

  describe(rows) {
    const colours = this.isClass ? "coloured by class" : "coloured by value";
    const told = this.isClass ? this.groups(rows).map(([place, own]) => `${this.called(place)}: ${own.length} rows`).join(", ") :
      `values from ${number(this.values.low)} to ${number(this.values.high)}`;
    this.frame.describe(`The latest ${count(rows.length)} rows in ${this.components.length} components, ${colours}; ${told}.`);
  }

  list(rows) {
    const middle = (own, j) => number(own.reduce((sum, row) => sum + row.z[j], 0) / own.length);
    const names = this.components.map(j => `okspca${j}`);
    if (this.isClass) {
      const lines = this.groups(rows).map(([place, own]) =>
        [this.called(place), count(own.length), ...this.components.map(j => middle(own, j))]);
      this.frame.table(["class", "rows", ...names.map(name => `mean ${name}`)], lines);
    } else {
      const lines = rows.slice(-15).reverse().map(row =>
        [count(row.row), this.target(row.y), ...this.components.map(j => number(row.z[j]))]);
      this.frame.table(["row", "y", ...names], lines);
    }
  }
}
