"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const all = (what, from = document) => [...from.querySelectorAll(what)];
  const [find, found] = [get("find"), get("found")];
  const articles = all("article");
  const texts = articles.map((it) => it.textContent.toLowerCase());
  let waiting;
  const search = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    articles.forEach((article, i) => {
      const here = words.every((word) => texts[i].includes(word));
      article.classList.toggle("away", !here);
      count += here ? 1 : 0;
      if (words.length && here) {
        for (const part of all("details", article)) part.open = words.some((word) => part.textContent.toLowerCase().includes(word));
      }
    });
    found.textContent = words.length ? `${count} of ${articles.length}` : "";
  };
  find.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, 150);
  });
  let open = false;
  const flip = () => {
    open = !open;
    for (const part of all("details")) part.open = open;
    get("open").textContent = open ? "fold all" : "open all";
  };
  get("open").addEventListener("click", flip);
  const prompts = all(".user");
  const step = (by) => {
    const tops = prompts.map((it) => it.getBoundingClientRect().top - 80);
    const to = by > 0 ? tops.findIndex((top) => top > 2) : tops.findLastIndex((top) => top < -2);
    if (to >= 0) scrollBy(0, tops[to]);
  };
  const keys = { j: () => step(1), k: () => step(-1), t: flip, "/": () => find.focus() };
  addEventListener("keydown", (event) => {
    if (event.target === find || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
})();
