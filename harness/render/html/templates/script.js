"use strict";
// The page reads without any of this; only the comparison with a chosen baseline needs it.
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

  const element = (name, settings, ...children) => {
    const made = Object.assign(document.createElement(name), settings);
    made.append(...children);
    return made;
  };
  const { runs, values, metrics, pairs, verdicts, words, ...data } = JSON.parse(
    document.querySelector("#data").textContent,
  );
  const say = (key, names) => words[key].replace(/\{(\w+)\}/g, (_, name) => names[name]);
  const toolbar = document.querySelector("#view");
  const questions = [...document.querySelectorAll("details.question")];
  const rows = [...document.querySelectorAll("table.grid tr[data-question]")];
  const columns = [...document.querySelectorAll("table.grid thead th")].slice(-runs.length);

  // What is chosen: a control each; the part after # of the address holds what differs from the
  // start, behind the place that it leads to: #question-3&baseline=text_k4&show=lost
  const controls = [...toolbar.querySelectorAll("select")];
  toolbar.hidden = false;
  const tools = document.querySelector("#question-tools");
  if (questions.length > 1) {
    tools.className = "tools";
    const search = element("input", { type: "search", name: "find", autocomplete: "off" });
    search.placeholder = tools.dataset.search;
    search.setAttribute("aria-label", tools.dataset.search);
    const fold = (text, open) => {
      const button = element("button", { type: "button", textContent: text });
      button.addEventListener("click", () => {
        for (const one of questions) if (!one.hidden) one.open = open;
      });
      return button;
    };
    const status = element("span", { className: "muted" });
    status.setAttribute("role", "status");
    const { all, none } = tools.dataset;
    tools.append(search, fold(all, true), fold(none, false), status);
    controls.push(search);
  }
  const initial = controls.map((one) => one.value);
  const chosen = (name) => controls.find((one) => one.name === name)?.value ?? "";
  const baseline = () => Math.max(0, runs.indexOf(chosen("baseline")));
  const address = (place) => {
    const parts = controls
      .filter((one, at) => one.value !== initial[at])
      .map((one) => `${one.name}=${encodeURIComponent(one.value)}`);
    const after = [place, ...parts].filter(Boolean).join("&");
    return location.href.replace(/#.*/, "") + (after && `#${after}`);
  };
  const place = () => location.hash.slice(1).split("&").find((part) => !part.includes("=")) ?? "";
  const restore = () => {
    const found = new URLSearchParams(location.hash.slice(1));
    controls.forEach((one, at) => {
      one.value = found.get(one.name) ?? initial[at];
      if (one.selectedIndex === -1) one.value = initial[at];
    });
  };

  // How much better each shown run does on a question than the baseline, in the chosen measure.
  const gains = (question, base, others, by) =>
    others.flatMap((run) => {
      const [left, right] = [values[by][base][question], values[by][run][question]];
      return left === null || right === null ? [] : [(right - left) * data.better[by]];
    });
  const kept = (question, found) => {
    const { source, tag } = { source: chosen("source"), tag: chosen("tag") };
    if (source && data.sources[question] !== source) return false;
    if (tag && !data.tags[question].includes(tag)) return false;
    const known = values[0].map((cells) => cells[question]).filter((cell) => cell !== null);
    return {
      "": true,
      changed: found.some((gain) => gain !== 0),
      lost: found.some((gain) => gain < 0),
      won: found.some((gain) => gain > 0),
      wrong: known.length > 0 && known.every((cell) => cell === 0),
      informative: data.informative[question],
    }[chosen("show")];
  };

  const markGrid = (base, by) => {
    columns.forEach((heading, run) => heading.classList.toggle("base", run === base));
    for (const row of rows) {
      [...row.cells].slice(-runs.length).forEach((cell, run) => {
        const [gain = 0] = gains(row.dataset.question, base, [run], by);
        cell.classList.toggle("up", gain > 0);
        cell.classList.toggle("down", gain < 0);
        cell.classList.toggle("base", run === base);
        cell.title = gain ? say(gain > 0 ? "better_here" : "worse_here", { run: runs[base] }) : "";
      });
    }
  };

  // A contrast as the report has it, turned round where the baseline is its right-hand run.
  const turn = (text) => text.replace(/^[+-]/, (sign) => (sign === "+" ? "-" : "+"));
  const opposite = { better: "worse", worse: "better" };
  const contrast = (base, run) => {
    const [ahead, back] = [pairs[`${base},${run}`], pairs[`${run},${base}`]];
    if (ahead || typeof back !== "object") return ahead ?? back ?? words.not_in_report;
    const [factor, left, right, differences] = back;
    const turned = differences.map((one) => {
      if (!one) return one;
      const [verdict, mean, ...ends] = one;
      return [opposite[verdict] ?? verdict, ...[mean, ...ends.reverse()].map(turn)];
    });
    return [factor, right, left, turned];
  };
  const difference = (one, metric) => {
    if (!one) return element("td");
    const [verdict, mean, low, high] = one;
    const [word, tone] = verdicts[verdict];
    const gain = parseFloat(mean) * data.better[metric];
    const plain = tone === "muted" || verdict === "not_tested";
    const colour = plain || !gain ? "" : gain > 0 ? "good" : "bad";
    return element(
      "td",
      { className: tone },
      element("strong", { textContent: mean, className: colour }),
      ...(low ? [element("span", { className: "nb", textContent: ` [${low}, ${high}] ` })] : [" "]),
      element("span", { className: "verdict", textContent: word }),
    );
  };
  const fillDeltas = (base) => {
    document.querySelectorAll("#deltas tbody tr").forEach((row, run) => {
      while (row.cells.length > 2) row.lastElementChild.remove();
      row.querySelector(".change")?.remove();
      row.classList.toggle("base", run === base);
      if (run === base) {
        row.append(element("td", { textContent: words.is_baseline, colSpan: metrics.length + 1 }));
        return;
      }
      const turned = values[0][base].flatMap((_, question) => gains(question, base, [run], 0));
      const won = turned.filter((gain) => gain > 0).length;
      const lost = turned.filter((gain) => gain < 0).length;
      const tone = won > lost ? "good" : won < lost ? "bad" : "";
      const counts = { className: tone, textContent: say("won_lost", { won, lost }) };
      row.append(element("td", {}, element("span", counts)));
      const found = contrast(base, run);
      if (typeof found === "string") {
        const why = { className: "muted", textContent: found, colSpan: metrics.length };
        row.append(element("td", why));
        return;
      }
      const [factor, left, right, differences] = found;
      const change = `${factor} ${left}${words.arrow}${right}`;
      row.cells[0].append(element("span", { className: "change", textContent: change }));
      row.append(...differences.map(difference));
    });
  };

  // The answers of a question beside that of the baseline, with the differing words marked.
  const CJK = "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}";
  const TOKEN = new RegExp(`[${CJK}]|(?:(?![${CJK}])[\\p{L}\\p{N}_])+|\\s+|.`, "gsu");
  const LONGEST = 1500;
  const changes = (base, text) => {
    const [left, right] = [base, text].map((one) => one.match(TOKEN) ?? []);
    if (Math.max(left.length, right.length) > LONGEST) return null;
    const wide = right.length + 1;
    const common = new Uint16Array((left.length + 1) * wide);
    for (let i = left.length - 1; i >= 0; i--) {
      for (let j = right.length - 1; j >= 0; j--) {
        common[i * wide + j] =
          left[i] === right[j]
            ? common[(i + 1) * wide + j + 1] + 1
            : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
      }
    }
    if (common[0] < 0.35 * Math.min(left.length, right.length)) return null;
    const pieces = [];
    const add = (kind, token) => {
      if (pieces.at(-1)?.[0] === kind) pieces.at(-1)[1] += token;
      else pieces.push([kind, token]);
    };
    let [i, j] = [0, 0];
    while (i < left.length || j < right.length) {
      if (left[i] === right[j]) add("", left[(i++, j++, i - 1)]);
      else if (j === right.length || common[(i + 1) * wide + j] >= common[i * wide + j + 1]) {
        add("del", left[i++]);
      } else add("ins", right[j++]);
    }
    return pieces;
  };
  const texts = new Map();
  const textOf = (answer) => {
    if (!texts.has(answer)) {
      const copy = answer.querySelector(":scope > .text")?.cloneNode(true);
      copy?.querySelectorAll("del").forEach((gone) => gone.remove());
      texts.set(answer, copy?.textContent);
    }
    return texts.get(answer);
  };
  const markAnswers = (question) => {
    const [base, run] = [baseline(), runs.indexOf(chosen("run"))];
    const answers = [...question.querySelectorAll(".answer")];
    const has = (answer, at) => answer.dataset.runs.split(" ").includes(String(at));
    const first = answers.find((answer) => has(answer, base));
    for (const answer of answers) {
      answer.hidden = run >= 0 && !has(answer, run) && !has(answer, base);
      answer.classList.toggle("first", answer === first);
      const text = textOf(answer);
      if (!text || !first || !textOf(first)) continue;
      const pieces = answer === first ? [["", text]] : changes(textOf(first), text);
      answer.querySelector(".unlike").hidden = pieces !== null;
      const marked = (pieces ?? [["", text]]).map(([kind, part]) =>
        kind ? element(kind, { textContent: part }) : part,
      );
      answer.querySelector(":scope > .text").replaceChildren(...marked);
    }
    const how = question.querySelector(":scope > .how");
    if (how && first) how.textContent = say("marked_against", { run: runs[base] });
  };

  let sorted = "";
  const show = () => {
    const base = baseline();
    const run = runs.indexOf(chosen("run"));
    const by = Math.max(0, metrics.indexOf(chosen("by")));
    const others = (run < 0 ? [...runs.keys()] : [run]).filter((at) => at !== base);
    markGrid(base, by);
    fillDeltas(base);
    const found = data.sources.map((_, question) => gains(question, base, others, by));
    const sums = found.map((every) => every.reduce((sum, gain) => sum + gain, 0));
    const wanted = chosen("find").trim().toLowerCase();
    const ranked = (a, b) =>
      (chosen("sort") ? sums[a.dataset.question] - sums[b.dataset.question] : 0) ||
      a.dataset.question - b.dataset.question;
    for (const list of [rows, questions]) {
      for (const one of list) one.hidden = !kept(one.dataset.question, found[one.dataset.question]);
      if (sorted || chosen("sort")) list[0]?.parentElement.append(...list.sort(ranked));
    }
    sorted = chosen("sort");
    for (const one of questions) {
      one.hidden ||= wanted !== "" && !one.textContent.toLowerCase().includes(wanted);
      if (one.open) markAnswers(one);
    }
    for (const [list, bar] of [[rows, toolbar], [questions, tools]]) {
      const status = bar.querySelector("[role=status]");
      const left = list.filter((one) => !one.hidden).length;
      if (status) status.textContent = say("shown_of", { shown: left, every: list.length });
    }
  };

  const unfold = () => {
    const target = place() && document.getElementById(place());
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  for (const one of questions) {
    one.addEventListener("toggle", () => {
      if (one.open) markAnswers(one);
    });
  }
  for (const one of controls) {
    one.addEventListener("input", () => {
      const keep = one.type === "search" ? "replaceState" : "pushState";
      history[keep](true, "", address(place()));
      show();
    });
  }
  // A link within the page keeps the view; the back button brings back the one of that time.
  addEventListener("popstate", (event) => {
    if (event.state === null && !location.hash.includes("=")) {
      history.replaceState(true, "", address(place()));
    } else {
      restore();
      show();
    }
    unfold();
  });
  restore();
  history.replaceState(true, "", address(place()));
  show();
  unfold();
})();
