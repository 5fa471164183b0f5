// What the page does beyond reading: sorting, searching, choosing thresholds, documents behind cells, colors.
// Texts of documents and labels are only ever set as textContent.
"use strict";
(() => {
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  root.classList.remove("no-script");

  function make(name, text, attributes = {}, ...children) {
    const element = document.createElement(name);
    if (text !== null && text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }
  const isolated = (text) => make("bdi", text);

  // Colors: those of the system until the button is used.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  function showTheme() {
    $("theme").textContent = isDark() ? "Light colors" : "Dark colors";
  }
  $("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  dark.addEventListener("change", showTheme);
  showTheme();

  // Printing shows what is folded away.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });

  // Tables that sort: a button in every header.
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  function sortKey(row, column) {
    const cell = row.cells[column];
    const given = cell.dataset.sort;
    const text = given === undefined ? cell.textContent.trim() : given;
    const number = Number(text);
    return text !== "" && Number.isFinite(number) ? number : text;
  }
  function compare(a, b) {
    const numbers = (typeof a === "number") + (typeof b === "number");
    if (numbers === 2) return a - b;
    if (numbers === 1) return typeof a === "number" ? 1 : -1;
    return collator.compare(a, b);
  }
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const body = table.tBodies[0];
    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((header, column) => {
      const heading = header.querySelector(".heading");
      const button = make("button", heading.textContent, { type: "button" });
      heading.replaceWith(button);
      button.addEventListener("click", () => {
        const number = header.classList.contains("number");
        const before = header.getAttribute("aria-sort");
        const rising = before === "none" ? !number : before === "descending";
        for (const other of headers) other.setAttribute("aria-sort", "none");
        header.setAttribute("aria-sort", rising ? "ascending" : "descending");
        const rows = [...body.rows].map((row) => [sortKey(row, column), row]);
        rows.sort((a, b) => (a[0] === "" || b[0] === "" ? (a[0] === "") - (b[0] === "")
          : (rising ? 1 : -1) * compare(a[0], b[0])));
        body.append(...rows.map((pair) => pair[1]));
      });
    });
  }

  // Tables that are searched.
  for (const input of document.querySelectorAll("input[data-search]")) {
    const table = $(input.dataset.search);
    const output = $(`${input.dataset.search}-found`);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        found += row.hidden ? 0 : 1;
      }
      output.textContent = words.length ? `${found} of ${table.tBodies[0].rows.length} ${table.dataset.noun}` : "";
    });
  }

  // A link to a folded text opens it.
  function openTarget() {
    const target = location.hash ? $(decodeURIComponent(location.hash.slice(1))) : null;
    if (target && target.tagName === "DETAILS") {
      for (let one = target; one; one = one.parentElement.closest("details")) one.open = true;
      target.querySelector("summary").focus();
    }
  }
  addEventListener("hashchange", openTarget);
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) openTarget();
  });
  openTarget();

  // The documents behind a number of the confusion matrix.
  const NONE = "(none)";
  const labelOf = (number) => (number < 0 ? NONE : data.labels[number]);
  function tagsOf(numbers) {
    if (!numbers.length) return [make("span", "none", { class: "muted" })];
    return numbers.flatMap((number) => [make("span", null, { class: "label" }, isolated(labelOf(number))), " "]);
  }
  function documentOf(number) {
    const [name, text, truth, decided, shortened] = data.cases[number];
    const summary = make("summary", null, {}, isolated(name), " ");
    if (text !== null) summary.append(make("span", text.slice(0, 80).replace(/\s+/g, " "), { class: "muted" }));
    const labels = make("p", null, {}, "Is: ", ...tagsOf(truth), " Model says: ", ...tagsOf(decided));
    const body = make("div", null, { class: "document" }, isolated(text === null ? "(a vector, no text)" : text));
    if (shortened) body.append(make("p", "The rest of the text is not shown.", { class: "muted" }));
    return make("details", null, {}, summary, labels, body);
  }
  let pressed = null;
  for (const span of document.querySelectorAll("span[data-cell]")) {
    const { cell, name } = span.dataset;
    const button = make("button", span.textContent, { type: "button", "aria-label": name, "aria-pressed": "false" });
    span.replaceWith(button);
    button.addEventListener("click", () => {
      if (pressed) pressed.setAttribute("aria-pressed", "false");
      pressed = button;
      button.setAttribute("aria-pressed", "true");
      const [count, ...numbers] = data.cells[cell];
      const [truth, decided] = cell.split(",").map(Number);
      const title = make("h3", null, {}, "Is ", isolated(labelOf(truth)), ", is called ", isolated(labelOf(decided)));
      const behind = $("behind");
      behind.replaceChildren(title, ...numbers.map(documentOf));
      if (numbers.length < count) {
        behind.append(make("p", `The first ${numbers.length} of ${count} documents.`, { class: "note" }));
      }
      behind.focus({ preventScroll: true });
      behind.scrollIntoView({ block: "nearest" });
    });
  }

  // The regularized incomplete beta function (continued fraction, Lentz), and its inverse by bisection:
  // Clopper and Pearson's interval of a share.
  function logGamma(x) {
    const c = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2,
      -0.5395239384953e-5];
    let sum = 1.000000000190015;
    c.forEach((value, k) => { sum += value / (x + k + 1); });
    const t = x + 5.5;
    return (x + 0.5) * Math.log(t) - t + Math.log(2.5066282746310005 * sum / x);
  }
  function incompleteBeta(a, b, x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
    const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a;
    const tiny = 1e-30;
    let c = 1;
    let d = 1 / Math.max(Math.abs(1 - (a + b) * x / (a + 1)), tiny) * Math.sign(1 - (a + b) * x / (a + 1) || 1);
    let f = d;
    for (let m = 1; m < 2000; m += 1) {
      const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / (1 + even * d || tiny);
      c = 1 + even / c || tiny;
      f *= d * c;
      const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / (1 + odd * d || tiny);
      c = 1 + odd / c || tiny;
      f *= d * c;
      if (Math.abs(d * c - 1) < 1e-12) break;
    }
    return front * f;
  }
  function quantile(a, b, p) {
    let low = 0;
    let high = 1;
    for (let step = 0; step < 60; step += 1) {
      const middle = (low + high) / 2;
      if (incompleteBeta(a, b, middle) < p) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }
  function interval(hits, trials) {
    if (!trials) return [0, 1];
    return [
      hits > 0 ? quantile(hits, trials - hits + 1, 0.025) : 0,
      hits < trials ? quantile(hits + 1, trials - hits, 0.975) : 1,
    ];
  }

  // The chooser.
  if (!data.tradeoffs || !$("chooser")) return;
  const kept = new Map(); // category -> threshold, where it is not the model's
  const fields = Object.fromEntries(["category", "way", "target", "alarm", "miss", "point"].map(
    (name) => [name, $(`choose-${name}`)]));
  const NEVER = { t: "never", h: 0, g: 0 };
  const at = (one, k) => ({ t: one.t[k], h: one.h[k], g: one.g[k] });
  const exclusive = data.task === "multiclass";

  function bestOf(one, value) {
    let best = exclusive ? null : NEVER;
    for (let k = 0; k < one.t.length; k += 1) {
      const found = at(one, k);
      if (best === null || value(found) > value(best)) best = found;
    }
    return best;
  }
  // Returns the outcome of the chosen rule, or a sentence if there is none.
  function outcome(one) {
    const number = (name) => Number(fields[name].value);
    if (fields.way.value === "now") return { t: one.now[0], h: one.now[1], g: one.now[2] };
    if (!one.p) return "No test document has this category, so no threshold can be chosen for it.";
    if (fields.way.value === "f1") return bestOf(one, (found) => 2 * found.h / (found.g + one.p));
    if (fields.way.value === "curve") return at(one, Math.min(number("point"), one.t.length - 1));
    if (fields.way.value === "cost") {
      const [alarm, miss] = [number("alarm"), number("miss")];
      if (!(alarm >= 0 && miss >= 0 && alarm + miss > 0)) return "Costs must not be negative, and not both 0.";
      return bestOf(one, (found) => -(alarm * (found.g - found.h) + miss * (one.p - found.h)));
    }
    const target = number("target") / 100;
    if (!(target > 0 && target <= 1)) return "The target must be between 0 and 100.";
    const points = one.t.map((_, k) => at(one, k));
    if (fields.way.value === "recall") {
      return points.find((found) => found.h / one.p >= target) || "No threshold reaches this recall.";
    }
    const enough = points.filter((found) => found.h / found.g >= target);
    return enough.length ? enough[enough.length - 1] : "No threshold reaches this precision.";
  }
  const percent = (value) => (Number.isFinite(value) ? (100 * value).toFixed(1) : "-");
  function withInterval(hits, trials) {
    if (!trials) return "-";
    const [low, high] = interval(hits, trials);
    return `${percent(hits / trials)} (${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)})`;
  }
  function resultTable(one, found) {
    const now = { t: one.now[0], h: one.now[1], g: one.now[2] };
    const rows = [
      ["threshold", (each) => (typeof each.t === "number" ? String(Number(each.t.toPrecision(6))) : each.t ?? "-")],
      ["assigned to", (each) => each.g.toLocaleString("en")],
      ["of these right", (each) => each.h.toLocaleString("en")],
      ["missed", (each) => (one.p - each.h).toLocaleString("en")],
      ["precision %", (each) => withInterval(each.h, each.g)],
      ["recall %", (each) => withInterval(each.h, one.p)],
      ["F1 %", (each) => percent(each.g + one.p ? 2 * each.h / (each.g + one.p) : NaN)],
    ];
    const head = make("thead", null, {}, make("tr", null, {}, make("th", "on the test documents", { scope: "col" }),
      make("th", "now", { scope: "col", class: "number" }), make("th", "chosen", { scope: "col", class: "number" })));
    const body = make("tbody");
    for (const [name, value] of rows) {
      body.append(make("tr", null, {}, make("th", name, { scope: "row" }), make("td", value(now), { class: "number" }),
        make("td", value(found), { class: "number", "data-figure": name })));
    }
    return make("table", null, { id: "result" }, make("caption", "What the threshold does"), head, body);
  }

  function showPoint(one, found, category) {
    const plot = $("pr");
    if (!plot) return;
    for (const line of plot.querySelectorAll(".picked")) line.classList.remove("picked");
    const line = $(`pr-${category}`);
    plot.classList.toggle("some", line !== null);
    if (line) line.classList.add("picked");
    let point = plot.querySelector(".point");
    if (!point) {
      point = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      point.setAttribute("class", "point");
      point.setAttribute("r", "6");
      plot.append(point);
    }
    const known = typeof found === "object" && found.g > 0 && one.p > 0;
    point.setAttribute("visibility", known ? "visible" : "hidden");
    if (!known) return;
    const [left, top, right, bottom] = plot.dataset.box.split(" ").map(Number);
    point.setAttribute("cx", left + (right - left) * found.h / one.p / 1.02);
    point.setAttribute("cy", bottom - (bottom - top) * found.h / found.g / 1.02);
  }

  const quoted = (text) => (/^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  function chosenThresholds() {
    const category = Number(fields.category.value);
    const pairs = data.task === "multilabel" ? [...kept] : [...kept].filter(([key]) => key === category);
    return pairs.sort((a, b) => a[0] - b[0]);
  }
  function showCommand() {
    const pairs = chosenThresholds();
    const inFile = pairs.length > 12 || pairs.some(([key]) => !data.plain[key]);
    const start = `widemargin predict ${quoted(data.model)} NEW.jsonl`;
    const options = inFile ? ["--thresholds thresholds.json"]
      : pairs.map(([key, value]) => `--thresholds ${quoted(`${data.names[key]}=${value}`)}`);
    $("command").textContent = [start, ...options].join(" ");
    $("command-words").textContent = !pairs.length ? "The model decides as it was trained."
      : inFile ? "Save the thresholds first; the command reads the file."
        : `Decides with ${pairs.length === 1 ? "this threshold" : `these ${pairs.length} thresholds`}.`;
    $("download").disabled = !pairs.length;
    $("forget").disabled = !kept.size;
    $("copied").textContent = "";
  }

  function show() {
    const category = Number(fields.category.value);
    const one = data.tradeoffs[category];
    for (const part of document.querySelectorAll("#chooser [data-way]")) {
      part.hidden = !part.dataset.way.split(" ").includes(fields.way.value);
    }
    fields.point.max = Math.max(one.t.length - 1, 0);
    const found = outcome(one);
    if (fields.way.value === "now" || typeof found === "string") kept.delete(category);
    else kept.set(category, found.t);
    $("chosen").replaceChildren(typeof found === "string" ? make("p", found, { class: "missing" })
      : resultTable(one, found));
    if (fields.way.value === "curve") {
      fields.point.setAttribute("aria-valuetext", `threshold ${found.t}, assigned to ${found.g}`);
    }
    showPoint(one, found, category);
    showCommand();
    for (const row of document.querySelectorAll("tr.chosen")) row.classList.remove("chosen");
    const link = document.querySelector(`a[data-category="${category}"]`);
    if (link) link.closest("tr").classList.add("chosen");
  }
  $("chooser").addEventListener("input", (event) => {
    if (event.target === fields.category) fields.way.value = "now";
    show();
  });
  $("chooser").addEventListener("submit", (event) => event.preventDefault());
  for (const link of document.querySelectorAll("a[data-category]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault(); // which would take the focus back
      fields.category.value = link.dataset.category;
      fields.way.value = "now";
      show();
      $("thresholds").scrollIntoView();
      fields.category.focus({ preventScroll: true });
    });
  }
  $("copy").addEventListener("click", async () => {
    const text = $("command").textContent;
    try {
      await navigator.clipboard.writeText(text);
      $("copied").textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren($("command"));
      $("copied").textContent = document.execCommand("copy") ? "Copied." : "Press Ctrl+C to copy it.";
    }
  });
  $("download").addEventListener("click", () => {
    const content = Object.fromEntries(chosenThresholds().map(([key, value]) => [data.names[key], value]));
    const file = new Blob([`${JSON.stringify(content, null, 1)}\n`], { type: "application/json" });
    const link = make("a", null, { href: URL.createObjectURL(file), download: "thresholds.json" });
    link.click();
    URL.revokeObjectURL(link.href);
  });
  $("forget").addEventListener("click", () => {
    kept.clear();
    fields.way.value = "now";
    show();
  });
  // The category with the most test documents comes first.
  const counts = data.tradeoffs.map((one) => one.p);
  fields.category.value = String(counts.indexOf(Math.max(...counts)));
  show();
})();
