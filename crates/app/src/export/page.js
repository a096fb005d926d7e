"use strict";
(() => {
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const articles = [...document.querySelectorAll("article")];
  const texts = articles.map((article) => article.textContent.toLowerCase());
  let waiting;
  const search = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    articles.forEach((article, i) => {
      const here = words.every((word) => texts[i].includes(word));
      article.classList.toggle("away", !here);
      count += here ? 1 : 0;
      if (words.length && here) {
        for (const part of article.querySelectorAll("details")) {
          part.open = words.some((word) => part.textContent.toLowerCase().includes(word));
        }
      }
    });
    found.textContent = words.length ? `${count} of ${articles.length}` : "";
  };
  find.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, 150);
  });
  let open = false;
  document.getElementById("open").addEventListener("click", (event) => {
    open = !open;
    document.querySelectorAll("details").forEach((part) => {
      part.open = open;
    });
    event.target.textContent = open ? "fold all" : "open all";
  });
})();
