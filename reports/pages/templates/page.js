"use strict";
// The page is whole without this: it sorts, filters, folds, scrolls and copies, and nothing else.
(() => {
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const byId = (id) => document.getElementById(id);

  for (const pre of all("pre.replay")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const done = await copied(pre);
      button.textContent = done ? "Copied" : "Selected";
    });
    const both = document.createElement("div");  // as wide as the text, so that it is beside it
    pre.replaceWith(both);
    both.append(button, pre);
  }

  async function copied(pre) {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(pre);
      return false;
    }
  }

  function reachable() {  // a formula that scrolls says so, and is reached with the tabulator
    for (const box of all(".formula")) {
      const scrolls = box.firstElementChild.scrollWidth > box.clientWidth;
      box.classList.toggle("scrolls", scrolls);
      box.title = scrolls ? "wider than its place: scroll" : "";
      if (scrolls) box.tabIndex = 0;
    }
  }
  reachable();
  addEventListener("resize", reachable);
  document.addEventListener("toggle", reachable, true);

  const table = document.querySelector("table.claims");
  if (!table) return;
  const bodies = all("tbody", table);
  const rows = all("tr[data-id]", table);
  const home = new Map(rows.map((row) => [row, row.parentElement]));
  const words = new Map(rows.map((row) => [row.dataset.id, row.textContent.toLowerCase()]));
  document.querySelector(".tools").hidden = false;

  const keys = {
    name: (a, b) => a.dataset.name.localeCompare(b.dataset.name),
    tight: (a, b) => number(b.dataset.tight) - number(a.dataset.tight),
    pairs: (a, b) => b.dataset.pairs - a.dataset.pairs,
    last: (a, b) => b.dataset.last - a.dataset.last,
  };
  const number = (text) => (text === "" ? -1 : text === "nan" ? Infinity : Number(text));

  function arrange() {
    const order = keys[byId("sort").value];
    if (order) bodies[0].append(...[...rows].sort(order));
    else for (const row of rows) home.get(row).append(row);
    const wanted = byId("filter").value.trim().toLowerCase().split(/\s+/);
    const fits = (id) => wanted.every((word) => (words.get(id) ?? "").includes(word));
    for (const part of all("[data-id]")) part.hidden = !fits(part.dataset.id);
    for (const title of all("tr.group", table)) {
      const own = all("tr[data-id]", title.parentElement);
      title.hidden = Boolean(order) || own.every((row) => row.hidden);
    }
    for (const group of all("section.group"))
      group.hidden = all("section.claim", group).every((claim) => claim.hidden);
    const shown = rows.filter((row) => !row.hidden).length;
    byId("count").value = shown < words.size ? `${shown} of ${words.size} claims` : "";
  }

  byId("filter").addEventListener("input", arrange);
  byId("sort").addEventListener("change", arrange);
  byId("fold").addEventListener("click", () => {
    const open = byId("fold").textContent === "Unfold all";
    for (const details of all("main details")) details.open = open;
    byId("fold").textContent = open ? "Fold all" : "Unfold all";
  });
  addEventListener("beforeprint", () => {
    for (const details of all("section.claim > details")) details.open = true;
  });
})();
