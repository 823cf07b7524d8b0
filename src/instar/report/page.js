"use strict";
const setUpSlider = (slider) => {
  const pair = slider.previousElementSibling;
  const move = () => pair.style.setProperty("--at", slider.value + "%");
  slider.addEventListener("input", move);
  // Whoever drags on the picture means the slider.
  const drag = (event) => {
    if (getComputedStyle(slider).display === "none") return;
    const box = pair.getBoundingClientRect();
    slider.value = (100 * (event.clientX - box.left)) / box.width;
    move();
  };
  pair.addEventListener("pointerdown", (event) => {
    drag(event);
    pair.addEventListener("pointermove", drag);
  });
  for (const end of ["pointerup", "pointerleave", "pointercancel"]) {
    pair.addEventListener(end, () => pair.removeEventListener("pointermove", drag));
  }
};
// Side by side, slider, blink, and in the workbench the drawing.
const setUpViews = (views) => {
  const pair = views.querySelector(".pair");
  const whole = views.querySelector("[data-show-whole]");
  const way = () => views.querySelector(".how input:checked")?.value;
  let timer = 0;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const flick = () => views.classList.toggle("after");
  views.addEventListener("change", () => {
    clearInterval(timer);
    const now = way();
    if (now === "flicker" && !calm) timer = setInterval(flick, 600);
    if (now === "drawing") {
      const img = views.querySelector(".drawing img");
      img.src ||= img.dataset.src;
    }
    const outlines = views.querySelector("[data-outlines]");
    views.classList.toggle("no-outlines", outlines && !outlines.checked);
    views.classList.toggle("whole", whole?.checked);
    for (const svg of views.querySelectorAll("[data-part]")) {
      svg.setAttribute("viewBox", whole?.checked ? svg.dataset.whole : svg.dataset.part);
    }
  });
  pair.addEventListener("click", () => {
    if (way() === "flicker") calm && flick();
    else if (way() !== "over") whole?.click();
  });
};
// On a telephone two pictures side by side would be two screens.
const setUpPictures = (root) => {
  root.querySelectorAll(".slider").forEach(setUpSlider);
  root.querySelectorAll(".views").forEach((views) => {
    setUpViews(views);
    if (matchMedia("(max-width: 720px)").matches) switchView(views, "over");
  });
};
const switchView = (views, way) => {
  const radios = [...views.querySelectorAll(".how input")];
  const at = radios.findIndex((radio) => radio.checked);
  (way ? radios.find((radio) => radio.value === way) : radios[(at + 1) % radios.length])?.click();
};
setUpPictures(document);
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button.copy");
  const code = button?.dataset.copy ?? button?.previousElementSibling?.matches("code");
  if (!code) return;
  const text = button.dataset.copy ?? button.previousElementSibling.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling ?? button);
  }
});
// What is called no failure is kept in a file that instar reads with --known.
const words = new Map();
const keepWords = () => {
  const bar = document.getElementById("words");
  const failures = [...words.values()].flat();
  const file = JSON.stringify({ what: "instar known failures", system: "", failures }, null, 1);
  bar.hidden = failures.length === 0;
  bar.querySelector("a").href = "data:application/json;charset=utf-8," + encodeURIComponent(file);
  bar.querySelector("span").textContent = words.size + (words.size === 1 ? " case" : " cases") + " called no failure,";
};
for (const form of document.querySelectorAll(".word")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const reason = form.elements.reason.value.trim();
    const entries = JSON.parse(form.dataset.entries);
    if (reason && entries.length) words.set(form, entries.map((entry) => ({ ...entry, no_failure: reason })));
    else words.delete(form);
    const kept = entries.length ? "kept" : "too long a name: use instar known";
    form.querySelector("button").textContent = reason ? kept : "keep";
    keepWords();
  });
}

