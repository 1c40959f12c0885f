"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const live = read("points"), find = (id) => document.getElementById(id);
  document.documentElement.classList.add("js");
  const articles = [...document.querySelectorAll("article.block")];
  const number = (text, otherwise) => (text !== "" && isFinite(+text) ? +text : otherwise);

  // Each model's thresholds, and its counts at them; row 0 is where nothing is predicted positive.
  const blocks = live.blocks.map((block) => ({
    share: block.share,
    models: block.models.map((model) => {
      const add = (steps) => { const sums = [0]; for (const step of steps) sums.push(sums[sums.length - 1] + step); return sums; };
      const tp = add(model.tp), fp = add(model.fp), t = [Infinity, ...model.t];
      return { ...model, t, tp, fp, P: tp[tp.length - 1], N: fp[fp.length - 1] };
    }),
  }));

  // Rows by what is asked of them -------------------------------------------------------------------------------------
  const last = (n, holds) => { // the last row where a condition holds that holds at row 0 and fails from some row on
    let low = 0, high = n;
    while (high - low > 1) { const middle = (low + high) >> 1; if (holds(middle)) low = middle; else high = middle; }
    return low;
  };
  const divide = (a, b) => (b ? a / b : NaN);
  const cells = (m, k) => ({ tp: m.tp[k], fp: m.fp[k], fn: m.P - m.tp[k], tn: m.N - m.fp[k] });
  const costAt = (m, k, at) => at.prior * at.fn * divide(m.P - m.tp[k], m.P) + (1 - at.prior) * at.fp * divide(m.fp[k], m.N);
  const rowBy = {
    chosen: (m) => m.at,
    score: (m, value) => last(m.t.length, (k) => m.t[k] >= value),
    share: (m, value) => last(m.t.length, (k) => m.tp[k] + m.fp[k] <= value * (m.P + m.N)),
    recall: (m, value) => { const k = last(m.t.length, (k) => m.tp[k] < value * m.P); return m.tp[0] >= value * m.P ? 0 : Math.min(k + 1, m.t.length - 1); },
    precision: (m, value) => { for (let k = m.t.length - 1; k > 0; k--) if (m.tp[k] >= value * (m.tp[k] + m.fp[k])) return k; return 0; },
    fpr: (m, value) => last(m.t.length, (k) => m.fp[k] <= value * m.N),
    cost: (m, value, at) => { let best = 0; for (let k = 1; k < m.t.length; k++) if (costAt(m, k, at) < costAt(m, best, at)) best = k; return best; },
  };
  const numbers = (c, at) => {
    const { tp, fp, fn, tn } = c, n = tp + fp + fn + tn;
    return {
      tp, fp, fn, tn, recall: divide(tp, tp + fn), precision: divide(tp, tp + fp), false_positive_rate: divide(fp, fp + tn),
      specificity: divide(tn, fp + tn), accuracy: divide(tp + tn, n), f1: divide(2 * tp, 2 * tp + fp + fn),
      matthews: divide(tp * tn - fp * fn, Math.sqrt(tp + fp) * Math.sqrt(tp + fn) * Math.sqrt(tn + fp) * Math.sqrt(tn + fn)),
      cost: at.given ? at.prior * at.fn * divide(fn, tp + fn) + (1 - at.prior) * at.fp * divide(fp, fp + tn) : divide(at.fn * fn + at.fp * fp, n),
    };
  };
  // PC(+) for which a row is no dearer than any other: cost is a line over it for each row.
  const holds = (m, k) => {
    let low = 0, high = 1;
    const fpr = m.fp[k] / m.N, fnr = 1 - m.tp[k] / m.P;
    for (let j = 0; j < m.t.length; j++) {
      const a = m.fp[j] / m.N - fpr, slope = 1 - m.tp[j] / m.P - fnr - a; // this row's cost less that of row k is a + slope * x
      if (slope > 0) low = Math.max(low, -a / slope); else if (slope < 0) high = Math.min(high, -a / slope); else if (a < 0) return null;
    }
    return low <= high ? [low, high] : null;
  };
  const asPrior = (x, at) => x <= 0 || x >= 1 ? Math.round(x) : divide(x * at.fp, x * at.fp + (1 - x) * at.fn);
  const asShare = (prior, at) => prior <= 0 || prior >= 1 ? Math.round(prior) : divide(prior * at.fn, prior * at.fn + (1 - prior) * at.fp);

  // Where a value is in a picture ------------------------------------------------------------------------------------
  const deviate = (p) => { // Acklam's rational approximation, to 1e-9
    if (p <= 0) return -8; if (p >= 1) return 8;
    const a = [-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716, 2.506628277459239];
    const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572];
    const c = [-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783];
    const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];
    const tail = (q) => (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) / ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
    if (p < 0.02425) return tail(Math.sqrt(-2 * Math.log(p)));
    if (p > 1 - 0.02425) return -tail(Math.sqrt(-2 * Math.log(1 - p)));
    const q = p - 0.5, r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q / (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  };
  const scale = (text) => {
    const [low, high, kind] = text.split(" "), move = { linear: (v) => v, log: Math.log10, deviate }[kind];
    const from = move(+low), span = move(+high) - from;
    return (v) => (move(v) - from) / span;
  };
  const pictures = [...document.querySelectorAll("article.block svg[data-picture]")].map((svg) => {
    const [left, top, width, height] = svg.dataset.box.split(" ").map(Number), x = scale(svg.dataset.x), y = scale(svg.dataset.y);
    return {
      svg, kind: svg.dataset.picture, x: (v) => left + width * x(v), y: (v) => top + height * (1 - y(v)), left, top, width, height,
      block: +svg.closest("article").dataset.block, place: +svg.closest("figure").dataset.place,
      dots: new Map([...svg.querySelectorAll("circle.at")].map((dot) => [+dot.dataset.model, dot])),
      lines: new Map([...svg.querySelectorAll("path.threshold")].map((line) => [+line.dataset.model, line])),
      live: svg.querySelector(".live"), curves: svg.querySelectorAll("path.curve"), references: svg.querySelectorAll("path.reference"),
    };
  });
  const places = {
    roc: (n) => [n.false_positive_rate, n.recall], precision_recall: (n) => [n.recall, n.precision], det: (n) => [n.false_positive_rate, 1 - n.recall],
    gain: (n) => [n.share, n.recall], lift: (n) => [n.share, n.recall / n.share],
    cost: (n, at) => { const x = asShare(at.prior, at); return [x, x * (1 - n.recall) + (1 - x) * n.false_positive_rate]; },
    cost_over_prior: (n, at) => { const x = asShare(at.prior, at); return [at.prior, x * (1 - n.recall) + (1 - x) * n.false_positive_rate]; },
    decision: (n) => [n.threshold, n.threshold < 1 && n.threshold >= 0 ? n.tp / n.n - n.fp / n.n * n.threshold / (1 - n.threshold) : NaN],
  };
  const make = (picture, key, kind, place) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
    element.setAttribute("class", `${kind === "circle" ? "at" : "thin threshold"} m${place} c${place % 7}`);
    element.dataset.model = place;
    (kind === "circle" ? picture.svg : picture.live).append(element);
    picture[key].set(place, element);
    return element;
  };
  const movePoint = (picture, place, point) => {
    const dot = picture.dots.get(place) || make(picture, "dots", "circle", place);
    const x = picture.x(point[0]), y = picture.y(point[1]), inside = isFinite(x) && isFinite(y);
    dot.setAttribute("r", inside ? 5 : 0);
    if (!inside) return;
    dot.setAttribute("cx", Math.min(Math.max(x, picture.left), picture.left + picture.width).toFixed(2));
    dot.setAttribute("cy", Math.min(Math.max(y, picture.top), picture.top + picture.height).toFixed(2));
  };
  const moveLine = (picture, place, value) => {
    const x = picture.x(value), line = picture.lines.get(place) || make(picture, "lines", "path", place);
    line.setAttribute("d", isFinite(x) && x >= picture.left && x <= picture.left + picture.width ? `M${x.toFixed(2)} ${picture.top}v${picture.height}` : "");
  };
  const matrix = (picture, n) => {
    const totals = [n.fp + n.tn, n.tp + n.fn], counts = [[n.tn, n.fp], [n.fn, n.tp]];
    picture.svg.querySelectorAll("[data-cell]").forEach((text) => {
      const [row, column, line] = text.dataset.cell.split(" ").map(Number), share = totals[row] ? counts[row][column] / totals[row] : 0;
      text.textContent = line ? `${(100 * share).toFixed(1)} %` : whole(counts[row][column]);
      text.setAttribute("class", `mid on-${share > 0.75 ? "dark" : "light"}`);
    });
    picture.svg.querySelectorAll(".square").forEach((square, k) => {
      const row = k >> 1, share = totals[row] ? counts[row][k & 1] / totals[row] : 0;
      square.setAttribute("fill-opacity", (0.9 * share).toFixed(3));
    });
  };
  const line = (n, point) => { // through those of n + 1 points that are defined
    let d = "";
    for (let k = 0; k <= n; k++) {
      const [x, y] = point(k / n);
      if (isFinite(x) && isFinite(y)) d += `${d ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    }
    return d;
  };
  const overPrior = (picture, block, at) => { // costs bend these curves, unlike those over PC(+)
    block.models.forEach((m, place) => {
      if (!(m.P && m.N) || !picture.curves[place]) return;
      const rows = m.hull || (m.hull = vertices(m));
      const least = (x) => Math.min(...rows.map((row) => x * (1 - m.tp[row] / m.P) + (1 - x) * m.fp[row] / m.N));
      picture.curves[place].setAttribute("d", line(200, (prior) => [picture.x(prior), picture.y(least(asShare(prior, at)))]));
    });
    picture.references.forEach((reference, which) => {
      const cost = (x) => (which ? x : 1 - x);
      reference.setAttribute("d", line(200, (prior) => [picture.x(prior), picture.y(cost(asShare(prior, at)))]));
    });
  };
  const vertices = (m) => {
    const kept = [];
    for (let k = 0; k < m.t.length; k++) {
      while (kept.length > 1) {
        const [a, b] = kept.slice(-2);
        if ((m.fp[b] - m.fp[a]) * (m.tp[k] - m.tp[a]) >= (m.tp[b] - m.tp[a]) * (m.fp[k] - m.fp[a])) kept.pop(); else break;
      }
      kept.push(k);
    }
    return kept;
  };

  // State: in the controls, and in the address ------------------------------------------------------------------------
  const start = () => ({ by: "chosen", at: null, fp: live.costs.cost_fp ?? 1, fn: live.costs.cost_fn ?? 1, prior: live.costs.prior ?? null, off: [] });
  let state = start();
  const toFragment = () => {
    const parts = [];
    const first = start();
    for (const key of ["by", "at", "fp", "fn", "prior"]) if (state[key] !== first[key] && state[key] !== null) parts.push(`${key}=${state[key]}`);
    if (state.off.length) parts.push(`off=${state.off.join(".")}`);
    return parts.join("&");
  };
  const fromFragment = () => {
    state = start();
    for (const part of location.hash.slice(1).split("&")) {
      const [key, value] = part.split("=");
      if (key === "by" && value in rowBy) state.by = value;
      else if (["at", "fp", "fn", "prior"].includes(key) && value !== "" && isFinite(+value)) state[key] = +value;
      else if (key === "off") state.off = value.split(".").map(Number);
    }
  };
  const allScores = blocks.flatMap((block) => block.models.flatMap((m) => [m.t[1], m.t[m.t.length - 1]])).filter(isFinite);
  const range = () => (state.by === "score" ? [Math.min(...allScores), Math.max(...allScores)] : [0, 1]);
  const between = (share) => { const [low, high] = range(); return low * (1 - share) + high * share; };
  const middle = () => (state.at === null ? between(0.5) : state.at);
  const whole = (v) => (Number.isInteger(v) ? v.toLocaleString("en-US") : String(+v.toPrecision(6)));
  const short = (v) => (isNaN(v) || v === null ? "-" : Math.abs(v) < 1e6 ? v.toFixed(4) : String(+v.toPrecision(6)));
  const threshold = (v) => (v === Infinity ? "inf" : String(+v.toPrecision(6)));

  // Showing --------------------------------------------------------------------------------------------------------------
  const show = () => {
    const given = { fp: state.fp, fn: state.fn };
    blocks.forEach((block, k) => {
      const at = { ...given, prior: state.prior ?? block.share, given: state.prior !== null };
      const rows = block.models.map((m) => rowBy[state.by](m, middle(), at));
      const found = block.models.map((m, place) => {
        if (rows[place] === null) return null;
        const n = numbers(cells(m, rows[place]), at);
        return { ...n, n: m.P + m.N, share: divide(n.tp + n.fp, m.P + m.N), threshold: m.t[rows[place]] };
      });
      block.found = found;
      articles[k].querySelectorAll("table.live tbody tr").forEach((row, place) => {
        const n = found[place], m = block.models[place];
        if (!m) return;
        const least = rowBy.cost(m, 0, at), span = m.P && m.N ? holds(m, least) : null;
        row.querySelectorAll("[data-number]").forEach((cell) => {
          const name = cell.dataset.number;
          if (name === "least") cell.textContent = m.P && m.N ? threshold(m.t[least]) : "-";
          else if (name === "holds") cell.textContent = span ? `${+asPrior(span[0], at).toPrecision(4)} to ${+asPrior(span[1], at).toPrecision(4)}` : "-";
          else if (!n) cell.textContent = "-";
          else cell.textContent = name === "threshold" ? (state.by === "chosen" ? cell.dataset.first ?? (cell.dataset.first = cell.textContent) : threshold(n.threshold)) : ["tp", "fp", "fn", "tn"].includes(name) ? whole(n[name]) : short(n[name]);
        });
      });
      for (const picture of pictures) {
        if (picture.block !== k) continue;
        if (places[picture.kind]) found.forEach((n, place) => movePoint(picture, place, n ? places[picture.kind](n, at) : [NaN, NaN]));
        if (picture.kind === "calibration") found.forEach((n, place) => moveLine(picture, place, n ? n.threshold : NaN));
        if (picture.kind === "scores" && found[picture.place]) picture.references.forEach((line) => { const x = picture.x(found[picture.place].threshold); line.setAttribute("d", isFinite(x) ? `M${x.toFixed(2)} ${picture.top}v${picture.height}` : ""); });
        if (picture.kind === "confusion" && found[picture.place]) matrix(picture, found[picture.place]);
        if (picture.kind === "cost_over_prior") overPrior(picture, block, at);
      }
    });
  };
  const logit = (p) => Math.log(p / (1 - p)), expit = (z) => 1 / (1 + Math.exp(-z));
  const fill = () => { // the controls, from the state
    const [low, high] = range(), value = middle();
    find("by").value = state.by;
    const slides = !["chosen", "cost"].includes(state.by);
    find("at").disabled = find("at-number").disabled = !slides;
    find("at").value = high > low ? Math.min(Math.max(1000 * (value / 2 - low / 2) / (high / 2 - low / 2), 0), 1000) : 500;
    find("at-number").value = slides ? +value.toPrecision(6) : "";
    find("cost-fp").value = state.fp; find("cost-fn").value = state.fn;
    find("ratio").value = state.fp > 0 && state.fn > 0 ? 100 * Math.log10(state.fn / state.fp) : state.fn > 0 ? 300 : -300;
    const prior = state.prior ?? blocks[0].share;
    find("prior").value = 500 + 500 * logit(Math.min(Math.max(prior, 1e-4), 1 - 1e-4)) / logit(1 - 1e-4);
    find("prior-number").value = +prior.toPrecision(4);
    document.querySelectorAll(".models input").forEach((box, k) => { box.checked = !state.off.includes(k); });
  };
  let waiting = false;
  const changed = (fromControls) => {
    if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; show(); fill(); const text = toFragment(); if (fromControls) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search); }); }
  };
  const on = (id, event, act) => find(id).addEventListener(event, (given) => { act(given.target.value); changed(true); });
  if (blocks.length) {
    on("by", "change", (value) => { state.by = value; state.at = null; });
    on("at", "input", (value) => { state.at = between(value / 1000); });
    on("at-number", "change", (value) => { state.at = number(value, state.at); });
    on("cost-fp", "change", (value) => { if (number(value, -1) >= 0 && +value + state.fn > 0) state.fp = +value; });
    on("cost-fn", "change", (value) => { if (number(value, -1) >= 0 && +value + state.fp > 0) state.fn = +value; });
    on("ratio", "input", (value) => { const ratio = 10 ** (value / 100); state.fn = +(ratio >= 1 ? ratio : 1).toPrecision(3); state.fp = +(ratio >= 1 ? 1 : 1 / ratio).toPrecision(3); });
    on("prior", "input", (value) => { state.prior = +expit((value - 500) / 500 * logit(1 - 1e-4)).toPrecision(4); });
    on("prior-number", "change", (value) => { const p = number(value, -1); if (p >= 0 && p <= 1) state.prior = p; });
    find("reset").addEventListener("click", () => { state = start(); changed(true); });
    document.querySelectorAll(".models input").forEach((box, k) => box.addEventListener("change", () => { state.off = state.off.filter((each) => each !== k); if (!box.checked) state.off.push(k); state.off.sort((a, b) => a - b); changed(true); }));
    addEventListener("hashchange", () => { fromFragment(); changed(false); });
    fromFragment(); show(); fill();
  }

  // Saving ---------------------------------------------------------------------------------------------------------------
  const save = (name, kind, content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: kind }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  find("save-json").addEventListener("click", () => save(`${document.documentElement.dataset.command}.json`, "application/json", `${JSON.stringify(read("report"), null, 2)}\n`));
  const STYLED = ["stroke", "fill", "stroke-width", "stroke-dasharray", "stroke-linecap", "fill-opacity", "opacity", "font", "text-anchor", "display"];
  const standalone = (svg) => {
    const copy = svg.cloneNode(true), [, , width, height] = svg.getAttribute("viewBox").split(" ");
    const from = svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((element, k) => { const style = getComputedStyle(from[k]); for (const name of STYLED) element.style.setProperty(name, style.getPropertyValue(name)); });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg"); copy.setAttribute("width", width); copy.setAttribute("height", height);
    copy.style.background = getComputedStyle(document.body).backgroundColor;
    return new XMLSerializer().serializeToString(copy);
  };
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const table = (each) => each.closest("section").querySelector("table");
  const texts = (cell) => [...cell.childNodes].map((node) => node.textContent.trim()).filter(Boolean);
  const csv = (from) => { // all digits of numbers; what is below some in a column is a column of its own
    const rows = [...from.rows].filter((row) => !row.hidden).map((row) => [...row.cells].filter((cell) => cell.offsetParent !== null)).filter((row) => row.length);
    const noted = rows[0].map((_, k) => rows.some((row) => row[k].querySelector("small")));
    const fields = (cell, k) => [cell.title || texts(cell)[0] || "", ...(noted[k] ? [cell.tagName === "TH" ? `${cell.textContent} interval` : texts(cell).slice(1).join("; ")] : [])];
    return rows.map((row) => row.flatMap(fields).map(quoted).join(",")).join("\n") + "\n";
  };
  document.querySelectorAll("[data-save]").forEach((button) => button.addEventListener("click", () => {
    if (button.dataset.save === "csv") { save(`${table(button).className.split(" ")[0]}.csv`, "text/csv", csv(table(button))); return; }
    const figure = button.closest("figure");
    save(`${figure.dataset.figure}.svg`, "image/svg+xml", standalone(figure.querySelector("svg")));
  }));

  // Long tables ----------------------------------------------------------------------------------------------------------
  document.querySelectorAll("table.sortable").forEach((from) => {
    const heads = [...from.tHead.rows[0].cells], body = from.tBodies[0], section = from.closest("section");
    const key = (row, k) => { const cell = row.cells[k], text = cell.title || texts(cell)[0] || "", value = +text; return text === "" || text === "-" ? Infinity : isNaN(value) ? text : value; };
    heads.forEach((head, k) => head.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [key(row, k), row]);
      rows.sort(([a], [b]) => sign * (typeof a === "number" && typeof b === "number" ? a - b || 0 : String(a).localeCompare(String(b))));
      body.append(...rows.map(([, row]) => row));
    }));
    section.querySelector("input[type=search]").addEventListener("input", (given) => {
      const wanted = given.target.value.toLowerCase();
      let n = 0;
      for (const row of body.rows) { row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted); n += !row.hidden; }
      section.querySelector("[role=status]").textContent = wanted ? `${n} of ${body.rows.length}` : "";
    });
  });
})();
