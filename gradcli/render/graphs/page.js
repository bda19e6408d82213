"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const scene = at("scene"), view = at("view");
const nodes = new Map(data.nodes.map((node) => [node.id, node]));
const boxes = new Map(), ways = [], middles = new Map();
const users = new Map(data.nodes.map((node) => [node.id, []]));
const folded = new Set();
let chosen = null, step = data.steps.length, scale = 1, left = 0, top_ = 0;

// --- what is there -----------------------------------------------------------------------------

for (const node of data.nodes)
  for (const under of node.inputs) users.get(under).push(node.id);
for (const path of scene.querySelectorAll("[data-from]"))
  ways.push({ path, from: +path.dataset.from, to: +path.dataset.to });
for (const g of scene.querySelectorAll("g.box")) {
  const id = +g.dataset.id, rect = g.querySelector("rect:last-of-type");
  const [x, y] = g.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
  const width = +rect.getAttribute("width"), height = +rect.getAttribute("height");
  middles.set(id, [x + width / 2, y + height / 2]);
  boxes.set(id, g);
  const grad = g.querySelector("text.grad");
  nodes.get(id).grad = grad ? grad.textContent : "";
  nodes.get(id).value = (g.querySelector("text.value") || {}).textContent || "";
  g.setAttribute("tabindex", id === data.root ? "0" : "-1");
  g.setAttribute("role", "button");
  g.setAttribute("aria-label", [...g.querySelectorAll("text")].map((t) => t.textContent).join(", "));
  g.addEventListener("focus", () => choose(id, false));
  g.addEventListener("dblclick", () => fold(id));
}

// --- where one looks ---------------------------------------------------------------------------

function place() {
  scene.setAttribute("transform", `translate(${left} ${top_}) scale(${scale})`);
}

function fit() {
  const { width, height } = view.getBoundingClientRect();
  const whole = Math.min((width - 24) / data.width, (height - 24) / data.height);
  scale = Math.min(Math.max(whole, 0.55), 1.25);
  left = (width - data.width * scale) / 2;
  top_ = whole < scale ? height - 12 - data.height * scale : (height - data.height * scale) / 2;
  if (data.width * scale > width) left = width / 2 - middles.get(data.root)[0] * scale;
  place();
}

function zoom(factor, x, y) {
  const { width, height } = view.getBoundingClientRect();
  const [cx, cy] = [x ?? width / 2, y ?? height / 2];
  const wanted = Math.min(Math.max(scale * factor, 0.02), 8);
  left = cx - (cx - left) * (wanted / scale);
  top_ = cy - (cy - top_) * (wanted / scale);
  scale = wanted;
  place();
}

function show(id) {
  const { width, height } = view.getBoundingClientRect(), [x, y] = middles.get(id);
  const [px, py] = [left + x * scale, top_ + y * scale];
  if (px < 60 || px > width - 60) left += width / 2 - px;
  if (py < 50 || py > height - 50) top_ += height / 2 - py;
  place();
}

const fingers = new Map();
view.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  view.classList.add("moving");
});
addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const now = [event.clientX, event.clientY];
  const other = [...fingers].find(([id]) => id !== event.pointerId);
  if (other) {
    const [ox, oy] = other[1], { x, y } = view.getBoundingClientRect();
    const far = (p) => Math.hypot(p[0] - ox, p[1] - oy) || 1;
    zoom(far(now) / far(before), (now[0] + ox) / 2 - x, (now[1] + oy) / 2 - y);
  } else {
    left += now[0] - before[0];
    top_ += now[1] - before[1];
    place();
  }
  fingers.set(event.pointerId, now);
});
for (const end of ["pointerup", "pointercancel"])
  addEventListener(end, (event) => {
    fingers.delete(event.pointerId);
    view.classList.toggle("moving", fingers.size > 0);
  });
view.addEventListener("wheel", (event) => {
  event.preventDefault();
  const { x, y } = view.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - x, event.clientY - y);
}, { passive: false });

// --- a node ------------------------------------------------------------------------------------