// --- every finding: rows are made as they are looked at --------------------------------------------
const setUpFindings = (data) => {
  const { run, rows, words } = JSON.parse(data.textContent);
  const [CASE, SCENE, RELATION, WORDS, KNOWN, MARGIN, GROUP, COUNTS, PICTURED] = rows.length ? rows[0].keys() : [];
  const section = document.getElementById("all");
  const table = section.querySelector("tbody");
  const more = document.getElementById("more-rows");
  const toolbar = document.querySelector(".toolbar");
  const groups = [...document.querySelectorAll("details.group[data-group]")];
  const field = (id) => document.getElementById(id)?.value ?? "";
  const CHUNK = 100;
  const sorts = {
    what: (row) => row[WORDS], relation: (row) => words[row[RELATION]], scene: (row) => words[row[SCENE]],
    known: (row) => words[row[KNOWN]], margin: (row) => row[MARGIN] ?? Infinity, case: (row) => row[CASE],
  };
  let shown = rows;
  let made = 0;
  let order = "";
  let only = "";
  const cell = (line, text) => {
    const name = document.createElement("bdi");
    name.textContent = text;
    line.insertCell().append(name);
    return name;
  };
  const line = (row) => {
    const tr = document.createElement("tr");
    if (!row[COUNTS]) tr.className = "slight";
    for (const text of [row[WORDS], words[row[RELATION]], words[row[SCENE]], words[row[KNOWN]], row[MARGIN] ?? ""]) cell(tr, text);
    const last = tr.insertCell();
    const to = document.createElement(row[PICTURED] ? "a" : "button");
    to.textContent = row[CASE];
    if (row[PICTURED]) to.href = "#case-" + row[CASE];
    else Object.assign(to, { type: "button", className: "copy", title: "copy the command that replays it" });
    if (!row[PICTURED]) to.dataset.copy = "instar replay '" + run.replaceAll("'", "'\\''") + "' " + row[CASE];
    last.append(to);
    return tr;
  };
  const makeMore = () => {
    table.append(...shown.slice(made, made + CHUNK).map(line));
    made = Math.min(shown.length, made + CHUNK);
    more.hidden = made >= shown.length;
    document.getElementById("rows-shown").textContent = shown.length.toLocaleString("en") + (shown.length === 1 ? " finding" : " findings");
  };
  const choose = () => {
    const text = field("search").trim().toLowerCase();
    const [relation, known] = [field("by-relation"), field("by-known")];
    const fits = (row) =>
      (!relation || words[row[RELATION]] === relation) && (!known || words[row[KNOWN]] === known) &&
      (!text || [row[WORDS], words[row[SCENE]], words[row[RELATION]], row[CASE]].some((one) => one.toLowerCase().includes(text)));
    const fitting = rows.filter(fits);
    shown = only === "" ? fitting : fitting.filter((row) => row[GROUP] === Number(only));
    if (order) {
      const [key, sign] = order.startsWith("-") ? [sorts[order.slice(1)], -1] : [sorts[order], 1];
      shown = [...shown].sort((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : 0));
    }
    table.replaceChildren();
    made = 0;
    makeMore();
    const counts = new Map();
    for (const row of fitting) counts.set(row[GROUP], (counts.get(row[GROUP]) ?? 0) + 1);
    const cases = new Set(fitting.map((row) => row[CASE]));
    const isFiltered = fitting.length < rows.length;
    for (const group of groups) {
      const count = counts.get(Number(group.dataset.group)) ?? 0;
      group.hidden = isFiltered && !count;
      for (const card of group.querySelectorAll(".case")) card.hidden = isFiltered && !cases.has(card.id.slice(5));
    }
    const there = groups.filter((group) => !group.hidden);
    if (isFiltered && there.length && !there.some((group) => group.open)) there[0].open = true;
    document.getElementById("found").textContent = isFiltered
      ? fitting.length.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " findings" : "";
  };
  const arrange = () => {
    const first = new Map(); // rows are the plainest first
    rows.forEach((row, at) => first.has(row[GROUP]) || first.set(row[GROUP], at));
    const place = { size: () => 0, plain: (group) => first.get(Number(group.dataset.group)) ?? Infinity, title: (group) => group.dataset.title };
    const by = place[field("by-order")];
    const sorted = [...groups].sort((a, b) => (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : a.dataset.group - b.dataset.group));
    toolbar.after(...sorted);
  };
  section.hidden = toolbar.hidden = false;
  toolbar.querySelector("details").open = matchMedia("(min-width: 721px)").matches;
  toolbar.addEventListener("submit", (event) => event.preventDefault());
  toolbar.addEventListener("input", (event) => (event.target.id === "by-order" ? arrange() : choose()));
  more.addEventListener("click", makeMore);
  new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && made < shown.length && makeMore(), { rootMargin: "400px" }).observe(more);
  for (const button of section.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => {
      order = order === button.dataset.sort ? "-" + order : button.dataset.sort;
      section.querySelectorAll("th").forEach((head) => head.removeAttribute("aria-sort"));
      button.parentElement.setAttribute("aria-sort", order.startsWith("-") ? "descending" : "ascending");
      choose();
    });
  }
  for (const link of document.querySelectorAll("[data-only]")) {
    link.addEventListener("click", () => {
      only = link.dataset.only;
      choose();
      only = "";
    });
  }
  choose();
};
// n and p walk the findings, s and b change how the pictures are compared, / searches.
const setUpKeys = () => {
  const cards = () => [...document.querySelectorAll("#findings .group[open] .case:not([hidden])")].filter((card) => card.offsetParent);
  let last = null;
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=radio], [type=range]), select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = cards();
    const here = document.activeElement?.closest(".case") ?? last;
    const at = all.indexOf(here);
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById("search")?.focus();
    } else if (event.key === "n" || event.key === "p") {
      const to = all[Math.max(0, Math.min(all.length - 1, at + (event.key === "n" ? 1 : -1)))];
      last = to;
      to?.focus({ preventScroll: true });
      to?.scrollIntoView({ block: "start" });
    } else if (event.key === "s" || event.key === "b") {
      const views = (here ?? all[0])?.querySelector(".views");
      if (views) switchView(views, event.key === "b" ? "flicker" : undefined);
    }
  });
};
const findingsData = document.getElementById("findings-data");
if (findingsData) {
  setUpFindings(findingsData);
  setUpKeys();
  // What is folded would not be printed.
  const folded = () => [...document.querySelectorAll("details.group:not([open])")];
  let opened = [];
  addEventListener("beforeprint", () => (opened = folded()).forEach((one) => (one.open = true)));
  addEventListener("afterprint", () => opened.forEach((one) => (one.open = false)));
}
