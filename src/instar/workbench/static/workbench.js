// Served behind the report's page.js. Everything works without this file except what is live: keys, slider, flicker, rules as they are typed, progress.
const formToken = document.body.dataset.form;

const post = async (address, fields = {}) => {
  const body = new URLSearchParams({ ...fields, form: formToken });
  const answer = await fetch(address, { method: "POST", body, redirect: "follow" });
  return answer;
};
const into = (place, html) => {
  // Our own server escapes whatever comes from data; scripts in it would not run anyway.
  place.innerHTML = html;
  setUpPictures(place);
  begin(place);
};

// --- work that takes a while --------------------------------------------------------------------
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const setUpAction = (button) => {
  button.addEventListener("click", async () => {
    const place = document.querySelector("#done");
    button.disabled = true;
    place.textContent = "Asking the system…";
    try {
      const { job, error } = await (await post(button.dataset.do)).json();
      if (error) throw new Error(error);
      for (;;) {
        const state = await (await fetch("/job/" + job)).json();
        if (state.done) {
          into(place, state.html);
          break;
        }
        await pause(400);
      }
    } catch (error) {
      place.textContent = "That did not work: " + error.message;
    }
    button.disabled = false;
  });
};

// --- what is loaded later -----------------------------------------------------------------------
const load = async (place, address) => {
  const answer = await fetch(address);
  if (answer.ok) into(place, await answer.text());
  else place.textContent = "That could not be made; reload the page to try again.";
  place.removeAttribute("aria-busy");
};
const setUpProgress = async (place) => {
  while (place.dataset.running === "yes") {
    await pause(1000);
    try {
      const answer = await fetch(place.dataset.poll);
      if (!answer.ok) continue;
      const focused = document.activeElement?.closest("#progress") ? document.activeElement.textContent : null;
      into(place, await answer.text());
      if (focused) [...place.querySelectorAll("button, a")].find((e) => e.textContent === focused)?.focus();
      place.dataset.running = place.firstElementChild.dataset.running;
    } catch {
      // The workbench may be restarting.
    }
  }
};
// What runs is told above every page, until it has ended.
const setUpRunning = async (place) => {
  while (place.children.length) {
    await pause(2000);
    try {
      const answer = await fetch("/running");
      if (answer.ok) place.innerHTML = await answer.text();
    } catch {
      // The workbench may be restarting.
    }
  }
};
const setUpNatural = (form) => {
  const range = form.querySelector("input[type=range]");
  form.querySelector("button").hidden = true;
  let asked = 0;
  range.addEventListener("input", async () => {
    form.querySelector("output").textContent = Number(range.value).toFixed(2);
    const mine = ++asked;
    await pause(60);
    if (mine !== asked) return;
    const query = [form.dataset.natural, Number(range.value) ? "natural=" + range.value : ""].filter(Boolean).join("&");
    const answer = await fetch("/summary/figures?" + query);
    if (mine !== asked || !answer.ok) return;
    into(document.querySelector("#figures"), await answer.text());
    history.replaceState(null, "", "/summary" + (query ? "?" + query : ""));
  });
};

