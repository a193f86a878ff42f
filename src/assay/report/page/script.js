"use strict";
// Filters, search and order of the examples. Without it the page shows them all, in order.
document.documentElement.classList.add("js");

// A table is a stop of the Tab key only while there is something to scroll in it.
const scrolled = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});
for (const box of document.querySelectorAll(".scroll")) scrolled.observe(box);

for (const form of document.querySelectorAll(".filters")) {
  const status = form.nextElementSibling;
  const list = status.nextElementSibling;
  const cards = [...list.children].map((card) => ({
    card,
    kind: card.dataset.kind,
    place: Number(card.dataset.place),
    gain: Number(card.dataset.gain || 0),
    slices: JSON.parse(card.dataset.slices || "{}"),
    text: card.textContent.toLowerCase(),
  }));
  const orders = {
    place: (a, b) => a.place - b.place,
    change: (a, b) => Math.abs(b.gain) - Math.abs(a.gain) || a.place - b.place,
    loss: (a, b) => a.gain - b.gain || a.place - b.place,
    gain: (a, b) => b.gain - a.gain || a.place - b.place,
  };
  const order = form.querySelector("[data-order]");
  const search = form.querySelector("[type=search]");
  const columns = [...form.querySelectorAll("[data-column]")];

  const show = () => {
    const kind = form.querySelector("[type=radio]:checked").value;
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const each of cards) {
      const fits =
        (!kind || each.kind === kind) &&
        columns.every((c) => c.selectedIndex === 0 || each.slices[c.dataset.column] === c.value) &&
        wanted.every((word) => each.text.includes(word));
      each.card.hidden = !fits;
      shown += fits;
    }
    status.textContent =
      shown === cards.length ? `${status.dataset.of}.` : `${shown} shown, out of ${status.dataset.of}.`;
  };
  const sort = () => {
    cards.sort(orders[order.value]);
    list.append(...cards.map((each) => each.card));
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", show);
  order.addEventListener("change", sort);
  show();
}
