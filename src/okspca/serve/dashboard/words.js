// Numbers, times and the status of a model in plain words.

const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
export const UNKNOWN = "–";

export const count = value => value === null || value === undefined ? UNKNOWN : whole.format(value);

export const number = (value, digits = 3) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1).replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
};

// Rounded to the safe side: a share that is proven is never told as more.
export const proven = share => {
  if (share === null || share === undefined) return UNKNOWN;
  if (share >= 1) return "100 %";
  const nines = share > 0 ? Math.floor(-Math.log10(1 - share)) : 0;
  const digits = Math.min(Math.max(nines - 1, 1), 5), power = 10 ** digits;
  return `${(Math.floor(share * 100 * power) / power).toFixed(digits)} %`;
};

// Rounded up, since it is a bound from above.
export const bound = value => {
  if (value === null || value === undefined) return UNKNOWN;
  if (value <= 0) return "0";
  const power = 10 ** (Math.floor(Math.log10(value)) - 1);
  return number(Math.ceil(value / power * (1 - 1e-12)) * power, 2);
};

export const percent = share => share === null || share === undefined ? UNKNOWN : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

const two = value => String(value).padStart(2, "0");

export const clock = seconds => {
  const t = new Date(1000 * seconds);
  return `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`;
};

export const moment = (seconds, now) => {
  const t = new Date(1000 * seconds), day = new Date(1000 * now).toDateString();
  return t.toDateString() === day ? clock(seconds) :
    `${t.getDate()} ${t.toLocaleString("en", {month: "short"})} ${clock(seconds)}`;
};

export const span = seconds => {
  if (seconds < 90) return `${Math.max(Math.round(seconds), 0)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
};

export const ago = seconds => seconds < 10 ? "just now" : `${span(seconds)} ago`;

export const rate = value => value === null || value === undefined ? UNKNOWN : value >= 100 ? count(value) : number(value, 2);

export const STATISTICS = {t2: "T²", spe: "SPE", target: "target error"};
export const statistic = name => {
  const [first, trend] = name.split(" ");
  return trend ? `trend of ${STATISTICS[first] || first}` : STATISTICS[first] || first;
};

// When an alarm was raised last.
const last_time = alarm => alarm.last_time ?? alarm.time;

// How long an alarm has gone on: from which row to which, and how often it was raised.
export const rows = alarm => {
  const n = alarm.n || 1;
  return n > 1 ? `rows ${count(alarm.row)} to ${count(alarm.last_row)}, ${count(n)} times` : `row ${count(alarm.row)}`;
};

// An alarm counts as present for so many seconds.
const PRESENT = 600;

export const alarming = (state, alarms) =>
  alarms.length > 0 && state.time - last_time(alarms[alarms.length - 1]) < PRESENT;

// Both ends are kept: names often begin alike.
const shortened = (name, most = 28) => name.length <= most ? name :
  `${name.slice(0, most / 2)}…${name.slice(1 - most / 2)}`;

const control = (state, alarms) => {
  if (!state.rows) return "Waiting for rows.";
  if (!state.certificate) return "Holding rows back.";
  if (alarming(state, alarms)) {
    const last = alarms[alarms.length - 1], from = Object.keys(last.inputs || {})[0];
    const most = from === undefined ? "" : `, most from ${shortened(from)}`;
    return `Alarm ${ago(state.time - last_time(last))}: ${statistic(last.statistic)}${most}.`;
  }
  return state.monitor ? "In control." : "Learning.";
};

// What comes first is stressed; the rest is told after it.
export const status = (state, alarms) => {
  const first = control(state, alarms), proof = state.certificate;
  const speed = state.rows_per_second === null || state.rows_per_second === undefined ? "" :
    `, ${rate(state.rows_per_second)} a second`;
  const parts = [`${count(state.rows)} rows learned${speed}`];
  if (state.rows_waiting) parts.push(`${count(state.rows_waiting)} waiting`);
  if (state.pilot_rows_left) parts.push(`${count(state.pilot_rows_left)} more until the features are final`);
  if (proof && proof.rho_lower !== null) {
    const angle = proof.angle_upper === null ? "" : `, proven within ${bound(proof.angle_upper)} degrees`;
    parts.push(`at least ${proven(proof.rho_lower)} of the best objective${angle}`);
  }
  return [first, `${parts.join("; ")}.`];
};
