// Elements are made with text only: names of columns, classes and models may hold anything.

export const element = (tag, parent, text, name) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  if (parent) parent.append(made);
  return made;
};

// Writing what is there already would make screen readers and selections start anew.
export const write = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

export const options = (list, names, chosen) => {
  const wanted = JSON.stringify(names);
  if (list.dataset.names !== wanted) {
    list.dataset.names = wanted;
    list.replaceChildren();
    for (const [value, text] of names) element("option", list, text).value = value;
  }
  list.value = chosen;
};

// Colours as style.css has them for the theme in use.
let palette = {};
export const colour = name => {
  if (!(name in palette))
    palette[name] = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  return palette[name];
};
export const forgetColours = () => { palette = {}; };

// A frame for one picture: what it shows in words, the picture, and the same as a table.
export class Frame {
  constructor(id, title) {
    this.body = document.getElementById(id);
    this.title = title;
    this.plot = element("div", this.body, undefined, "plot");
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", title);
    this.wide = element("div", this.body, undefined, "wide");
    this.wide.tabIndex = 0;
    this.wide.setAttribute("role", "region");
    this.wide.setAttribute("aria-label", `${title}: table`);
    this.wide.hidden = true;
    this.empty = element("p", this.body, "", "empty");
    this.button = element("button", this.body.parentElement.querySelector(".head"), "Table", "table");
    this.button.type = "button";
    this.button.setAttribute("aria-pressed", "false");
    this.button.setAttribute("aria-label", `${title}: show as a table`);
    this.button.addEventListener("click", () => {
      const shown = this.wide.hidden;
      this.wide.hidden = !shown;
      this.button.setAttribute("aria-pressed", String(shown));
      this.changed();
    });
  }

  // Drawn anew by its owner.
  changed() {}

  get isTable() {
    return !this.wide.hidden;
  }

  // Shows the picture, or says why there is none.
  show(reason) {
    write(this.empty, reason || "");
    this.empty.hidden = !reason;
    this.plot.hidden = Boolean(reason) || this.isTable;
    this.button.hidden = Boolean(reason);
    return !reason;
  }

  describe(text) {
    const told = `${this.title}. ${text}`;
    if (this.plot.getAttribute("aria-label") !== told) this.plot.setAttribute("aria-label", told);
  }

  table(header, rows) {
    const table = document.createElement("table");
    const first = element("tr", element("thead", table));
    for (const name of header) element("th", first, name).scope = "col";
    const body = element("tbody", table);
    for (const row of rows) {
      const line = element("tr", body);
      row.forEach(cell => element("td", line, cell));
    }
    this.wide.replaceChildren(table);
  }
}

// Names with bars of their shares.
export const bars = (list, items, alarming) => {
  list.className = alarming ? "bars alarming" : "bars";
  while (list.children.length > items.length) list.lastChild.remove();
  items.forEach(([name, share, text], i) => {
    let line = list.children[i];
    if (!line) {
      line = element("li", list);
      element("span", line, "", "name");
      element("div", element("div", line, undefined, "track"), undefined, "bar");
      element("span", line, "", "value");
    }
    const [called, track, value] = line.children;
    write(called, name);
    called.title = name;
    track.firstChild.style.width = `${Math.min(Math.max(100 * share, 0), 100)}%`;
    write(value, text);
  });
};
