"use strict";
// Only conveniences: the page reads without any of this.
(() => {
  const value = (row, at) => {
    const cell = row.cells[at];
    const text = (cell.dataset.sort ?? cell.textContent).trim();
    const number = parseFloat(text.replace(/^[*~<]/, "").replace("−", "-"));
    return Number.isNaN(number) || !/^[*~<+\-−]?\d/.test(text) ? text : number;
  };
  const order = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return a.localeCompare(b, document.documentElement.lang, { numeric: true });
  };
  const sort = (table, heading) => {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row, heading.cellIndex), row]);
    rows.sort((a, b) => (down ? order(b[0], a[0]) : order(a[0], b[0])));
    body.append(...rows.map(([, row]) => row));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    if (table.tBodies[0].rows.length < 2) continue;
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => sort(table, heading));
    }
  }

  const element = (name, settings) => Object.assign(document.createElement(name), settings);
  const grid = document.querySelector("table.grid");
  if (grid && grid.querySelector(".marked")) {
    const label = element("label", { textContent: " " + grid.dataset.filter });
    const box = element("input", { type: "checkbox" });
    label.prepend(box);
    const tools = element("p", { className: "tools" });
    tools.append(label);
    grid.parentElement.before(tools);
    box.addEventListener("change", () => {
      for (const row of grid.tBodies[0].rows) {
        row.hidden = box.checked && !row.classList.contains("marked");
      }
    });
  }

  const tools = document.querySelector("#question-tools");
  const questions = [...document.querySelectorAll("details.question")];
  if (questions.length > 1) {
    tools.className = "tools";
    const search = element("input", { type: "search", placeholder: tools.dataset.search });
    search.setAttribute("aria-label", tools.dataset.search);
    const found = element("span", { className: "muted" });
    found.setAttribute("role", "status");
    const open = element("button", { type: "button", textContent: tools.dataset.all });
    const close = element("button", { type: "button", textContent: tools.dataset.none });
    tools.append(search, open, close, found);
    const shown = () => questions.filter((one) => !one.hidden);
    open.addEventListener("click", () => value_text().forEach((one) => (one.open = true)));
    close.addEventListener("click", () => value_text().forEach((one) => (one.open = false)));
    search.addEventListener("input", () => {
      const wanted = search.value.trim().toLowerCase();
      for (const one of questions) {
        one.hidden = wanted !== "" && !one.textContent.toLowerCase().includes(wanted);
      }
      found.textContent = wanted ? `${value_text().length} ${tools.dataset.found}` : "";
    });
  }

  const unfold = () => {
    const place = location.hash && document.getElementById(location.hash.slice(1));
    if (!place) return;
    for (let at = place; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    place.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details.part")) one.open = true;
  });
})();
