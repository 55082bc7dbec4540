// What is wrong with the layout of a page, as a list of texts. It is an expression.
(() => {
  const wrong = [];
  scrollTo(0, 0); // else the header is above the text on purpose
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const widest = [...document.body.querySelectorAll("*")].filter((e) => !e.closest(".scroll, .hidden, .skip") || e.classList.contains("scroll"))
      .filter((e) => e.getBoundingClientRect().right > root.clientWidth + 1).map((e) => `<${e.tagName.toLowerCase()} class="${e.getAttribute("class") || ""}">`);
    wrong.push(`the page is ${root.scrollWidth} px wide, the screen ${root.clientWidth}: ${widest.slice(0, 4).join(" ")}`);
  }

  // The boxes of all lines of text that a person sees: those that are cut off by a part
  // that scrolls are cut here too.
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest(".hidden, .skip, thead, option, script, title, desc, datalist") || !parent.checkVisibility({ visibilityProperty: true })) continue;
    range.selectNodeContents(node);
    const scroller = parent.closest(".scroll");
    const frame = scroller && scroller.getBoundingClientRect();
    for (const r of range.getClientRects()) {
      const box = { left: r.left, right: r.right, top: r.top, bottom: r.bottom, node };
      if (frame) {
        box.left = Math.max(box.left, frame.left);
        box.right = Math.min(box.right, frame.right);
      }
      // The boxes of glyphs are higher than the glyphs, so lines may touch.
      const slack = (box.bottom - box.top) / 4;
      if (box.right - box.left > 1) boxes.push({ ...box, top: box.top + slack, bottom: box.bottom - slack });
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  for (let i = 0; i < boxes.length; i++) {
    const a = boxes[i];
    if (a.right > root.clientWidth + 1) wrong.push(`"${a.node.data.trim().slice(0, 40)}" is cut off at the right`);
    for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom - 1; j++) {
      const b = boxes[j];
      if (a.node !== b.node && a.left < b.right - 1 && b.left < a.right - 1) {
        wrong.push(`"${a.node.data.trim().slice(0, 40)}" and "${b.node.data.trim().slice(0, 40)}" cover each other`);
      }
    }
  }
  return wrong.slice(0, 10);
})()
