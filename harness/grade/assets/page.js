"use strict";
// All that comes from the study is put in as text, never as markup.
const kind = document.body.dataset.kind;
const words = JSON.parse(document.body.dataset.words);
const at = (id) => document.getElementById(id);
const GRADES = { 1: 1, 0: 0, "-": null };
const SAID = new Map([[1, "right"], [0, "wrong"], [null, "unclear"], ["skip", "skipped"]]);
let ticket = null;
let busy;

const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);

async function ask(what, body) {
  const sent = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const reply = await fetch(`${kind}/${what}`, sent);
  if (!reply.ok) throw new Error(`${reply.status}`);
  return reply.json();
}

// A key that is pressed before the next answer is there would grade it unseen.
function wait(waiting) {
  busy = waiting;
  at("main").setAttribute("aria-busy", String(waiting));
}

async function act(what, body) {
  wait(true);
  try {
    show(await ask(what, body));
    at("failure").hidden = true;
  } catch (error) {
    at("failure").textContent = `${words.failed} (${error.message})`;
    at("failure").hidden = false;
  } finally {
    wait(false);
  }
}

function show(now) {
  const item = now.item;
  ticket = item && item.ticket;
  at("grader").textContent = now.policy ? `${now.grader} · ${now.policy}` : now.grader;
  at("count").textContent = fill(now.again ? words.count_again : words.count, now);
  const prospect = (now.prospect || []).map((row) => fill(words.prospects[row.prospect], row));
  at("prospect").textContent = prospect.join(" ");
  at("prospect").hidden = !prospect.length;
  at("bar").max = Math.max(now.total, 1);
  at("bar").value = now.done;
  at("last").textContent = summary(now.last);
  at("last").className = now.last && differs(now.last) ? "differs" : "";
  at("item").hidden = !item;
  at("over").hidden = Boolean(item);
  for (const button of document.querySelectorAll("button[data-key]")) {
    button.disabled = button.dataset.key === "u" ? !now.can_undo : !item;
  }
  note(false);
  at("note").value = "";
  at("main").focus({ preventScroll: true });
  if (!item) return;
  at("disputed").hidden = !item.disputed;
  at("edited").hidden = !item.edited;
  (kind === "answers" ? showAnswer : showCaption)(item);
  at("main").scrollTop = 0;
  window.scrollTo(0, 0);
}

function differs(last) {
  return last.proposal !== null && last.grade !== "skip" && last.grade !== null && last.proposal !== last.grade;
}

function summary(last) {
  if (!last) return "";
  const saved = last.grade === "skip" ? words.skipped : fill(words.saved, { grade: words[SAID.get(last.grade)] });
  if (last.proposal === null) return saved;
  return saved + " " + fill(words.proposal, { grade: words[SAID.get(last.proposal)] });
}

function showAnswer(item) {
  at("question").textContent = item.question;
  at("reference").textContent = item.reference;
  at("refusal").hidden = item.answerable;
  at("evidence").hidden = item.evidence.length === 0;
  at("places").replaceChildren(...item.evidence.flatMap(place));
  written(at("answer"), item.answer);
}

function showCaption(item) {
  at("figure").textContent = item.figure;
  at("picture").replaceChildren(picture(item.picture, item.figure));
  written(at("caption"), item.caption);
}

function written(element, text) {
  element.textContent = text.trim() ? text : words.empty;
  element.classList.toggle("empty", !text.trim());
}

function place(found) {
  const where = fill(words.place, found);
  const title = made("p", where, "where");
  const quotes = found.quotes.map((quote) => made("blockquote", quote));
  return [title, ...quotes, ...(found.picture === null ? [] : [picture(found.picture, where)])];
}

function made(tag, text, name = "text") {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = name;
  element.dir = "auto";
  return element;
}

function picture(name, about) {
  const link = document.createElement("a");
  const image = document.createElement("img");
  link.href = image.src = `${kind}/picture/${encodeURIComponent(name)}.png`;
  link.target = "_blank";
  link.rel = "noopener";
  link.title = words.enlarge;
  image.alt = fill(words.picture_of, { about });
  image.addEventListener("error", () => link.replaceWith(made("p", words.no_picture, "where")));
  link.append(image);
  return link;
}

function note(open) {
  at("noting").hidden = !open;
  document.querySelector("[data-key=n]").setAttribute("aria-expanded", String(open));
  if (open) at("note").focus({ preventScroll: true });
}

function press(key) {
  if (busy) return false;
  if (key === "u") act("undo", {});
  else if (ticket === null) return false;
  else if (key in GRADES) act("grade", { ticket, grade: GRADES[key], note: at("note").value || null });
  else if (key === "s") act("skip", { ticket });
  else if (key === "n") note(at("noting").hidden);
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === at("note")) {
    if (event.key === "Escape") {
      at("main").focus({ preventScroll: true });
      event.preventDefault();
    }
    return;
  }
  if (event.repeat) return; // a key held down grades one answer
  if (press(event.key.toLowerCase())) event.preventDefault();
});

for (const button of document.querySelectorAll("button[data-key]")) {
  button.addEventListener("click", () => press(button.dataset.key));
}

act("now");
