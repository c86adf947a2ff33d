// Colours and marks of classes, and colours of numbers, for light and dark grounds.

// Okabe and Ito's colours in the order of the house; on dark ground the dark ones are lightened.
const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9"];
const DARK = ["#4DA6E0", "#F07C2B", "#2BC49A", "#F2F2F2", "#DE96BE", "#F0B429", "#9AD6F7"];
export const MOST_CLASSES = 24;

const SHAPES = [
  (p, r) => { p.moveTo(r, 0); p.arc(0, 0, r, 0, 7); },
  (p, r) => { p.moveTo(0, -1.1 * r); p.lineTo(1.1 * r, r); p.lineTo(-1.1 * r, r); p.closePath(); },
  (p, r) => { p.rect(-r, -r, 2 * r, 2 * r); },
  (p, r) => { p.moveTo(-r, -r); p.lineTo(r, r); p.moveTo(-r, r); p.lineTo(r, -r); },
  (p, r) => { p.moveTo(0, -1.3 * r); p.lineTo(1.3 * r, 0); p.lineTo(0, 1.3 * r); p.lineTo(-1.3 * r, 0); p.closePath(); },
  (p, r) => { p.moveTo(0, 1.1 * r); p.lineTo(1.1 * r, -r); p.lineTo(-1.1 * r, -r); p.closePath(); },
  (p, r) => { p.moveTo(-1.2 * r, 0); p.lineTo(1.2 * r, 0); p.moveTo(0, -1.2 * r); p.lineTo(0, 1.2 * r); },
  (p, r) => { p.rect(-0.5 * r, -1.3 * r, r, 2.6 * r); },
  (p, r) => { p.moveTo(-1.2 * r, 0); p.lineTo(r, -1.1 * r); p.lineTo(r, 1.1 * r); p.closePath(); },
  (p, r) => { p.rect(-1.3 * r, -0.5 * r, 2.6 * r, r); },
  (p, r) => { p.moveTo(1.2 * r, 0); p.lineTo(-r, -1.1 * r); p.lineTo(-r, 1.1 * r); p.closePath(); },
  (p, r) => { p.moveTo(0, -1.3 * r); p.lineTo(0.7 * r, 0); p.lineTo(0, 1.3 * r); p.lineTo(-0.7 * r, 0); p.closePath(); },
];
const LINES = [3, 6];

// Runs from dark to light, or on dark ground from blue over grey to bright yellow: lightness alone tells.
const SCALES = {
  light: [[0, 32, 77], [64, 75, 107], [112, 112, 116], [146, 126, 70], [176, 140, 0]],
  dark: [[62, 110, 200], [110, 132, 176], [150, 152, 150], [205, 190, 110], [255, 234, 90]],
};

export const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

export const shade = share => {
  const stops = isDark() ? SCALES.dark : SCALES.light;
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1), i = Math.min(Math.floor(place), stops.length - 2);
  return `rgb(${stops[i].map((c, j) => Math.round(c + (place - i) * (stops[i + 1][j] - c))).join(",")})`;
};

export const classColour = place => (isDark() ? DARK : LIGHT)[place % LIGHT.length];

// The mark of a class: colours are used a second time with hollow marks.
export const mark = (pen, x, y, place, r) => {
  const shape = place % SHAPES.length;
  pen.beginPath();
  pen.save();
  pen.translate(x, y);
  SHAPES[shape](pen, r);
  pen.restore();
  pen.fillStyle = pen.strokeStyle = classColour(place);
  pen.lineWidth = 1.3;
  if (place >= LIGHT.length || LINES.includes(shape)) pen.stroke();
  else pen.fill();
};

export const dot = (pen, x, y, fill, r) => {
  pen.beginPath();
  pen.arc(x, y, r, 0, 7);
  pen.fillStyle = fill;
  pen.fill();
};

// A picture of a mark for legends.
export const sign = place => {
  const canvas = document.createElement("canvas"), ratio = devicePixelRatio || 1;
  canvas.width = canvas.height = 14 * ratio;
  canvas.style.width = canvas.style.height = "14px";
  canvas.setAttribute("aria-hidden", "true");
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  mark(pen, 7, 7, place, 4);
  return canvas;
};
