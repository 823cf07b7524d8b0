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
document.querySelectorAll(".slider").forEach(setUpSlider);
for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const code = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code);
    }
  });
}
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
