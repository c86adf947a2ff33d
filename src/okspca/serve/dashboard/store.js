// What is known of one model: its latest state, its history and its alarms, in bounded memory.

export const MOST_POINTS = 600;
export const MOST_ALARMS = 100;
const NAMES = ["rows", "rho_lower", "angle_upper", "distance", "low", "high", "score", "recent", "baseline",
  "rows_per_second", "requests_per_second", "p50", "p99", "t2", "t2_limit", "t2_trend", "t2_trend_limit",
  "spe", "spe_limit", "spe_trend", "spe_trend_limit"];

const empty = () => Object.fromEntries(["time", ...NAMES].map(name => [name, []]));

const point = state => {
  const score = state.score || {}, certificate = state.certificate || {}, stability = state.stability || {};
  const monitor = state.monitor || {}, latency = state.latency_ms || {};
  const found = {...state, ...certificate, ...stability, ...monitor, ...latency,
    score: score.running, recent: score.recent, baseline: score.baseline};
  return NAMES.map(name => typeof found[name] === "number" ? found[name] : null);
};

const key = alarm => `${alarm.row} ${alarm.statistic} ${alarm.time}`;

export class Store {
  constructor() {
    this.clear();
  }

  clear() {
    this.state = null;
    this.columns = empty();
    this.alarms = [];
    this.known = null;
  }

  // Takes a state; returns the alarms that are new since the one before.
  take(state) {
    if (state.history) this.replace(state.history);
    const {history, ...rest} = state;
    this.state = rest;
    this.append(rest);
    return this.note(rest.alarms || []);
  }

  replace(history) {
    this.columns = empty();
    const times = history.time || [];
    times.forEach((time, i) => {
      if (i && !(time > times[i - 1])) return;
      this.columns.time.push(time);
      NAMES.forEach(name => this.columns[name].push((history[name] || [])[i] ?? null));
    });
    while (this.columns.time.length > MOST_POINTS) this.thin();
  }

  append(state) {
    const times = this.columns.time, last = times[times.length - 1];
    if (state.time < last) this.columns = empty();  // the clock of the server was set back
    if (state.time === last) return;
    const values = point(state);
    this.columns.time.push(state.time);
    NAMES.forEach((name, i) => this.columns[name].push(values[i]));
    if (this.columns.time.length > MOST_POINTS) this.thin();
  }

  // Every second point of the older half goes: what is recent stays fine.
  thin() {
    const half = this.columns.time.length / 2;
    for (const name of Object.keys(this.columns))
      this.columns[name] = this.columns[name].filter((_, i) => i >= half || i % 2 === 0);
  }

  note(alarms) {
    const isFirst = this.known === null, known = this.known || new Set();
    const fresh = alarms.filter(alarm => !known.has(key(alarm)));
    // One that goes on has grown since.
    const grown = new Map(alarms.map(alarm => [key(alarm), alarm]));
    this.alarms = [...this.alarms.map(alarm => grown.get(key(alarm)) || alarm), ...fresh].slice(-MOST_ALARMS);
    this.known = new Set(this.alarms.map(key));
    return isFirst ? [] : fresh;
  }

  // Columns of the last so many seconds; all of them for 0.
  since(seconds) {
    const times = this.columns.time;
    if (!seconds || !times.length) return this.columns;
    const from = times.findIndex(time => time >= times[times.length - 1] - seconds);
    return Object.fromEntries(Object.entries(this.columns).map(([name, all]) => [name, all.slice(from)]));
  }
}
