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