function choose(id, focus = true) {
  chosen = id;
  for (const [other, g] of boxes) {
    g.classList.toggle("chosen", other === id);
    g.setAttribute("tabindex", other === (id ?? data.root) ? "0" : "-1");
  }
  const current = id ?? data.steps[step]?.node ?? null;
  light(current);
  describe(current);
  at("fold").disabled = id === null || !nodes.get(id).inputs.length;
  at("fold").textContent = folded.has(id) ? "Unfold" : "Fold";
  if (id === null) return;
  if (focus) boxes.get(id).focus({ preventScroll: true });
  show(id);
}

function describe(id) {
  const info = at("info");
  info.replaceChildren();
  const node = nodes.get(id);
  at("chosen").textContent = node ? node.name : "Choose a node";
  if (!node) return;
  const add = (label, text) => {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = label;
    dd.textContent = text;
    info.append(dt, dd);
  };
  const comes = boxes.get(id).querySelector("text.grad");
  for (const [label, text] of node.info)
    if (label !== "gradient" || !comes || comes.textContent) add(label, text);
  if (node.lines[0]) add("line", [...new Set(node.lines)].join(" to "));
  if (node.hidden) add("not drawn", `${node.hidden} of its inputs; --nodes and --depth draw more`);
}

function light(current) {
  for (const { path, from, to } of ways) path.classList.toggle("lit", from === current || to === current);
  const [first, last] = nodes.get(current)?.lines ?? [0, 0];
  let lit = null;
  for (const line of at("program").children) {
    const on = +line.dataset.line >= first && +line.dataset.line <= last && first > 0;
    line.classList.toggle("lit", on);
    if (on) lit ??= line;
  }
  const list = at("program").closest("aside");
  if (lit && list.scrollHeight > list.clientHeight && matchMedia("(min-width: 761px)").matches)
    lit.scrollIntoView({ block: "nearest" });
}

function fold(id) {
  if (!nodes.get(id)?.inputs.length) return;
  folded.has(id) ? folded.delete(id) : folded.add(id);
  const seen = new Set([data.root]), waiting = [data.root];
  while (waiting.length) {
    const node = waiting.pop();
    if (!folded.has(node))
      for (const under of nodes.get(node).inputs)
        if (!seen.has(under)) seen.add(under), waiting.push(under);
  }
  for (const [other, g] of boxes) {
    g.classList.toggle("gone", !seen.has(other));
    g.classList.toggle("folded", folded.has(other));
  }
  for (const { path, from, to } of ways)
    path.classList.toggle("gone", !seen.has(from) || !seen.has(to) || folded.has(to));
  const away = nodes.size - seen.size;
  at("says").textContent = away === 1 ? "1 node is folded away" : `${away} nodes are folded away`;
  choose(id);
}

// --- steps -------------------------------------------------------------------------------------

function go(to) {
  step = Math.min(Math.max(to, 0), data.steps.length);
  const reached = new Set(), grads = new Map();
  const done = step === data.steps.length;
  data.steps.slice(0, step + 1).forEach((one) => {
    if (one.way === "forward") reached.add(one.node);
    for (const [id, text] of Object.entries(one.grads)) grads.set(+id, text);
  });
  const now = done ? null : data.steps[step];
  for (const [id, g] of boxes) {
    g.classList.toggle("waits", !reached.has(id));
    g.classList.toggle("now", now !== null && now.node === id);
    const text = g.querySelector("text.grad");
    if (text) {
      text.removeAttribute("textLength");
      text.textContent = done ? nodes.get(id).grad : grads.has(id) ? `gradient ${grads.get(id)}` : "";
      const room = +g.querySelector("rect").getAttribute("width") - 2 * +text.getAttribute("x");
      if (text.getComputedTextLength() > room) {
        text.setAttribute("textLength", room);
        text.setAttribute("lengthAdjust", "spacingAndGlyphs");
      }
    }
  }
  at("says").textContent = now
    ? `${step + 1} of ${data.steps.length}, ${now.way}: ${now.says}` : data.hint;
  for (const id of ["first", "back"]) at(id).disabled = step === 0;
  for (const id of ["next", "last"]) at(id).disabled = done;
  address(now ? `#step=${step + 1}` : "#");
  choose(null);
  if (now) show(now.node);
}
const onward = () => go(step === data.steps.length ? 0 : step + 1);

