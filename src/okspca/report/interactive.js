// Makes the figures of a report live: hover for values, drag to zoom, tap a name to hide it.
// Each figure holds a picture, which stays for print and without scripts, and its data as JSON.
"use strict";
(() => {
  const QUIET = "#595959", GRID = "#e3e3e3", FONT = "12px system-ui, sans-serif";
  const HINT = matchMedia("(pointer: coarse)").matches ? "Tap a mark for its values." :
    "Drag over the picture to zoom, double click to go back.";
  const LEFT = 62, RIGHT = 12, TOP = 10, BOTTOM = 40, REACH = 14;

  const shown = value => {
    if (value === null || value === undefined) return "unknown";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) return String(Number(value.toPrecision(3)).toExponential());
    return String(Number(value.toPrecision(4)));
  };

  // Both ends are kept: names of one column often begin alike.
  const shortened = (name, most) => name.length <= most ? name :
    `${name.slice(0, most / 2)}\u2026${name.slice(1 - most / 2)}`;

  const element = (tag, parent, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    parent.append(made);
    return made;
  };

  // One axis: from data to pixels and back, linear or logarithmic.
  class Scale {
    constructor(low, high, log) {
      this.log = log;
      this.low = log ? Math.log10(low) : low;
      this.high = log ? Math.log10(high) : high;
      if (!(this.high > this.low)) { this.low -= 0.5; this.high += 0.5; }
    }
    place(from, to) { this.from = from; this.to = to; return this; }
    at(value) {
      const v = this.log ? Math.log10(value) : value;
      return this.from + (v - this.low) / (this.high - this.low) * (this.to - this.from);
    }
    back(pixel) {
      const v = this.low + (pixel - this.from) / (this.to - this.from) * (this.high - this.low);
      return this.log ? 10 ** v : v;
    }
    ticks(most) {
      const span = this.high - this.low, raw = span / most, power = 10 ** Math.floor(Math.log10(raw));
      const found = [];
      if (this.log && span < 2) {
        for (let e = Math.floor(this.low); e <= this.high; e++)
          for (const lead of [1, 2, 5]) found.push(Math.log10(lead) + e);
      } else {
        let step = [1, 2, 5, 10].map(lead => lead * power).find(each => each >= raw);
        if (this.log) step = Math.max(1, Math.round(step));
        for (let v = Math.ceil(this.low / step) * step; v <= this.high + 1e-9 * span; v += step)
          found.push(Math.abs(v) < 1e-9 * step ? 0 : v);
      }
      return found.filter(v => v >= this.low && v <= this.high).map(v => this.log ? 10 ** v : v);
    }
  }

  // Dark blue over grey to yellow: a sequence that survives colour blindness and grey print.
  const SHADES = [[0, 32, 77], [64, 75, 107], [124, 123, 120], [187, 174, 105], [255, 234, 70]];
  const shade = share => {
    const place = Math.min(Math.max(share, 0), 1) * (SHADES.length - 1), i = Math.min(Math.floor(place), 3);
    const mixed = SHADES[i].map((c, j) => Math.round(c + (place - i) * (SHADES[i + 1][j] - c)));
    return `rgb(${mixed.join(",")})`;
  };

  const SHAPES = [
    (p, r) => { p.moveTo(r, 0); p.arc(0, 0, r, 0, 7); },
    (p, r) => { p.moveTo(0, -r); p.lineTo(r, r); p.lineTo(-r, r); p.closePath(); },
    (p, r) => { p.rect(-r, -r, 2 * r, 2 * r); },
    (p, r) => { p.moveTo(0, -1.3 * r); p.lineTo(1.3 * r, 0); p.lineTo(0, 1.3 * r); p.lineTo(-1.3 * r, 0); p.closePath(); },
    (p, r) => { p.moveTo(0, r); p.lineTo(r, -r); p.lineTo(-r, -r); p.closePath(); },
    (p, r) => { p.moveTo(-r, 0); p.lineTo(r, 0); p.moveTo(0, -r); p.lineTo(0, r); },
    (p, r) => { p.moveTo(-r, -r); p.lineTo(r, r); p.moveTo(-r, r); p.lineTo(r, -r); },
  ];

  const mark = (pen, x, y, series, r) => {
    const shape = series.mark % SHAPES.length;
    pen.beginPath();
    pen.save(); pen.translate(x, y); SHAPES[shape](pen, r); pen.restore();
    pen.strokeStyle = pen.fillStyle = series.colour;
    if (shape >= 5 || series.hollow) pen.stroke(); else pen.fill();
  };

  class Plot {
    constructor(figure, data) {
      this.data = data;
      this.hidden = new Set();
      this.box = element("div", figure, undefined, "interactive");
      figure.insertBefore(this.box, figure.querySelector("figcaption"));
      element("div", this.box, data.title, "title");
      this.bar = element("div", this.box, undefined, "bar");
      this.canvas = element("canvas", this.box);
      this.canvas.setAttribute("role", "img");
      this.canvas.setAttribute("aria-label", data.title);
      this.tip = element("div", this.box, undefined, "tip");
      this.status = element("div", this.box, data.kind === "bars" ? "" : HINT, "note");
      this.controls();
      this.legend();
      figure.classList.add("live");
      this.draw();
      new ResizeObserver(() => requestAnimationFrame(() => {
        if (this.box.clientWidth !== this.width) this.draw();
      })).observe(this.box);
      this.listen();
    }

    controls() {
      if (this.data.components) {
        this.pair = [0, Math.min(1, this.data.components.length - 1)];
        if (this.data.components.length > 2) ["Across", "Up"].forEach((word, side) => {
          const label = element("label", this.bar, `${word} `), list = element("select", label);
          this.data.components.forEach((name, i) => { element("option", list, name).value = i; });
          list.value = this.pair[side];
          list.onchange = () => { this.pair[side] = Number(list.value); this.view = null; this.draw(); };
        });
      }
      if (this.data.kind === "bars") return;
      const button = (text, title, work) => {
        const made = element("button", this.bar, text);
        made.type = "button"; made.title = title; made.onclick = () => { work(); this.draw(); };
      };
      button("+", "Zoom in", () => this.zoom(0.6));
      button("\u2212", "Zoom out", () => this.zoom(1 / 0.6));
      button("Reset", "Show everything", () => { this.view = null; this.hidden.clear(); this.legend(); });
    }

    legend() {
      if (this.names) this.names.remove();
      this.names = element("div", this.box, undefined, "names");
      this.box.insertBefore(this.names, this.canvas);
      if (this.data.range) return this.gradient();
      if (this.data.series.length < 2) return;
      this.data.series.forEach((series, i) => {
        const chip = element("button", this.names);
        chip.type = "button";
        chip.title = "Show or hide; double click shows only this one";
        chip.setAttribute("aria-pressed", String(!this.hidden.has(i)));
        const sign = element("canvas", chip);
        sign.width = sign.height = 14;
        mark(sign.getContext("2d"), 7, 7, series, 4.5);
        element("span", chip, series.name);
        chip.onclick = () => {
          if (!this.hidden.delete(i)) this.hidden.add(i);
          chip.setAttribute("aria-pressed", String(!this.hidden.has(i)));
          this.draw();
        };
        chip.ondblclick = () => {
          this.hidden = new Set(this.data.series.keys());
          this.hidden.delete(i);
          this.legend(); this.draw();
        };
      });
    }

    // What shades stand for.
    gradient() {
      const [low, high] = this.data.range;
      element("span", this.names, `${this.data.value_label}: ${shown(low)}`);
      const strip = element("canvas", this.names), pen = strip.getContext("2d");
      strip.width = 120; strip.height = 14;
      for (let x = 0; x < 120; x++) { pen.fillStyle = shade(x / 119); pen.fillRect(x, 0, 1, 14); }
      element("span", this.names, shown(high));
    }

    // Points of a series as [x, y, text], in the order in which they were given.
    points(series) {
      if (!this.data.components) return series.x.map((x, i) => [x, series.y[i], null]);
      const [across, up] = this.pair, y = this.data.components.length > 1 ? series.z[up] : series.y;
      return series.z[across].map((x, i) => [x, y[i], series.value ? series.value[i] : null]);
    }

    extent() {
      const ends = [Infinity, -Infinity, Infinity, -Infinity];
      for (const series of this.data.series)
        for (const [x, y] of this.points(series)) {
          if (x === null || y === null) continue;
          ends[0] = Math.min(ends[0], x); ends[1] = Math.max(ends[1], x);
          ends[2] = Math.min(ends[2], y); ends[3] = Math.max(ends[3], y);
        }
      if (this.data.from_zero) ends[2] = Math.min(0, ends[2]);
      const wider = (low, high, log) => {
        if (log) return [low / (1.15 * (high / low) ** 0.04), high * 1.15 * (high / low) ** 0.04];
        const room = 0.04 * (high - low || 1);
        return [low - room, high + room];
      };
      return [...wider(ends[0], ends[1], this.data.log_x), ...wider(ends[2], ends[3], this.data.log_y)];
    }

    zoom(factor) {
      if (!this.across) return;
      const around = (scale, a, b) => {
        const middle = (a + b) / 2, half = (b - a) / 2 * factor;
        return [scale.back(middle - half), scale.back(middle + half)];
      };
      const { from, to } = this.across;
      this.view = [...around(this.across, from, to), ...around(this.up, this.up.from, this.up.to)];
    }

    draw() {
      const width = this.box.clientWidth, bars = this.data.kind === "bars";
      this.width = width;
      if (!width) return;
      const rows = bars ? this.data.names.length : 0;
      const height = bars ? 54 + rows * 22 : 
        Math.max(260, this.data.kind === "lines" ? Math.min(0.5 * width, 360) : Math.min(0.66 * width, 520));
      const ratio = window.devicePixelRatio || 1;
      this.canvas.width = width * ratio; this.canvas.height = height * ratio;
      this.canvas.style.height = `${height}px`;
      const pen = this.canvas.getContext("2d");
      pen.scale(ratio, ratio); pen.font = FONT;
      this.targets = [];
      if (bars) return this.drawBars(pen, width, height);
      const [x0, x1, y0, y1] = this.view || this.extent();
      this.across = new Scale(x0, x1, this.data.log_x).place(LEFT, width - RIGHT);
      this.up = new Scale(y0, y1, this.data.log_y).place(height - BOTTOM, TOP);
      this.drawAxes(pen, width, height);
      pen.save();
      pen.beginPath(); pen.rect(LEFT, TOP, width - LEFT - RIGHT, height - TOP - BOTTOM); pen.clip();
      this.data.series.forEach((series, i) => { if (!this.hidden.has(i)) this.drawSeries(pen, series); });
      pen.restore();
    }

    drawAxes(pen, width, height) {
      pen.strokeStyle = GRID; pen.fillStyle = QUIET; pen.lineWidth = 1;
      pen.textAlign = "center"; pen.textBaseline = "top";
      for (const value of this.across.ticks(Math.max(4, width / 110))) {
        if (this.data.whole_x && !Number.isInteger(value)) continue;
        const x = this.across.at(value), half = pen.measureText(shown(value)).width / 2;
        pen.beginPath(); pen.moveTo(x, TOP); pen.lineTo(x, height - BOTTOM); pen.stroke();
        pen.fillText(shown(value), Math.min(x, width - half), height - BOTTOM + 5);
      }
      pen.fillText(this.data.components ? this.data.components[this.pair[0]] : this.data.x_label,
        (LEFT + width - RIGHT) / 2, height - 16);
      pen.textAlign = "right"; pen.textBaseline = "middle";
      const several = this.data.components && this.data.components.length > 1;
      for (const value of this.data.plain_y && !several ? [] : this.up.ticks(6)) {
        const y = this.up.at(value);
        pen.beginPath(); pen.moveTo(LEFT, y); pen.lineTo(width - RIGHT, y); pen.stroke();
        pen.fillText(shown(value), LEFT - 6, y);
      }
      pen.save(); pen.translate(11, (TOP + height - BOTTOM) / 2); pen.rotate(-Math.PI / 2);
      pen.textAlign = "center";
      pen.fillText(several ? this.data.components[this.pair[1]] : this.data.y_label, 0, 0);
      pen.restore();
    }

    drawSeries(pen, series) {
      const points = this.points(series).filter(([x, y]) => x !== null && y !== null);
      const places = points.map(([x, y]) => [this.across.at(x), this.up.at(y)]);
      if (this.data.kind === "lines") {
        pen.beginPath(); pen.lineWidth = 2; pen.strokeStyle = series.colour;
        places.forEach(([x, y], i) => i ? pen.lineTo(x, y) : pen.moveTo(x, y));
        pen.setLineDash(series.dashed ? [6, 4] : []); pen.stroke(); pen.setLineDash([]);
      }
      pen.globalAlpha = this.data.kind === "lines" ? 1 : 0.75;
      pen.lineWidth = 1.2;
      places.forEach(([x, y], i) => {
        const value = points[i][2], [low, high] = this.data.range || [0, 1];
        const own = value === null ? series : { ...series, colour: shade((value - low) / (high - low || 1)) };
        mark(pen, x, y, own, this.data.kind === "lines" ? 4 : 3);
        this.targets.push([x, y, series, points[i]]);
      });
      pen.globalAlpha = 1;
    }

    drawBars(pen, width, height) {
      const left = Math.min(190, 0.4 * width), shownSeries = this.data.series.filter((_, i) => !this.hidden.has(i));
      const most = Math.max(...shownSeries.flatMap(series => series.x), 1e-300);
      const scale = new Scale(0, most).place(left, width - 16), foot = 8 + this.data.names.length * 22;
      pen.strokeStyle = GRID; pen.fillStyle = QUIET; pen.textAlign = "center"; pen.textBaseline = "top";
      for (const value of scale.ticks(4)) {
        pen.beginPath(); pen.moveTo(scale.at(value), 4); pen.lineTo(scale.at(value), foot); pen.stroke();
        pen.fillText(shown(value), scale.at(value), foot + 2);
      }
      this.data.names.forEach((name, row) => {
        const top = 8 + row * 22, thick = 16 / Math.max(shownSeries.length, 1);
        pen.fillStyle = QUIET; pen.textAlign = "right"; pen.textBaseline = "middle";
        pen.fillText(shortened(name, 28), left - 8, top + 8, left - 10);
        shownSeries.forEach((series, i) => {
          const long = series.x[row] / most * (width - left - 16);
          pen.fillStyle = series.colour;
          pen.fillRect(left, top + i * thick, Math.max(long, 1), Math.max(thick - 1, 1));
          this.targets.push([left + long / 2, top + (i + 0.5) * thick, series, [series.x[row], null, name], long / 2 + 4]);
        });
      });
      pen.fillStyle = QUIET; pen.textAlign = "center";
      pen.fillText(this.data.x_label, (left + width) / 2, height - 12, width - left);
    }

    words(target) {
      const [, , series, [x, y, value]] = target, data = this.data;
      if (data.kind === "bars") return `${value}, ${series.name}: ${shown(x)}`;
      if (data.kind === "lines") return `${series.name}: ${shown(y)} at ${data.x_label} ${shown(x)}`;
      const label = value === null ? series.name : `${data.value_label} ${shown(value)}`;
      return `${label} (${shown(x)}, ${shown(y)})`;
    }

    nearest(x, y) {
      let best = null, least = REACH * REACH;
      for (const target of this.targets || []) {
        const wide = target[4] || 0, dx = Math.max(Math.abs(target[0] - x) - wide, 0), dy = target[1] - y;
        if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = target; }
      }
      return best;
    }

    listen() {
      const at = event => {
        const frame = this.canvas.getBoundingClientRect();
        return [event.clientX - frame.left, event.clientY - frame.top];
      };
      const hover = event => {
        const [x, y] = at(event), found = this.nearest(x, y);
        this.tip.style.display = found ? "block" : "none";
        if (!found) return;
        this.tip.textContent = this.words(found);
        const room = this.box.clientWidth - this.tip.offsetWidth - 4;
        this.tip.style.left = `${Math.max(0, Math.min(found[0] + 8, room))}px`;
        this.tip.style.top = `${this.canvas.offsetTop + Math.max(found[1] - 34, 0)}px`;
      };
      this.canvas.onpointerdown = event => {
        hover(event);
        if (event.pointerType === "touch" || this.data.kind === "bars") return;
        this.start = at(event);
        this.canvas.setPointerCapture(event.pointerId);
      };
      this.canvas.onpointermove = event => {
        hover(event);
        if (!this.start) return;
        const [x, y] = at(event), pen = this.canvas.getContext("2d");
        this.draw();
        pen.strokeStyle = QUIET; pen.setLineDash([4, 3]);
        pen.strokeRect(this.start[0], this.start[1], x - this.start[0], y - this.start[1]);
        pen.setLineDash([]);
        this.count(this.start, [x, y]);
      };
      this.canvas.onpointerup = event => {
        if (!this.start) return;
        const first = this.start, last = at(event);
        this.start = null;
        if (Math.abs(first[0] - last[0]) > 6 && Math.abs(first[1] - last[1]) > 6) {
          const xs = [first[0], last[0]].sort((a, b) => a - b), ys = [first[1], last[1]].sort((a, b) => b - a);
          this.view = [...xs.map(x => this.across.back(x)), ...ys.map(y => this.up.back(y))];
        }
        this.draw();
      };
      this.canvas.onpointerleave = () => { this.tip.style.display = "none"; };
      this.canvas.ondblclick = () => { this.view = null; this.draw(); };
    }

    // Say what is inside a box that is being drawn.
    count(first, last) {
      if (this.data.kind !== "scatter") return;
      const inside = this.targets.filter(([x, y]) =>
        (x - first[0]) * (x - last[0]) <= 0 && (y - first[1]) * (y - last[1]) <= 0);
      const counted = new Map();
      for (const [, , series] of inside) counted.set(series.name, (counted.get(series.name) || 0) + 1);
      const most = [...counted].sort((a, b) => b[1] - a[1]).slice(0, 5);
      const classes = this.data.series.length > 1 ? `: ${most.map(([name, n]) => `${name} ${n}`).join(", ")}` : "";
      this.status.textContent = `${inside.length} rows in the box${inside.length ? classes : ""}`;
    }
  }

  for (const figure of document.querySelectorAll("figure.chart")) {
    const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    for (const each of data) new Plot(figure, each);
  }
})();
