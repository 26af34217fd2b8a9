// The page of a finding: threads as columns, steps as rows, the source beside them.
//
// Only the rows in sight are in the document, so that ten thousand steps scroll as well as ten. Whatever
// comes from the program under test is put into the page as text, never as markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const ROW = 24, LANE_MIN = 34, LANE_TAIL = 110, LABEL = 260, OVERSCAN = 24, EDGES_MAX = 400;
  const lanes = byId("lanes"), track = byId("track"), rowsBox = byId("rows"), heads = byId("heads");
  const tip = byId("tip"), detail = byId("detail"), map = byId("map");
  // A name, not an address: nothing is fetched. In two pieces, for a test looks for addresses.
  const SVG = "http:" + "//www.w3.org/2000/svg";

  // An element with attributes and children; strings become text.
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") element.className = value;
      else if (key === "on") element.addEventListener("click", value);
      else element.setAttribute(key, value);
    }
    element.append(...children.filter((it) => it !== null && it !== ""));
    return element;
  };
  const draw = (name, attributes, parent) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  };
  const laneColour = (lane) => `var(--t${lane % 8})`;
  const lockColour = (lock) => `hsl(${(lock * 67 + 200) % 360} 55% 52%)`;

  // What is derived from a schedule once.
  const prepare = (view) => {
    const rows = view.rows.map(([number, lane, text, object, place, mark, reason, stack], index) => ({
      index, number, lane, object, stack,
      named: [], text: view.texts[text] || "", mark: view.texts[mark] || "", reason: view.texts[reason] || "",
      place: place > 0 ? view.places[place - 1] : null,
    }));
    const entries = [], at = [], lives = view.threads.map(() => [Infinity, -1]), switches = [];
    for (const row of rows) {
      at[row.index] = entries.length;
      const life = lives[row.lane];
      life[0] = Math.min(life[0], entries.length);
      life[1] = entries.length;
      entries.push(row);
      if (row.reason) entries.push({ switch: row.reason, after: row.index });
      const before = rows[row.index - 1];
      if (!before || before.lane !== row.lane) switches.push(row.index);
    }
    const touches = new Map(), edgesAt = new Map();
    for (const row of rows) {
      if (row.object === 0) continue;
      if (!touches.has(row.object)) touches.set(row.object, []);
      touches.get(row.object).push(row.index);
    }
    for (const edge of view.edges) {
      for (const end of [edge[0], edge[1]]) {
        if (!edgesAt.has(end)) edgesAt.set(end, []);
        edgesAt.get(end).push(edge);
      }
    }
    const marked = rows.filter((it) => it.mark).map((it) => it.index);
    // What the text above calls 1, 2, 3.
    for (const [row, name] of view.named) rows[row].named.push(name);
    const named = view.named.map((it) => it[0]);
    // Where all is in one file, its name need not be said in every row.
    const isOneFile = new Set(rows.filter((it) => it.place).map((it) => it.place[0])).size < 2;
    return { ...view, rows, entries, at, lives, switches, touches, edgesAt, marked, named, isOneFile };
  };

  const views = data.views.map(prepare);
  let current = 0, picked = 0, isShown = false, drawn = [0, -1], laneWidth = 150;
  // Room for the numbers of steps.
  let numbers = 60;
  const view = () => views[current];
  const laneX = (lane) => numbers + lane * laneWidth;
  const dotX = (lane) => laneX(lane) + Math.min(26, laneWidth - 10);
  const trackWidth = () => Math.max(laneX(view().threads.length) + 4, lanes.clientWidth);

  // The locks that a thread holds when a row has been done.
  const held = (row) => view().bands.filter(([lane, , from, to]) =>
    lane === row.lane && from <= row.index && (to < 0 || to > row.index));
  const stepName = (row) => (row.number > 0 ? `step ${row.number.toLocaleString("en")}` : row.mark || "not a step");
  const threadName = (lane) => {
    const thread = view().threads[lane];
    return thread.title ? `${thread.name} ${thread.title}` : thread.name;
  };
  const sourceLine = (place) => {
    const file = place && place[0] >= 0 ? data.files[place[0]] : null;
    for (const [first, lines] of file ? file.parts : []) {
      if (place[1] >= first && place[1] < first + lines.length) return lines[place[1] - first].trim();
    }
    return "";
  };

  const placeName = (place) => (place[3] ? `${place[2]} in ${place[3]}` : place[2] || "?");

  // What is known of a row, for the tip and for the pane; links only in the pane.
  const describe = (row, withLinks) => {
    const shown = view();
    const box = document.createDocumentFragment();
    box.append(make("h3", {}, `${stepName(row)} · ${threadName(row.lane)} · ${row.text}`));
    if (row.mark && row.number > 0) box.append(make("p", { class: "notice" }, row.mark));
    if (row.index === shown.difference) {
      box.append(make("p", { class: "notice" }, "the first value that differs between the failing and the passing schedule"));
    }
    const list = make("dl");
    const add = (term, ...what) => list.append(make("dt", {}, term), make("dd", {}, ...what));
    if (row.place) {
      const text = sourceLine(row.place);
      add("at", placeName(row.place));
      if (text) add("", make("code", {}, text));
    }
    if (row.object > 0 && shown.objects[row.object]) add("object", shown.objects[row.object][1]);
    const locks = held(row);
    if (locks.length > 0) add("holds", locks.map(([, lock]) => shown.objects[lock][1]).join(", "));
    const frames = shown.stacks[row.stack].map((it) => placeName(shown.places[it - 1]));
    const { created } = shown.threads[row.lane];
    if (frames.length > 0) {
      add("stack", make("ol", { class: "stack" }, ...frames.map((text, idx) => make("li", {}, `#${idx} ${text}`))));
    } else if (created && !withLinks) {
      add("thread", `created at ${created}`);
    }
    if (withLinks) {
      for (const [from, to, kind] of (shown.edgesAt.get(row.index) || []).slice(0, 12)) {
        const other = shown.rows[from === row.index ? to : from];
        const words = kind === "race" ? "races with"
          : kind === "reason" ? (from === row.index ? "fails if before" : "fails if after")
          : kind === "passed" ? (from === row.index ? "is not seen by" : "does not see")
          : kind === "stale" ? (from === row.index ? "is still seen by" : "still sees the value of")
          : from === row.index ? (kind === "value" ? "is seen by" : "comes before")
            : (kind === "value" ? "sees the value of" : "comes after");
        const link = make("button", { class: "link", on: () => select(other.index) },
          `${stepName(other)} of ${threadName(other.lane)}: ${other.text}`);
        add(words, link);
      }
      const thread = shown.threads[row.lane];
      if (created) add("thread", `created at ${created}`);
      if (thread.end) add("at the end", thread.end);
    }
    if (list.children.length > 0) box.append(list);
    return box;
  };

  // Rows and arrows that are in sight.
  const render = (force) => {
    const shown = view();
    const top = Math.max(0, lanes.scrollTop - heads.offsetHeight);
    const first = Math.max(0, Math.floor(top / ROW) - 2);
    const last = Math.min(shown.entries.length - 1, Math.ceil((top + lanes.clientHeight) / ROW) + 2);
    viewport(top);
    if (!force && first >= drawn[0] && last <= drawn[1]) return;
    drawn = [Math.max(0, first - OVERSCAN), Math.min(shown.entries.length - 1, last + OVERSCAN)];
    const box = document.createDocumentFragment();
    const object = shown.rows.length > 0 ? shown.rows[picked].object : 0;
    for (let pos = drawn[0]; pos <= drawn[1]; pos += 1) {
      const entry = shown.entries[pos];
      box.append(entry.switch ? switchRow(entry, pos) : stepRow(entry, pos, object));
    }
    box.append(arrows());
    rowsBox.replaceChildren(box);
    lanes.setAttribute("aria-activedescendant", `row${picked}`);
  };

  const switchRow = (entry, pos) => {
    const next = view().rows[entry.after + 1];
    const label = make("span", { style: `left:${next ? laneX(next.lane) + 12 : numbers}px` }, `switch: ${entry.switch}`);
    return make("div", { class: "row switch", role: "presentation", style: `top:${pos * ROW}px` }, label);
  };

  const stepRow = (row, pos, object) => {
    const classes = ["row"];
    if (row.index === picked) classes.push("picked");
    if (row.mark) classes.push("marked");
    if (row.number === 0) classes.push("pending");
    if (row.index === view().difference) classes.push("differs");
    if (object > 0 && row.object === object && row.index !== picked) classes.push("same");
    const place = row.place ? row.place[2].split("/").pop() : "";
    const where = view().isOneFile && row.place && row.place[1] > 0 ? `:${row.place[1]}` : place;
    // There is one step in a row: it may use the room of the columns beside it, on the side that has more.
    const left = dotX(row.lane) + 10, right = trackWidth() - left, before = laneX(row.lane) - numbers;
    const isBefore = right < LABEL && before > right;
    const side = isBefore ? `left:${numbers}px;right:${trackWidth() - laneX(row.lane)}px` : `left:${left}px`;
    const step = make("span", { class: isBefore ? "step before" : "step", style: side },
      make("span", { class: "words" }, row.text), row.mark ? make("span", { class: "mark" }, `← ${row.mark}`) : "",
      where ? make("span", { class: "where" }, where) : "");
    const names = row.named.length > 0 ? make("b", {}, `${row.named.join(", ")}▸`) : "";
    const number = make("span", { class: "number" }, names, row.number > 0 ? String(row.number) : "");
    const label = `${stepName(row)}, ${threadName(row.lane)}: ${row.text}${row.mark ? ", " + row.mark : ""}${place ? " at " + place : ""}`;
    const element = make("div", {
      class: classes.join(" "), style: `top:${pos * ROW}px`, role: "option", id: `row${row.index}`,
      "aria-selected": String(row.index === picked), "aria-label": label,
      "aria-posinset": String(row.index + 1), "aria-setsize": String(view().rows.length),
    }, number, step);
    element.dataset.row = row.index;
    return element;
  };

  const arrows = () => {
    const shown = view(), [first, last] = drawn;
    const svg = document.createElementNS(SVG, "svg");
    const height = Math.max(0, last - first + 1) * ROW;
    svg.id = "arrows";
    svg.setAttribute("width", trackWidth());
    svg.setAttribute("height", height);
    svg.style.top = `${first * ROW}px`;
    const y = (pos) => (pos - first + 0.5) * ROW;
    shown.lives.forEach(([from, to], lane) => {
      const [a, b] = [Math.max(from, first - 1), Math.min(to, last + 1)];
      if (a <= b) draw("line", { class: "life", x1: dotX(lane), x2: dotX(lane), y1: y(a), y2: y(b) }, svg);
    });
    for (const [lane, lock, from, to, depth] of shown.bands) {
      const a = shown.at[from], b = to < 0 ? shown.entries.length - 1 : shown.at[to];
      if (b < first || a > last) continue;
      const top = Math.max(y(a), -ROW), bottom = Math.min(y(b), height + ROW);
      draw("rect", {
        class: "band", x: laneX(lane) + 2 + (depth % 3) * 6, y: top, width: 5,
        height: Math.max(2, bottom - top), rx: 2, fill: lockColour(lock),
      }, svg);
    }
    edges(svg, y);
    for (let pos = first; pos <= last; pos += 1) {
      const row = shown.entries[pos];
      if (!row.switch) {
        draw("circle", { class: "dot", cx: dotX(row.lane), cy: y(pos), r: row.index === picked ? 6 : 4.5, fill: row.mark ? "var(--alarm)" : laneColour(row.lane) }, svg);
      }
    }
    return svg;
  };

  // Arrows with an end in sight, and all of the selected row: which value a step saw is told only there.
  const edges = (svg, y) => {
    const shown = view(), [first, last] = drawn;
    const isSeen = (row) => shown.at[row] >= first && shown.at[row] <= last;
    const near = new Set(shown.edgesAt.get(picked) || []);
    const isDrawn = (it) => near.has(it) || it[2] !== "value" && (isSeen(it[0]) || isSeen(it[1]));
    const some = shown.edges.filter(isDrawn).slice(0, EDGES_MAX);
    const weight = (it) => (it[2] === "reason" || it[2] === "race" ? 2 : 0) + near.has(it);
    some.sort((a, b) => weight(a) - weight(b));
    for (const edge of some) {
      const [from, to, kind] = edge;
      const [a, b] = [shown.rows[from], shown.rows[to]];
      const [x1, x2] = [dotX(a.lane), dotX(b.lane)];
      const [y1, y2] = [y(shown.at[from]), y(shown.at[to])];
      const classes = `${kind} ${near.has(edge) ? "near" : ""}`;
      const bend = Math.max(ROW * 0.6, Math.min((y2 - y1) * 0.5, 3 * ROW));
      // Between rows of one lane an arrow goes out and comes back.
      const side = x1 === x2 ? 34 : 0;
      const end = kind === "race" ? y2 : y2 - 6;
      draw("path", { class: `edge ${classes}`, d: `M${x1} ${y1}C${x1 + side} ${y1 + bend} ${x2 + side} ${end - bend} ${x2} ${end}` }, svg);
      if (kind !== "race") draw("path", { class: `head ${classes}`, d: `M${x2 - 4} ${y2 - 11}h8l-4 7z` }, svg);
    }
  };

  // The whole schedule in a strip.
  const drawMap = () => {
    const canvas = map.firstChild, shown = view();
    const height = Math.max(1, map.clientHeight), n = Math.max(1, shown.entries.length);
    canvas.width = 14;
    canvas.height = height;
    const context = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const colours = [...Array(8).keys()].map((it) => style.getPropertyValue(`--t${it}`));
    const bar = Math.max(1, height / n);
    shown.entries.forEach((entry, pos) => {
      if (entry.switch) return;
      context.fillStyle = colours[entry.lane % 8];
      context.fillRect(2 + (entry.lane % 4) * 2.5, (pos / n) * height, 2.5, bar);
    });
    context.fillStyle = style.getPropertyValue("--alarm");
    for (const row of shown.marked) context.fillRect(0, (shown.at[row] / n) * height, 14, Math.max(2, bar));
  };
  const viewport = (top) => {
    const whole = Math.max(1, view().entries.length * ROW), box = map.lastChild;
    box.style.top = `${(100 * Math.min(top, whole)) / whole}%`;
    box.style.height = `${Math.min(100, (100 * lanes.clientHeight) / whole)}%`;
  };

  // Lists of lines, made once for each file.
  const files = new Map();
  const fileLines = (number) => {
    if (!files.has(number)) {
      const list = make("ol"), lines = new Map();
      let after = 0;
      for (const [first, part] of data.files[number].parts) {
        if (after > 0 && first > after) list.append(make("li", { class: "gap" }, "⋯"));
        part.forEach((text, idx) => {
          const item = make("li", {}, make("b", {}, String(first + idx)), text || " ");
          lines.set(first + idx, item);
          list.append(item);
        });
        after = first + part.length;
      }
      files.set(number, { list, lines });
    }
    return files.get(number);
  };

  // Where every thread stands when a row has been done: its last place before it.
  const standing = (row) => {
    const found = new Map(), all = view().rows, n = view().threads.length;
    for (let idx = row.index; idx >= 0 && idx > row.index - 5000 && found.size < n; idx -= 1) {
      if (!found.has(all[idx].lane) && all[idx].place) found.set(all[idx].lane, all[idx].place);
    }
    return found;
  };

  const showSource = (row) => {
    const heading = byId("source").firstElementChild, code = byId("code");
    const place = row.place;
    if (!place || place[0] < 0) {
      heading.textContent = place ? place[2] : "unknown location";
      const why = !place ? "This step has no source location."
        : place[1] > 0 ? "This is in a library." : "No debug information here. Build with -g to see source lines.";
      code.replaceChildren(make("p", {}, why));
      return;
    }
    const file = data.files[place[0]];
    heading.textContent = place[3] ? `${file.name}:${place[1]} in ${place[3]}` : `${file.name}:${place[1]}`;
    if (file.why) {
      code.replaceChildren(make("p", {}, `${file.name} ${file.why}.`));
      return;
    }
    const { list, lines } = fileLines(place[0]);
    for (const item of list.querySelectorAll(".here, .failed")) item.classList.remove("here", "failed");
    for (const item of list.querySelectorAll("i")) item.remove();
    if (code.firstChild !== list) code.replaceChildren(list);
    for (const [lane, other] of standing(row)) {
      const item = other[0] === place[0] ? lines.get(other[1]) : null;
      if (item) item.append(make("i", { style: `color:${laneColour(lane)}` }, view().threads[lane].name));
    }
    const here = lines.get(place[1]);
    if (!here) return;
    here.classList.add(row.mark ? "failed" : "here");
    const offset = here.offsetTop - code.offsetTop;
    if (offset < code.scrollTop + 24 || offset > code.scrollTop + code.clientHeight - 48) {
      code.scrollTop = Math.max(0, offset - code.clientHeight / 2);
    }
    code.scrollLeft = 0;
  };

  const select = (index) => {
    const shown = view();
    if (shown.rows.length === 0) return;
    picked = Math.max(0, Math.min(shown.rows.length - 1, index));
    const y = shown.at[picked] * ROW, room = lanes.clientHeight - heads.offsetHeight;
    if (y < lanes.scrollTop + ROW) lanes.scrollTop = Math.max(0, y - room / 3);
    else if (y > lanes.scrollTop + room - 2 * ROW) lanes.scrollTop = y - (room * 2) / 3;
    const row = shown.rows[picked], x = laneX(row.lane);
    if (x < lanes.scrollLeft) lanes.scrollLeft = x - 20;
    else if (x + laneWidth > lanes.scrollLeft + lanes.clientWidth) lanes.scrollLeft = x + laneWidth - lanes.clientWidth + 4;
    tip.hidden = true;
    render(true);
    detail.replaceChildren(describe(row, true));
    showSource(row);
    remember();
  };

  const remember = () => {
    // Not everywhere may a page change its own address.
    try {
      history.replaceState(null, "", `#view=${current + 1}&row=${picked + 1}`);
    } catch { /* The page works without. */ }
  };

  const show = (index) => {
    const before = isShown ? view().rows[picked] : null;
    isShown = true;
    current = Math.max(0, Math.min(views.length - 1, index));
    [...byId("views").children].forEach((button, idx) => button.setAttribute("aria-pressed", String(idx === current)));
    byId("size").textContent = view().size;
    picked = 0;
    layout();
    // The same step of the same thread if there is one, else the first that the text names, else where it fails.
    const isSame = (it) => it.lane === before.lane && it.text === before.text && it.mark === before.mark
      && (it.place || [])[2] === (before.place || [])[2];
    const same = before ? view().rows.findIndex(isSame) : -1;
    const ordered = view().edges.filter((it) => it[2] === "reason").map((it) => it[0]);
    const named = view().named.length > 0 ? view().named : ordered;
    select(same >= 0 ? same : named.length > 0 ? Math.min(...named) : failure());
  };

  const failure = () => {
    const { marked, rows, difference } = view();
    return marked.length > 0 ? marked[marked.length - 1] : difference ?? rows.length - 1;
  };

  // Columns as wide as there is room.
  const layout = () => {
    const shown = view(), n = shown.threads.length;
    const digits = Math.max(...shown.rows.slice(-8).map((it) => String(it.number).length), 1);
    const names = Math.max(0, ...shown.rows.map((it) => it.named.length && it.named.join(", ").length + 1));
    numbers = Math.max(60, 18 + 8 * (digits + names + 1));
    lanes.style.setProperty("--numbers", `${numbers}px`);
    // The height first: what scrolls up and down is narrower.
    track.style.width = heads.style.width = rowsBox.style.width = "auto";
    track.style.height = `${shown.entries.length * ROW}px`;
    // The last column needs no room beside it if the steps there are named on its left.
    const room = lanes.clientWidth - numbers - (n > 2 ? 4 : LANE_TAIL);
    laneWidth = Math.max(LANE_MIN, Math.min(340, Math.floor(room / n)));
    const width = `${trackWidth()}px`;
    track.style.width = heads.style.width = rowsBox.style.width = width;
    heads.replaceChildren(make("div", { class: "number" }, "step"), ...shown.threads.map((thread, lane) => make("div", {
      style: `left:${laneX(lane)}px;width:${laneWidth}px;padding-left:${Math.max(2, dotX(lane) - laneX(lane) - 12)}px;color:${laneColour(lane)}`, title: threadName(lane),
    }, thread.name, make("span", {}, thread.title))));
    const locks = [...new Set(shown.bands.map((it) => it[1]))].slice(0, 8);
    byId("bands").replaceChildren(...locks.map((lock) => make("span", { style: "margin-right:1em" },
      make("span", { class: "swatch", style: `background:${lockColour(lock)}` }), `${shown.objects[lock][0]} held`)));
    drawMap();
    render(true);
  };

  const step = (list, direction) => {
    const next = direction > 0 ? list.find((it) => it > picked) : list.findLast((it) => it < picked);
    if (next !== undefined) select(next);
  };
  const go = {
    "step+": () => select(picked + 1),
    "step-": () => select(picked - 1),
    "page+": () => select(picked + 20),
    "page-": () => select(picked - 20),
    "first": () => select(0),
    "last": () => select(view().rows.length - 1),
    "switch+": () => step(view().switches, 1),
    "switch-": () => step(view().switches, -1),
    "object+": () => step(view().touches.get(view().rows[picked].object) || [], 1),
    "object-": () => step(view().touches.get(view().rows[picked].object) || [], -1),
    "thread+": () => step(view().rows.filter((it) => it.lane === view().rows[picked].lane).map((it) => it.index), 1),
    "thread-": () => step(view().rows.filter((it) => it.lane === view().rows[picked].lane).map((it) => it.index), -1),
    "failure": () => {
      const { marked } = view();
      select(marked.find((it) => it > picked) ?? marked[0] ?? failure());
    },
    "view": () => show((current + 1) % views.length),
    "keys": () => byId("keys").click(),
  };
  const keys = {
    ArrowDown: "step+", j: "step+", ArrowUp: "step-", k: "step-", PageDown: "page+", PageUp: "page-",
    Home: "first", End: "last", n: "switch+", p: "switch-", o: "object+", O: "object-", t: "thread+", T: "thread-",
    f: "failure", v: "view", "?": "keys",
  };
  const words = [
    ["↓ j, ↑ k", "next, previous step"], ["n, p", "next, previous switch"], ["o, O", "next, previous event on this object"],
    ["t, T", "next, previous step of this thread"], ["f", "where it fails"], ["v, 1…9", "another schedule"],
    ["Home, End", "first, last step"], ["?", "these keys"],
  ];

  const theme = () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    drawMap();
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isSource = byId("code").contains(event.target) && /^(Arrow|Page|Home|End)/.test(event.key);
    if (isSource || event.target.closest?.("input, textarea, select, summary")) return;
    const number = Number(event.key);
    if (number >= 1 && number <= views.length) show(number - 1);
    else if (keys[event.key]) go[keys[event.key]]();
    else return;
    event.preventDefault();
  });
  for (const button of document.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => go[button.dataset.go]());
  }
  byId("theme").addEventListener("click", theme);
  byId("keys").addEventListener("click", () => {
    const help = byId("help");
    help.hidden = !help.hidden;
    byId("keys").setAttribute("aria-expanded", String(!help.hidden));
  });
  byId("help").append(...words.map(([key, what]) => make("div", {}, make("kbd", {}, key), ` ${what}`)));
  byId("views").append(...views.map((it, idx) => make("button", { "aria-pressed": "false", on: () => show(idx) }, it.label)));

  // A line of the text leads to its step.
  for (const item of document.querySelectorAll(".points li[data-named]")) {
    item.addEventListener("click", () => {
      const found = views[0].rows.find((it) => it.named.includes(Number(item.dataset.named)));
      if (!found) return;
      if (current !== 0) show(0);
      select(found.index);
    });
  }
  const rowOf = (event) => event.target.closest?.("[data-row]");
  rowsBox.addEventListener("click", (event) => {
    const element = rowOf(event);
    if (element) select(Number(element.dataset.row));
  });
  rowsBox.addEventListener("mousemove", (event) => {
    const element = rowOf(event);
    tip.hidden = !element;
    if (!element) return;
    tip.replaceChildren(describe(view().rows[Number(element.dataset.row)], false));
    const { offsetWidth: width, offsetHeight: height } = tip;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 16, innerWidth - width - 8))}px`;
    tip.style.top = `${event.clientY + 18 + height > innerHeight ? Math.max(4, event.clientY - height - 12) : event.clientY + 18}px`;
  });
  rowsBox.addEventListener("mouseleave", () => { tip.hidden = true; });
  map.addEventListener("click", (event) => {
    const share = (event.clientY - map.getBoundingClientRect().top) / map.clientHeight;
    lanes.scrollTop = share * view().entries.length * ROW - lanes.clientHeight / 2;
  });
  let isDue = false;
  lanes.addEventListener("scroll", () => {
    tip.hidden = true;
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      render(false);
    });
  }, { passive: true });
  addEventListener("resize", layout);
  addEventListener("beforeprint", () => { byId("text").open = true; });
  addEventListener("afterprint", () => { byId("text").open = false; });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawMap);

  const wanted = new URLSearchParams(location.hash.slice(1));
  byId("explorer").hidden = false;
  byId("text").open = false;
  show(Number(wanted.get("view") || 1) - 1);
  if (wanted.has("row")) select(Number(wanted.get("row")) - 1);
  document.documentElement.dataset.ready = "yes";
})();
