// What a page does with a script: it follows changes in place, shows results while a user
// types, and keeps relative times right. Every page works without it.
"use strict";

// --- Relative times: the words are those of render.go. ---

function span(seconds) {
  if (seconds < 120) return Math.floor(seconds) + " s";
  if (seconds < 7200) return Math.floor(seconds / 60) + " min";
  if (seconds < 172800) return Math.floor(seconds / 3600) + " h";
  return Math.floor(seconds / 86400) + " days";
}

function relative(then) {
  const seconds = (Date.now() - then) / 1000;
  if (Math.abs(seconds) < 5) return "just now";
  return seconds < 0 ? "in " + span(-seconds) : span(seconds) + " ago";
}

function refreshTimes() {
  for (const time of document.querySelectorAll("main time[title]")) {
    const text = relative(Date.parse(time.dateTime));
    if (time.textContent !== text) time.textContent = text;
  }
}
setInterval(refreshTimes, 5000);

// --- Live pages ---

// keyOf names an element among its siblings, so that it is found again after a change.
function keyOf(node) {
  return node.nodeType === 1 ? node.id || node.dataset.key || "" : "";
}

// What a user has changed is kept: which parts are unfolded, and what is in fields.
const kept = { DETAILS: ["open"], INPUT: ["value", "checked"], TEXTAREA: ["value"], OPTION: ["selected"] };

// classes returns the classes of an element without that of a change.
function classes(element) {
  return [...element.classList].filter((name) => name !== "changed").join(" ");
}

// update makes an element like another one, and keeps the nodes that stay, so that scroll,
// focus and selection stay too. It returns whether anything but a time has changed.
function update(old, next) {
  let changed = false;
  const keep = kept[old.tagName] || [];
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !keep.includes(name) && name !== "class") {
      old.removeAttribute(name);
      changed = true;
    }
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !keep.includes(name) && name !== "class") {
      old.setAttribute(name, value);
      changed = true;
    }
  }
  if (classes(old) !== classes(next)) {
    old.setAttribute("class", classes(next));
    changed = true;
  }
  return updateChildren(old, next) || changed;
}

function updateChildren(old, next) {
  let changed = false;
  const keyed = new Map();
  for (const child of old.children) if (keyOf(child)) keyed.set(keyOf(child), child);
  const wanted = new Set([...next.children].map(keyOf).filter((key) => keyed.has(key)));
  let at = old.firstChild;
  for (const child of [...next.childNodes]) {
    const key = keyOf(child);
    let match = key ? keyed.get(key) : at;
    // A node that has a place further down is not used for another one.
    while (!key && match && match.nodeType === 1 && wanted.has(keyOf(match))) match = match.nextSibling;
    if (match && match.nodeName === child.nodeName && (key !== "" || keyOf(match) === "")) {
      if (match !== at) old.insertBefore(match, at);
      else at = at.nextSibling;
      if (match.nodeType !== 1) {
        if (match.data !== child.data) {
          match.data = child.data;
          changed = changed || old.tagName !== "TIME";
        }
      } else if (update(match, child)) {
        changed = true;
        if (/^(TR|LI|DT|DD|P)$/.test(match.tagName)) flash(match);
      }
    } else {
      const added = document.importNode(child, true);
      old.insertBefore(added, at);
      if (added.nodeType === 1 && added.tagName === "TR") flash(added);
      changed = true;
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    changed = changed || gone.nodeType === 1;
    gone.remove();
  }
  return changed;
}

function flash(element) {
  element.classList.remove("changed");
  void element.offsetWidth; // so that the animation begins again
  element.classList.add("changed");
}

const live = document.getElementById("live");

function say(text, lost) {
  live.hidden = false;
  live.classList.toggle("lost", Boolean(lost));
  if (live.textContent !== text) live.textContent = text;
}

let gone = false;

// reload fetches the page and replaces what changed.
async function reload() {
  const response = await fetch(location.href.split("#")[0], { headers: { Accept: "text/html" }, credentials: "same-origin", redirect: "manual" });
  if (response.type === "opaqueredirect") { // to the login page
    say("logged out, load the page again to log in", true);
    return;
  }
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const now = new Date().toLocaleTimeString();
  let notice = document.getElementById("gone");
  if (response.status === 404) {
    if (!notice) {
      notice = document.createElement("p");
      notice.id = "gone";
      notice.className = "alert";
      notice.setAttribute("role", "alert");
      document.querySelector("main .title").after(notice);
    }
    notice.textContent = document.querySelector("h1").textContent + " no longer exists since " + now + ". Below is what it was.";
    gone = true;
    return;
  }
  if (!response.ok) throw new Error(response.statusText);
  if (notice) notice.remove();
  const next = page.getElementById("main");
  const status = next.querySelector("#live");
  if (status) status.replaceWith(live.cloneNode(true));
  const changed = update(document.getElementById("main"), next) || gone;
  gone = false;
  refreshTimes();
  if (changed) say("live, updated " + now);
}

function follow() {
  const events = new EventSource(document.body.dataset.events);
  let connected = false;
  let pending = null;
  const refresh = () => {
    if (pending) return;
    pending = reload().catch(() => say("the update failed, trying again", true)).finally(() => { pending = null; });
  };
  events.addEventListener("hello", () => {
    say("live");
    if (connected) refresh(); // what changed meanwhile
    connected = true;
  });
  events.addEventListener("changed", refresh);
  events.onerror = () => {
    say("connection lost, shown as of " + new Date().toLocaleTimeString(), true);
    if (events.readyState === EventSource.CLOSED) setTimeout(() => { events.close(); follow(); }, 5000);
  };
  addEventListener("pagehide", () => events.close());
}
if (document.body.dataset.events && live) follow();
addEventListener("pageshow", (event) => { if (event.persisted && document.body.dataset.events) follow(); });

// --- Results while typing ---

const find = document.getElementById("find");
const found = document.getElementById("found");
let asked = 0;
let timer;

async function showResults() {
  const q = find.value.trim();
  const number = ++asked;
  if (q.length < 2) {
    found.hidden = true;
    return;
  }
  const response = await fetch(document.body.dataset.search + "?q=" + encodeURIComponent(q), { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const results = page.getElementById("results");
  if (number !== asked || !results) return; // another letter was typed
  results.removeAttribute("id");
  found.replaceChildren(document.importNode(results, true));
  found.hidden = false;
}

find.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => showResults().catch(() => { found.hidden = true; }), 150);
});
find.addEventListener("keydown", (event) => {
  const first = found.querySelector("a");
  if (event.key === "ArrowDown" && !found.hidden && first) {
    event.preventDefault();
    first.focus();
  }
});
found.addEventListener("keydown", (event) => {
  const links = [...found.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const next = at + (event.key === "ArrowDown" ? 1 : -1);
    (links[next] || find).focus();
  }
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !found.hidden) {
    found.hidden = true;
    find.focus();
  }
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    find.focus();
  }
});
addEventListener("click", (event) => { if (!event.target.closest(".find")) found.hidden = true; });