// --- rules as they are typed --------------------------------------------------------------------
const element = (tag, text = "", kind = "") => {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
const setUpRules = (area) => {
  const behind = document.querySelector(".behind");
  const readings = document.querySelector("#readings");
  const fields = area.form.elements;
  let asked = 0;
  const underline = (rules) => {
    behind.replaceChildren();
    area.value.split("\n").forEach((line, i) => {
      const rule = rules[i];
      if (rule?.error && rule.column) {
        const from = Math.max(0, rule.column - 1);
        const to = from + Math.max(1, rule.word.length);
        behind.append(line.slice(0, from), element("span", line.slice(from, to) || " ", "wrong"), line.slice(to));
      } else behind.append(line);
      behind.append("\n");
    });
    behind.scrollTop = area.scrollTop;
  };
  const told = (rule, i) => {
    const box = element("div", "", "reading");
    if (rule.error) {
      box.append(element("p", rule.error, "bad"));
      const hints = element("p");
      for (const word of rule.suggestions) {
        const button = element("button", word);
        button.type = "button";
        button.addEventListener("click", () => {
          const lines = area.value.split("\n");
          lines[i] = lines[i].slice(0, rule.column - 1) + word + lines[i].slice(rule.column - 1 + rule.word.length);
          area.value = lines.join("\n");
          area.focus();
          read();
        });
        hints.append(button);
      }
      if (rule.suggestions.length) box.append(hints);
      return box;
    }
    box.append(element("p", rule.words));
    for (const formula of rule.formulas) {
      const line = element("p");
      line.append(element("code", formula));
      box.append(line);
    }
    const engines = rule.engines.map((e) => e.change + " by " + (e.engine ?? "no engine")).join(", ");
    box.append(element("p", "pictures: " + engines, "quiet"));
    const place = element("div", "", "pair");
    place.append(element("p", "The picture is being made…", "quiet"));
    box.append(place);
    showPictures(place, rule.picture);
    return box;
  };
  const showPictures = async (place, key) => {
    const { pictures, error } = await (await fetch("/rule/" + key)).json();
    place.replaceChildren();
    if (error) place.append(element("p", "No picture: " + error, "quiet"));
    for (let i = 0; i < pictures; i++) {
      const figure = element("figure");
      const img = element("img");
      img.src = "/rule/" + key + "/" + i;
      img.alt = i ? "after" : "before";
      figure.append(img, element("figcaption", i ? "after" : "before"));
      place.append(figure);
    }
  };
  const read = async () => {
    const mine = ++asked;
    underline([]);
    await pause(250);
    if (mine !== asked) return;
    if (!area.value.trim()) return readings.replaceChildren();
    const answer = await post("/rule", { rules: area.value, scenes: fields.scenes.value, folder: fields.folder.value });
    if (mine !== asked) return;
    if (!answer.ok) return readings.replaceChildren(element("p", "That did not work; reload the page.", "bad"));
    const { rules } = await answer.json();
    underline(rules);
    readings.replaceChildren(...rules.map((rule, i) => rule && told(rule, i)).filter(Boolean));
  };
  area.addEventListener("input", read);
  for (const name of ["scenes", "folder"]) fields[name].addEventListener("change", read);
  area.addEventListener("scroll", () => (behind.scrollTop = area.scrollTop));
  if (area.value.trim()) read();
};

// --- what fits together in a campaign -----------------------------------------------------------
const setUpOrder = (form) => {
  const [system, way] = ["#system", "#way"].map((name) => form.querySelector(name));
  const fit = () => {
    const chosen = system.selectedOptions[0];
    form.querySelector("#about").textContent = chosen.title;
    const explained = form.querySelector("#explained");
    explained.hidden = !("explained" in chosen.dataset);
    explained.querySelector("select").disabled = explained.hidden;
    form.querySelectorAll("div[data-task], fieldset[data-task]").forEach((relations) => {
      const fits = !chosen.dataset.task || chosen.dataset.task === relations.dataset.task;
      relations.classList.toggle("unfit", !fits);
      relations.querySelectorAll("input, textarea").forEach((box) => {
        box.disabled = !fits;
      });
    });
    form.querySelectorAll("[data-search]").forEach((needs) => {
      needs.hidden = needs.dataset.search !== way.value;
    });
  };
  [system, way].forEach((choice) => choice.addEventListener("change", fit));
  fit();
};

// --- pictures and marks that are brought in -------------------------------------------------------
const send = async (address, file) => {
  const headers = { "content-type": "application/octet-stream", "x-instar-form": formToken };
  const answer = await fetch(address, { method: "POST", headers, body: file });
  const text = await answer.text();
  return text.startsWith("{") ? JSON.parse(text) : { error: text.replace(/^instar: /, "") };
};
const MOST_FILES = 2000;
const filesBelow = async (entry, found = []) => {
  if (found.length >= MOST_FILES || entry.name.startsWith(".")) return found;
  if (entry.isFile) found.push(await new Promise((done, failed) => entry.file(done, failed)));
  else {
    const reader = entry.createReader();
    for (let some; (some = await new Promise((done, failed) => reader.readEntries(done, failed))).length; )
      for (const one of some) await filesBelow(one, found);
  }
  return found;
};
const setUpDrop = (place) => {
  const status = place.querySelector("[role=status]");
  const scenes = place.form?.elements.scenes ?? place.closest("form").elements.scenes;
  const bring = async (files, called) => {
    const pictures = [...files].filter((file) => /\.(bmp|gif|jpe?g|png|ppm|tiff?|webp)$/i.test(file.name)).slice(0, MOST_FILES);
    const set = (called || "pictures").replace(/[^A-Za-z0-9._-]/g, "-").replace(/^[^A-Za-z0-9]+/, "").slice(0, 40) || "pictures";
    let kept = 0;
    const refused = [];
    for (const file of pictures) {
      const address = "/pictures?to=" + encodeURIComponent(set) + "&file=" + encodeURIComponent(file.name);
      const told = file.size > 25 * 2 ** 20 ? { error: file.name + " is larger than 25 MB" } : await send(address, file);
      if (told.error) refused.push(told.error);
      else kept += 1;
      status.textContent = kept + " of " + pictures.length + " pictures are here" + (refused.length ? "; " + refused.length + " refused, the last: " + refused.at(-1) : "");
    }
    if (!pictures.length) status.textContent = "There is no picture among these files.";
    if (!kept) return;
    const value = "pictures/" + set;
    if (![...scenes.options].some((option) => option.value === value)) scenes.add(new Option(value, value));
    scenes.value = value;
    scenes.dispatchEvent(new Event("change", { bubbles: true }));
  };
  place.hidden = false;
  for (const input of place.querySelectorAll("input")) {
    input.addEventListener("change", () => bring(input.files, input.files[0]?.webkitRelativePath?.split("/")[0]));
  }
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    place.addEventListener(kind, (event) => {
      event.preventDefault();
      place.classList.toggle("over", kind === "dragenter" || kind === "dragover");
    });
  }
  place.addEventListener("drop", async (event) => {
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = entries.length ? [] : [...event.dataTransfer.files];
    for (const entry of entries) await filesBelow(entry, files);
    await bring(files, entries.length === 1 && entries[0].isDirectory ? entries[0].name : "");
  });
};
const setUpSending = (input) => {
  input.addEventListener("change", async () => {
    const told = await send(input.dataset.send, input.files[0]);
    document.getElementById("sent").textContent = told.error ?? told.words;
    input.value = "";
  });
};

