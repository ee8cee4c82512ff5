"use strict";
// What moves on the page: charts that fit the screen, tables that sort, the chosen dataset, the chosen pair.
(() => {
  const MINUS = "\u2212";
  const read = (element) => JSON.parse(element.textContent);
  const all = (selector, below = document) => [...below.querySelectorAll(selector)];
  const charts = read(document.getElementById("charts-data"));
  const views = all("#queries .panel").filter((panel) => panel.querySelector(".controls"));

  // Text goes in as text: nothing that is written here can become markup.
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  // ---- Charts

  // Three names beside each other in a legend need more room than this.
  const NARROW = 420;
  const inTwoColumns = ({ datasets, ...spec }) => ({
    datasets,
    ...JSON.parse(JSON.stringify(spec), (key, value) => (key === "columns" && value === 3 ? 2 : value)),
  });

  function fitted(spec, width) {
    const { panels, columns: most, least, apart, stacked } = spec.usermeta;
    if (stacked) return { ...spec, vconcat: spec.vconcat.map((plot) => ({ ...plot, width: width - stacked })) };
    if (!panels && width < NARROW) spec = inTwoColumns(spec);
    if (!panels) return { ...spec, width, padding: { left: 2, top: 4, right: 8, bottom: 2 }, autosize: { type: "fit-x", contains: "padding" } };
    const axis = 54, gap = 18; // the vertical axis: one for all panels, or each its own
    const fit = width - (apart ? 0 : axis) + gap;
    const each = gap + (apart ? axis : 0);
    const columns = Math.max(1, Math.min(most, panels, Math.floor(fit / (least + each))));
    const inner = Math.floor(fit / columns) - each - 4;
    const header = { ...spec.facet.header, labelLimit: inner };
    return { ...spec, columns, facet: { ...spec.facet, header }, spec: { ...spec.spec, width: inner } };
  }

  function draw(box, spec = charts.specs[box.dataset.chart]) {
    const room = box.closest(".side") ? PAPER / 2 - 12 : PAPER;
    const width = isPrinting ? Math.min(box.clientWidth, room) : box.clientWidth;
    if (!width || (box.drawnSpec === spec && box.drawnWidth === width)) return;
    Object.assign(box, { drawnSpec: spec, drawnWidth: width });
    const options = {
      mode: "vega-lite",
      renderer: "svg",
      actions: false,
      ast: true, // interpret expressions: the page's policy has no eval
      defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
      config: charts.config,
    };
    vegaEmbed(box, fitted(spec, width), options).then(
      () => { box.style.minHeight = ""; },
      (error) => { box.textContent = `This chart could not be drawn: ${error.message}`; throw error; },
    );
  }

  // Charts that stay as they are; a view of queries draws its own.
  const boxes = () => all(".chart[data-chart]").filter((box) => !views.some((view) => view.contains(box)));
  const near = new IntersectionObserver(
    (entries) => entries.forEach((entry) => {
      if (!entry.isIntersecting) return;
      near.unobserve(entry.target);
      draw(entry.target);
    }),
    { rootMargin: "300px" },
  );
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { boxes().forEach((box) => box.drawnSpec && draw(box)); views.forEach(drawPair); }, 150);
  });
  // Paper shows every dataset, and all that is folded, with charts as wide as a page.
  const PAPER = 690;
  let closed = [];
  let isPrinting = false;
  addEventListener("beforeprint", () => {
    isPrinting = true;
    for (const panel of all(".panel")) panel.hidden = false;
    closed = all("details:not([open])");
    for (const folded of closed) folded.open = true;
    boxes().forEach((box) => draw(box));
    views.forEach(drawPair);
  });
  addEventListener("afterprint", () => {
    isPrinting = false;
    for (const folded of closed) folded.open = false;
    boxes().forEach((box) => box.drawnSpec && draw(box));
    views.forEach(drawPair);
    chooseAgain();
  });

  // ---- Tables

  function value(cell) {
    if (cell === undefined) return null;
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.classList.contains("text") || cell.scope === "row" ? cell.textContent.trim() : null;
  }

  function compare(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null); // what is missing stands last, either way
    return sign * (typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  }

  // The next order for a column: names from A, numbers from the largest, then the other way round.
  function turn(title) {
    const first = title.classList.contains("text") ? "ascending" : "descending";
    const now = title.getAttribute("aria-sort");
    const next = now !== first ? first : first === "ascending" ? "descending" : "ascending";
    all("th", title.parentElement).forEach((other) => other.removeAttribute("aria-sort"));
    title.setAttribute("aria-sort", next);
    return next === "ascending" ? 1 : -1;
  }

  for (const table of all("table.sortable")) {
    all("thead th", table).forEach((title, i) => title.firstElementChild.addEventListener("click", () => {
      const sign = turn(title);
      for (const body of table.tBodies) {
        const rows = [...body.rows].map((row) => [value(row.cells[i]), row]);
        rows.sort((a, b) => compare(a[0], b[0], sign));
        body.append(...rows.map(([, row]) => row));
      }
    }));
  }

  // ---- The chosen dataset

  const choices = all(".choice input");
  function chooseAgain() {
    const chosen = choices.find((input) => input.checked);
    for (const panel of all(".panel")) panel.hidden = Boolean(chosen) && panel.dataset.panel !== chosen.value;
    drawWhenIdle();
  }
  for (const input of choices) input.addEventListener("change", chooseAgain);

  // ---- Query by query

  const STEP = 20;
  const queries = new Map(views.map((view) => [view, read(view.querySelector(".data"))]));

  function written(number, digits, signed = false) {
    if (number === null) return "–";
    const text = Math.abs(number).toFixed(digits);
    const sign = Number(text) === 0 ? "" : number < 0 ? MINUS : signed ? "+" : "";
    return sign + text;
  }
  function shortly(number) {
    if (number === null || number === undefined) return "–";
    const small = number !== 0 && Math.abs(number) < 1e-4;
    return (small ? number.toExponential(2) : String(Number(number.toPrecision(4)))).replace("-", MINUS).replace("e-", `e${MINUS}`);
  }

  function pairOf(view) {
    const data = queries.get(view);
    const [a, b] = ["a", "b"].map((name) => Number(view.querySelector(`[name=${name}]`).value));
    return { data, a, b, scale: 10 ** data.digits };
  }

  function verdict({ data, a, b }) {
    if (a === b) return "Choose two different rankers.";
    const tested = data.pairs.find(([x, y]) => (x === a && y === b) || (x === b && y === a));
    const names = `${data.rankers[a]} minus ${data.rankers[b]}`;
    if (!tested) return names;
    const turned = tested[0] !== a;
    const [, , difference, low, high, p, wins, ties, losses, isSignificant] = tested;
    const minus = (x) => (x === null ? null : -x);
    const [d, from, to] = turned ? [difference, high, low].map(minus) : [difference, low, high];
    const [better, worse] = turned ? [losses, wins] : [wins, losses];
    const chance = p === null ? "" : `; p ${p < 0.001 ? "< 0.001" : `= ${p.toFixed(3)}`} after Holm’s correction`;
    const interval = `uncorrected ${data.level} interval ${written(from, 4, true)} to ${written(to, 4, true)}`;
    return `${names}: ${written(d, 4, true)} ${data.measure} on average, ${isSignificant ? "significant" : "within chance"} (${interval}${chance}); `
      + `better on ${better} queries, equal on ${ties}, worse on ${worse}.`;
  }

  function drawPair(view) {
    const box = view.querySelector(".chart");
    if (view.closest("[hidden]")) return;
    const { data, a, b, scale } = pairOf(view);
    const key = `${a},${b}`;
    if (view.drawnPair !== key) {
      const template = charts.specs[box.dataset.chart];
      const differences = data.qids.map((_, i) => difference(data, a, b, i)).filter((d) => d !== null).sort((x, y) => x - y);
      // The last step ends where another query would begin.
      const rows = [...differences, ...differences.slice(-1)].map((d, i) => ({ query: i, difference: d / scale }));
      const filled = template.layer.map((layer, i) => (i < 2 ? { ...layer, data: { values: rows } } : layer));
      view.spec = { ...template, layer: filled };
      view.drawnPair = key;
      view.querySelector(".verdict").textContent = verdict({ data, a, b });
      box.setAttribute("aria-label", `Per-query differences, sorted. ${verdict({ data, a, b })}`);
    }
    draw(box, view.spec);
  }

  function difference(data, a, b, i) {
    const [x, y] = [data.values[a][i], data.values[b][i]];
    return x === null || y === null ? null : x - y;
  }

  // A query's documents in the order of the first ranker.
  function documents({ data, a, b }, i) {
    const docs = data.documents[i];
    const place = (j) => docs.ranks[a][j] ?? Infinity;
    const order = docs.ids.map((_, j) => j).sort((x, y) => place(x) - place(y));
    const pair = [data.rankers[a], data.rankers[b]];
    const group = (title, span) => element("th", { scope: "colgroup", colspan: span }, title);
    const head = element("thead", {},
      element("tr", {}, element("td"), element("td"), group("Rank by", 2), group("Score by", 2), element("td")),
      element("tr", {}, ...["Document", "Label", ...pair, ...pair].map((title) => element("th", { scope: "col" }, title)),
        element("th", { scope: "col", class: "text" }, "Features that stand out")));
    const rows = order.map((j) => {
      const grade = element("span", { class: docs.labels[j] > 0 ? "grade relevant" : "grade" }, shortly(docs.labels[j]));
      const numbers = [shortly(docs.ranks[a][j]), shortly(docs.ranks[b][j]), written(docs.scores[a][j], 4), written(docs.scores[b][j], 4)];
      const features = docs.features[j].flatMap(([name, value], n) => [n ? " · " : "", `${name} `, element("b", {}, shortly(value))]);
      return element("tr", {}, element("th", { scope: "row" }, docs.ids[j]), element("td", {}, grade),
        ...numbers.map((number) => element("td", {}, number)), element("td", { class: "text" }, ...features));
    });
    const caption = `Documents of query ${data.qids[i]}`;
    return element("div", { class: "within", tabindex: "0", role: "region", "aria-label": caption },
      element("table", {}, element("caption", {}, caption), head, element("tbody", {}, ...rows)));
  }

  function rowOf(pair, i, widest) {
    const { data, a, b, scale } = pair;
    const d = difference(data, a, b, i);
    const bar = element("i", { class: d > 0 ? "plus" : "minus" });
    bar.style.width = `${(50 * Math.abs(d)) / widest}%`;
    const name = element("th", { scope: "row" }, data.qids[i]);
    const row = element("tr", {}, name,
      element("td", {}, written(d / scale, 4, true), element("span", { class: "bar", "aria-hidden": "true" }, bar)),
      element("td", {}, written(data.values[a][i] / scale, 4)), element("td", {}, written(data.values[b][i] / scale, 4)),
      element("td", {}, String(data.folds[i])));
    if (!data.documents[i]) return [row];
    const inner = element("tr", { class: "documents", hidden: "" }, element("td", { colspan: "5" }));
    const button = element("button", { type: "button", class: "open", "aria-expanded": "false" }, data.qids[i]);
    button.addEventListener("click", () => {
      if (!inner.cells[0].hasChildNodes()) inner.cells[0].append(documents(pair, i));
      inner.hidden = !inner.hidden;
      button.setAttribute("aria-expanded", String(!inner.hidden));
    });
    name.replaceChildren(button);
    return [row, inner];
  }

  function list(view, shown = STEP) {
    const pair = pairOf(view);
    const { data, a, b } = pair;
    const titles = all(".list thead th", view);
    const at = titles.findIndex((title) => title.hasAttribute("aria-sort"));
    const sign = titles[at].getAttribute("aria-sort") === "ascending" ? 1 : -1;
    titles[2].firstElementChild.textContent = data.rankers[a];
    titles[3].firstElementChild.textContent = data.rankers[b];
    const keys = [(i) => data.qids[i], (i) => difference(data, a, b, i), (i) => data.values[a][i], (i) => data.values[b][i], (i) => data.folds[i]];
    const only = view.querySelector("[name=only]").checked;
    const rows = data.qids.map((_, i) => i).filter((i) => difference(data, a, b, i) !== null && (!only || data.documents[i]));
    const widest = rows.reduce((most, i) => Math.max(most, Math.abs(difference(data, a, b, i))), 1);
    rows.sort((x, y) => compare(keys[at](x), keys[at](y), sign));
    view.querySelector(".list tbody").replaceChildren(...rows.slice(0, shown).flatMap((i) => rowOf(pair, i, widest)));
    const more = view.querySelector(".more");
    more.hidden = rows.length <= shown;
    more.textContent = `Show ${Math.min(STEP, rows.length - shown)} more of ${rows.length}`;
    view.shown = shown;
  }

  for (const view of views) {
    const [a, b] = ["a", "b"].map((name) => view.querySelector(`[name=${name}]`));
    const update = () => { drawPair(view); list(view); };
    for (const select of [a, b]) select.addEventListener("change", update);
    view.querySelector(".swap").addEventListener("click", () => { [a.value, b.value] = [b.value, a.value]; update(); });
    view.querySelector("[name=only]").addEventListener("change", () => list(view));
    view.querySelector(".more").addEventListener("click", () => list(view, view.shown + STEP));
    for (const title of all(".list thead th", view)) title.firstElementChild.addEventListener("click", () => { turn(title); list(view); });
  }

  // ---- Copying, and where the reader is

  for (const box of all(".copied")) {
    const button = element("button", { type: "button", class: "copy" }, "Copy");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(box.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    if (navigator.clipboard) box.append(button);
  }

  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const where = new IntersectionObserver(
    (entries) => entries.forEach((entry) => {
      if (!entry.isIntersecting) return;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }),
    { rootMargin: "-20% 0px -70% 0px" },
  );
  all("main section").forEach((section) => where.observe(section));

  // ---- Start: charts in sight first, the others when the reader comes near or the browser has time

  const idle = (work) => (window.requestIdleCallback
    ? requestIdleCallback(work, { timeout: 200 })
    : setTimeout(() => work({ timeRemaining: () => 0 }), 50));
  function drawWhenIdle() {
    const pending = [...views.map((view) => () => drawPair(view)), ...boxes().map((box) => () => draw(box))];
    idle(function work(deadline) {
      do pending.shift()?.(); while (pending.length && deadline.timeRemaining() > 20);
      if (pending.length) idle(work);
    });
  }

  boxes().forEach((box) => near.observe(box));
  for (const view of views) list(view);
  chooseAgain();
})();