function address(hash) {
  if (location.hash.replace(/^#$/, "") === hash.replace(/^#$/, "")) return;
  try {
    history.replaceState(null, "", hash);
  } catch {
    // a page inside another one may have no address of its own
  }
}

function stepOfAddress() {
  const found = location.hash.match(/^#step=(\d+)$/);
  return found ? Math.max(+found[1], 1) - 1 : data.steps.length;
}

const PACE = 1200; // milliseconds between steps
let playing = null;
function play(on) {
  clearInterval(playing);
  playing = on ? setInterval(() => (onward(), step === data.steps.length && play(false)), PACE) : null;
  at("play").textContent = on ? "Stop" : "Play";
  if (on) onward();
}
const by_hand = (action) => () => (play(false), action());

// --- search ------------------------------------------------------------------------------------

let hits = [], hit = -1;
function search(text) {
  const wanted = text.trim().toLowerCase();
  hits = [];
  hit = -1;
  for (const [id, g] of boxes) {
    const says = `${g.getAttribute("aria-label")} ${nodes.get(id).info.map((i) => i[1]).join(" ")}`;
    const on = wanted !== "" && says.toLowerCase().includes(wanted);
    g.classList.toggle("hit", on);
    if (on) hits.push(id);
  }
  at("found").textContent = wanted ? `${hits.length} found` : "";
}
at("find").addEventListener("input", (event) => search(event.target.value));
at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  if (hits.length) choose(hits[(hit = (hit + 1) % hits.length)], false);
});

// --- buttons and keys --------------------------------------------------------------------------

function beside(direction) {
  const [x, y] = middles.get(chosen);
  const row = [...middles].filter(([id, m]) => id !== chosen && Math.abs(m[1] - y) < 4
    && Math.sign(m[0] - x) === direction && !boxes.get(id).classList.contains("gone"));
  row.sort((a, b) => direction * (a[1][0] - b[1][0]));
  if (row.length) choose(row[0][0]);
}
const near = (ids) => ids.find((id) => !boxes.get(id).classList.contains("gone"));
const move = (id) => id !== undefined && choose(id);

const theme = () => {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
};
const actions = {
  first: by_hand(() => go(0)), back: by_hand(() => go(step - 1)), next: by_hand(onward),
  last: by_hand(() => go(data.steps.length)), play: () => play(playing === null),
  smaller: () => zoom(0.8), larger: () => zoom(1.25), fit, theme,
  fold: () => chosen !== null && fold(chosen), keys: () => at("help").showModal(),
};
for (const [id, action] of Object.entries(actions)) at(id).addEventListener("click", action);
const keys = {
  p: actions.play, ".": actions.next, ",": actions.back, Home: actions.first, End: actions.last, "+": actions.larger,
  "=": actions.larger, "-": actions.smaller, 0: fit, f: actions.fold, "?": actions.keys,
  "/": () => at("find").focus(), Escape: () => choose(null),
  ArrowUp: () => move(chosen === null ? data.root : near(nodes.get(chosen).inputs)),
  ArrowDown: () => move(chosen === null ? data.root : near(users.get(chosen))),
  ArrowLeft: () => chosen !== null && beside(-1), ArrowRight: () => chosen !== null && beside(1),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("help").open) return;
  if (event.target === at("find")) {
    if (event.key === "Escape") at("find").blur();
    return;
  }
  const action = keys[event.key];
  if (action) event.preventDefault(), action();
});
scene.addEventListener("click", (event) => {
  const g = event.target.closest("g.box");
  if (g) choose(+g.dataset.id);
});
addEventListener("hashchange", by_hand(() => go(stepOfAddress())));
new ResizeObserver(() => chosen === null && fit()).observe(view);
fit();
go(stepOfAddress());

// --- on paper ----------------------------------------------------------------------------------

addEventListener("beforeprint", () => {
  at("picture").setAttribute("viewBox", `-8 -8 ${data.width + 16} ${data.height + 16}`);
  scene.removeAttribute("transform");
  at("as-table").open = true;
});
addEventListener("afterprint", () => {
  at("picture").removeAttribute("viewBox");
  place();
});