// --- setting up ---------------------------------------------------------------------------------
function begin(root) {
  root.querySelectorAll("[data-do]").forEach(setUpAction);
  root.querySelectorAll("[data-load]").forEach((place) => load(place, place.dataset.load));
  root.querySelectorAll("[data-later]").forEach((place) => load(place.parentElement, place.dataset.later));
}
begin(document);
setUpRunning(document.querySelector("#running"));
document.querySelectorAll("[data-poll]").forEach(setUpProgress);
document.querySelectorAll("[data-natural]").forEach(setUpNatural);
document.querySelectorAll("#rules").forEach(setUpRules);
document.querySelectorAll(".order").forEach(setUpOrder);
document.querySelectorAll("#drop").forEach(setUpDrop);
document.querySelectorAll("[data-send]").forEach(setUpSending);
document.querySelectorAll("[data-auto] select").forEach((s) => s.addEventListener("change", () => s.form.requestSubmit()));
document.querySelectorAll("[data-submit]").forEach((s) => {
  s.form.querySelector("button").hidden = true;
  s.addEventListener("change", () => s.form.requestSubmit());
});
if (matchMedia("(max-width: 820px)").matches) document.querySelectorAll(".filters").forEach((f) => (f.open = false));

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=radio], [type=checkbox], [type=range]), textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const ranged = event.target.matches("[type=range], [type=radio]");
  if (event.key === "?") return document.querySelector("#keys").showModal();
  if (event.key === "/") {
    const search = document.querySelector("#search");
    if (search) {
      event.preventDefault();
      search.closest("details").open = true;
      search.focus();
    }
    return;
  }
  const views = document.querySelector(".one .views");
  if ((event.key === "s" || event.key === "b") && views) return switchView(views, event.key === "b" ? "flicker" : undefined);
  const arrows = ranged ? {} : { ArrowRight: "n", ArrowLeft: "p" };
  const key = arrows[event.key] ?? event.key;
  const wanted = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (wanted) {
    event.preventDefault();
    wanted.click();
    return;
  }
  const page = { ArrowRight: "next", ArrowLeft: "prev", n: "next", p: "prev" }[ranged ? "" : event.key];
  if (page) document.querySelector(`.found [rel=${page}]`)?.click();
});
