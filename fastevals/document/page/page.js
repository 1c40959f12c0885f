"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const read = (id) => JSON.parse(find(id).textContent);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  document.documentElement.classList.add("js");

  // Each model's thresholds and its counts there; row 0 predicts no row positive.
  const points = read("points");
  const sums = (steps) => {
    let sum = 0;
    return [0, ...steps.map((step) => (sum += step))];
  };
  const asModel = (given) => {
    const tp = sums(given.tp);
    const fp = sums(given.fp);
    const chosen = { row: given.at, threshold: given.threshold ?? Infinity, text: given.shown };
    return { chosen, isWhole: given.whole, thresholds: [Infinity, ...given.t], tp, fp, P: tp.at(-1), N: fp.at(-1) };
  };
  const asBlock = (block) => ({ ...block, models: block.models.map(asModel) });
  const blocks = points.blocks.map(asBlock); // of articles, by their places
  const picked = points.pick; // the block whose content is one of several, which the reader chooses
  const contents = picked ? picked.blocks.map(asBlock) : [];
  if (picked) blocks[picked.block] = contents[0];

  // Rows by the condition they meet -----------------------------------------------------------------------------------
  const ROUNDING = 8 * Number.EPSILON;
  const divide = (a, b) => (b ? a / b : NaN);
  const costAt = (m, row, costs) => {
    const fn = m.P - m.tp[row];
    const fp = m.fp[row];
    if (!costs.hasPrior) return costs.fn * divide(fn, m.P + m.N) + costs.fp * divide(fp, m.P + m.N);
    return costs.prior * costs.fn * divide(fn, m.P) + (1 - costs.prior) * costs.fp * divide(fp, m.N);
  };
  const lastRow = (m, holds) => { // that meets a condition, which holds up to some row
    let low = 0;
    let high = m.thresholds.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (holds(middle)) low = middle;
      else high = middle;
    }
    return low;
  };
  const firstWithRecall = (m, row) => { // later rows only have more false positives
    while (row > 0 && m.tp[row - 1] === m.tp[row]) row--;
    return row;
  };
  const rowBy = { // rates are compared after division: 7 of 100 is a recall of 0.07, although 0.07 * 100 > 7
    chosen: (m) => m.chosen.row,
    score: (m, value) => lastRow(m, (row) => m.thresholds[row] >= value),
    share: (m, value) => lastRow(m, (row) => (m.tp[row] + m.fp[row]) / (m.P + m.N) <= value),
    recall: (m, value) => {
      const isBelow = (row) => m.tp[row] / m.P < value;
      return isBelow(0) ? Math.min(lastRow(m, isBelow) + 1, m.thresholds.length - 1) : 0;
    },
    precision: (m, value) => {
      let row = m.thresholds.length - 1;
      while (row > 0 && !(m.tp[row] / (m.tp[row] + m.fp[row]) >= value)) row--;
      return firstWithRecall(m, row);
    },
    fpr: (m, value) => firstWithRecall(m, lastRow(m, (row) => !(m.fp[row] / m.N > value))),
    cost: (m, value, costs) => { // among rows that differ only by rounding the highest threshold, as in the report
      const all = m.thresholds.map((_, row) => costAt(m, row, costs));
      const enough = all.reduce((least, cost) => Math.min(least, cost)) * (1 + ROUNDING);
      return Math.max(all.findIndex((cost) => cost <= enough), 0);
    },
  };

  // Numbers at a row --------------------------------------------------------------------------------------------------
  // Cost curves are over PC(+), the positives' share of costs, in which a row's normalised cost is linear.
  const probabilityCost = (prior, costs) =>
    prior <= 0 || prior >= 1 ? Math.round(prior) : divide(prior * costs.fn, prior * costs.fn + (1 - prior) * costs.fp);
  const priorAt = (x, costs) =>
    x <= 0 || x >= 1 ? Math.round(x) : divide(x * costs.fp, x * costs.fp + (1 - x) * costs.fn);
  const normalisedCost = (x, fnr, fpr) => x * fnr + (1 - x) * fpr;
  const numbersAt = (m, row, costs, threshold) => {
    const tp = m.tp[row];
    const fp = m.fp[row];
    const fn = m.P - tp;
    const tn = m.N - fp;
    const n = m.P + m.N;
    const share = divide(tp + fp, n);
    const recall = divide(tp, tp + fn);
    const fpr = divide(fp, fp + tn);
    const x = probabilityCost(costs.prior, costs);
    return {
      tp, fp, fn, tn, n, share, recall, threshold,
      lift: recall / share,
      prior: costs.prior,
      probability_cost: x,
      normalized_cost: normalisedCost(x, 1 - recall, fpr),
      net_benefit: threshold < 1 && threshold >= 0 ? tp / n - fp / n * threshold / (1 - threshold) : NaN,
      precision: divide(tp, tp + fp),
      false_positive_rate: fpr,
      false_negative_rate: 1 - recall,
      specificity: divide(tn, fp + tn),
      accuracy: divide(tp + tn, n),
      f1: divide(2 * tp, 2 * tp + fp + fn),
      matthews: divide(tp * tn - fp * fn, [tp + fp, tp + fn, tn + fp, tn + fn].map(Math.sqrt).reduce((a, b) => a * b)),
      cost: costAt(m, row, costs),
    };
  };
  const bestPriors = (m, best, costs) => { // for which no other row is cheaper; null if there are none
    const fpr = m.fp[best] / m.N;
    const fnr = 1 - m.tp[best] / m.P;
    let low = 0;
    let high = 1;
    for (let row = 0; row < m.thresholds.length; row++) {
      const more = m.fp[row] / m.N - fpr; // this row's cost minus the best row's is more + slope * x
      const slope = 1 - m.tp[row] / m.P - fnr - more;
      if (slope > 0) low = Math.max(low, -more / slope);
      else if (slope < 0) high = Math.min(high, -more / slope);
      else if (more < 0) return null;
    }
    // If one kind of error is free, all priors between 0 and 1 are at the other's end of PC(+).
    return low <= high ? [costs.fp ? priorAt(low, costs) : 0, costs.fn ? priorAt(high, costs) : 1] : null;
  };
  const isSame = (costs, others) => ["fp", "fn", "prior"].every((key) => costs?.[key] === others[key]);
  const leastCost = (m, costs) => { // the row and the priors for which it is best, cached until the costs change
    if (!isSame(m.least?.costs, costs)) {
      const row = rowBy.cost(m, 0, costs);
      m.least = { costs, row, priors: bestPriors(m, row, costs) };
    }
    return m.least;
  };
  const hullRows = (m) => { // one of these has the least cost for any costs
    const kept = [];
    for (let row = 0; row < m.thresholds.length; row++) {
      while (kept.length > 1) {
        const [a, b] = kept.slice(-2);
        if ((m.fp[b] - m.fp[a]) * (m.tp[row] - m.tp[a]) < (m.tp[b] - m.tp[a]) * (m.fp[row] - m.fp[a])) break;
        kept.pop();
      }
      kept.push(row);
    }
    return kept;
  };

  // Numbers as text ---------------------------------------------------------------------------------------------------
  const rounded = (value) => String(+value.toPrecision(6));
  const countText = (value) => (Number.isInteger(value) ? value.toLocaleString("en-US") : rounded(value));
  const numberText = (value) => (isNaN(value) ? "-" : Math.abs(value) < 1e6 ? value.toFixed(4).replace(/^-(?=0\.0+$)/, "") : rounded(value));
  const thresholdText = (m, row) => { // typing it predicts the same rows
    const value = m.thresholds[row];
    if (value === Infinity) return points.none;
    if (row === m.chosen.row) return m.chosen.text;
    let digits = m.isWhole ? 6 : 17; // if thresholds are thinned out, each has as few digits as possible
    while (digits < 17 && rowBy.score(m, +value.toPrecision(digits)) !== row) digits++;
    return String(+value.toPrecision(digits));
  };
  const rangeText = (range) => (range ? range.map((end) => +end.toPrecision(4)).join(" to ") : "-");

  // Places of values in a picture ------------------------------------------------------------------------------------
  const polynomial = (coefficients, x) => coefficients.reduce((sum, each) => sum * x + each, 0);
  const deviate = (p) => { // Acklam's rational approximation, to 1e-9
    if (p <= 0) return -8;
    if (p >= 1) return 8;
    const a = [-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716, 2.506628277459239];
    const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572, 1];
    const c = [-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783];
    const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1];
    const tail = (q) => polynomial(c, q) / polynomial(d, q);
    if (p < 0.02425) return tail(Math.sqrt(-2 * Math.log(p)));
    if (p > 1 - 0.02425) return -tail(Math.sqrt(-2 * Math.log(1 - p)));
    const q = p - 0.5;
    return polynomial(a, q * q) * q / polynomial(b, q * q);
  };
  const scale = (text) => {
    const [low, high, kind] = text.split(" ");
    const move = { linear: (value) => value, log: Math.log10, deviate }[kind];
    const from = move(+low);
    const span = move(+high) - from;
    return (value) => (move(value) - from) / span;
  };
  const byModel = (marks) => new Map(marks.map((mark) => [+mark.dataset.model, mark]));
  const pictures = all("article.block svg[data-picture]").map((svg) => {
    const [left, top, width, height] = svg.dataset.box.split(" ").map(Number);
    const x = scale(svg.dataset.x);
    const y = scale(svg.dataset.y);
    return {
      svg, left, top, width, height,
      kind: svg.dataset.picture,
      block: +svg.closest("article").dataset.block,
      place: +svg.closest("figure").dataset.place,
      x: (value) => left + width * x(value),
      y: (value) => top + height * (1 - y(value)),
      title: svg.closest("figure").querySelector("figcaption bdi"),
      name: svg.getAttribute("aria-label"),
      live: svg.querySelector(".live"),
      dots: byModel(all("circle.at", svg)),
      lines: byModel(all("path.threshold", svg)),
      curves: all("path.curve", svg),
      references: all("path.reference", svg),
      dotted: all("path.dots", svg),
      intervals: all("path.intervals", svg),
    };
  });
  const places = new Map(Object.entries(points.places ?? {})); // names of the numbers along the axes of curves

  // Moving marks in a picture ----------------------------------------------------------------------------------------
  const isInside = (x, low, size) => x >= low - 0.01 && x <= low + size + 0.01;
  const added = (parent, tag, kind, place) => { // a model's mark that is not in the picture yet
    const mark = document.createElementNS("http://www.w3.org/2000/svg", tag);
    mark.setAttribute("class", `${kind} m${place} c${place % 7}`);
    mark.dataset.model = place;
    parent.append(mark);
    return mark;
  };
  const movePoint = (picture, place, point) => {
    if (!picture.dots.has(place)) picture.dots.set(place, added(picture.svg, "circle", "at", place));
    const dot = picture.dots.get(place);
    const x = picture.x(point[0]);
    const y = picture.y(point[1]);
    const isThere = isInside(x, picture.left, picture.width) && isInside(y, picture.top, picture.height);
    dot.setAttribute("r", isThere ? 5 : 0);
    if (!isThere) return;
    dot.setAttribute("cx", x.toFixed(2));
    dot.setAttribute("cy", y.toFixed(2));
  };
  const setUpright = (line, picture, value) => {
    const x = picture.x(value);
    const isThere = isInside(x, picture.left, picture.width);
    line.setAttribute("d", isThere ? `M${x.toFixed(2)} ${picture.top}v${picture.height}` : "");
  };
  const moveLine = (picture, place, value) => {
    if (!picture.lines.has(place)) picture.lines.set(place, added(picture.live, "path", "thin threshold", place));
    setUpright(picture.lines.get(place), picture, value);
  };
  const nameAgain = (picture, threshold) => { // "... at 0.5" in the title and for screen readers
    const name = picture.name.slice(0, picture.name.lastIndexOf(" at ")) + ` at ${threshold}`;
    picture.title.textContent = name;
    picture.svg.setAttribute("aria-label", name);
  };
  const fillMatrix = (picture, n) => {
    nameAgain(picture, n.threshold === Infinity ? "no threshold" : n.text);
    const counts = [[n.tn, n.fp], [n.fn, n.tp]];
    const shares = counts.map(([one, other]) => [one, other].map((each) => (one + other ? each / (one + other) : 0)));
    for (const text of all("[data-cell]", picture.svg)) {
      const [row, column, line] = text.dataset.cell.split(" ").map(Number);
      const share = shares[row][column];
      text.textContent = line ? `${(100 * share).toFixed(1)} %` : countText(counts[row][column]);
      text.setAttribute("class", `mid on-${share > 0.75 ? "dark" : "light"}`);
    }
    all(".square", picture.svg).forEach((square, k) => {
      square.setAttribute("fill-opacity", (0.9 * shares.flat()[k]).toFixed(3));
    });
  };
  const overPriors = (picture, costs, cost) => { // a line through the defined values of a cost over PC(+)
    let d = "";
    for (let k = 0; k <= 200; k++) {
      const x = picture.x(k / 200);
      const y = picture.y(cost(probabilityCost(k / 200, costs)));
      if (isFinite(x) && isFinite(y)) d += `${d ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    }
    return d;
  };
  const bendCurves = (picture, block, costs) => { // curves over the prior depend on costs, those over PC(+) do not
    if (isSame(picture.costs, costs)) return;
    picture.costs = costs;
    block.models.forEach((m, place) => {
      if (!(m.P && m.N) || !picture.curves[place]) return;
      m.hull ??= hullRows(m);
      const least = (x) => Math.min(...m.hull.map((row) => normalisedCost(x, 1 - m.tp[row] / m.P, m.fp[row] / m.N)));
      picture.curves[place].setAttribute("d", overPriors(picture, costs, least));
    });
    picture.references.forEach((line, k) => { // always positive, then always negative
      line.setAttribute("d", overPriors(picture, costs, (x) => (k ? x : 1 - x)));
    });
  };
  const movePicture = (picture, block, found, costs) => {
    const { kind } = picture;
    const own = found[picture.place]; // the picture's own model
    const along = places.get(kind) ?? [];
    found.forEach((n, place) => {
      const point = along.map((name) => n?.[name] ?? NaN);
      if (point.length === 2) movePoint(picture, place, point);
      if (point.length === 1) moveLine(picture, place, point[0]);
    });
    if (kind === "cost_over_prior") bendCurves(picture, block, costs);
    if (kind === "confusion" && own) fillMatrix(picture, own);
    if (kind === "scores" && own) picture.references.forEach((line) => setUpright(line, picture, own.threshold));
  };

  const lineThrough = (picture, places) => {
    const inside = places.map(([x, y]) => [picture.x(x), picture.y(y)]).filter((place) => place.every(isFinite));
    return inside.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  };
  const redraw = (picture, block) => { // the chosen content
    const along = places.get(picture.kind);
    block.models.forEach((m, place) => {
      const [line, bins] = [picture.curves[place], along.length === 2 ? null : block.bins[place]];
      const rows = bins ?? m.thresholds.map((_, row) => {
        const n = numbersAt(m, row, { fp: 1, fn: 1, prior: block.share }, Infinity);
        return along.map((name) => n[name]);
      });
      line.setAttribute("d", lineThrough(picture, rows));
      line.querySelector("title").textContent = block.titles[picture.kind][place];
      const dots = bins?.map(([x, y]) => `M${picture.x(x).toFixed(1)} ${picture.y(y).toFixed(1)}h0`);
      if (!bins) return;
      picture.dotted[place].setAttribute("d", dots.join(""));
      const ends = bins.filter((bin) => bin[2] !== null).map(([x, , low, high]) => lineThrough(picture, [[x, low], [x, high]]));
      picture.intervals[place].setAttribute("d", ends.join(""));
    });
    picked.lines[picture.kind].forEach(([x, y], k) => {
      const at = (each) => (each === "positives" ? block.share : each);
      picture.references[k].setAttribute("d", lineThrough(picture, x.map((each, i) => [at(each), at(y[i])])));
    });
  };

  // State, in the controls and in the address ------------------------------------------------------------------------
  const articles = all("article.block");
  const picks = articles.flatMap((article, k) => (article.dataset.choice ? [k] : [])); // blocks of which one is shown
  const isPick = (k) => picks.includes(k) || Object.hasOwn(contents, k);
  const start = () => {
    const { cost_fp: fp = 1, cost_fn: fn = 1, prior = null } = points.costs;
    return { pick: picks[0] ?? 0, by: "chosen", at: null, fp, fn, prior, off: [] };
  };
  let state = start();
  const toFragment = () => {
    const first = start();
    const changed = ["pick", "by", "at", "fp", "fn", "prior"].filter((key) => state[key] !== first[key] && state[key] !== null);
    const parts = changed.map((key) => `${key}=${state[key]}`);
    if (state.off.length) parts.push(`off=${state.off.join(".")}`);
    return parts.join("&");
  };
  const LEAST = { at: -Number.MAX_VALUE, fp: 0, fn: 0, prior: 0 };
  const fromFragment = () => {
    state = start();
    for (const part of location.hash.slice(1).split("&")) {
      const [key, value] = part.split("=");
      if (key === "by" && Object.hasOwn(rowBy, value)) state.by = value;
      else if (key === "pick" && isPick(number(value ?? ""))) state.pick = +value;
      else if (key === "off") state.off = (value ?? "").split(".").map(Number);
      else if (Object.hasOwn(LEAST, key) && number(value ?? "", -Infinity) >= LEAST[key]) state[key] = +value;
    }
    if (!(state.fp + state.fn > 0) || state.prior > 1) ({ fp: state.fp, fn: state.fn, prior: state.prior } = start());
  };
  const models = blocks.concat(contents).flatMap((block) => block.models); // holes are skipped
  const isScore = (value) => Math.abs(value) < Number.MAX_VALUE; // a summary's last threshold is below all scores
  const scores = models.flatMap((m) => [m.thresholds.find(isScore), m.thresholds.findLast(isScore)]).filter(isScore);
  const range = () => (state.by === "score" ? [Math.min(...scores), Math.max(...scores)] : [0, 1]);
  const between = (share) => { // with enough digits to distinguish the slider's steps
    const [low, high] = range();
    const digits = 6 + Math.log10(Math.max(Math.abs(low), Math.abs(high)) / (high - low));
    return clamp(+(low * (1 - share) + high * share).toPrecision(clamp(Math.ceil(digits) || 6, 6, 17)), low, high);
  };
  const asked = () => state.at ?? between(0.5);

  // Showing -----------------------------------------------------------------------------------------------------------
  const isHidden = (k) => picks.includes(k) && k !== state.pick;
  const fillRow = (row, m, n, costs) => {
    const hasBoth = m.P && m.N;
    const least = leastCost(m, costs);
    const special = {
      least: () => (hasBoth ? thresholdText(m, least.row) : "-"),
      holds: () => rangeText(hasBoth && least.priors),
      threshold: () => (n ? n.text : "-"),
    };
    for (const cell of all("[data-number]", row)) {
      const name = cell.dataset.number;
      const form = ["tp", "fp", "fn", "tn"].includes(name) ? countText : numberText;
      cell.textContent = special[name] ? special[name]() : n ? form(n[name]) : "-";
      if (name === "holds") cell.dataset.numbers = hasBoth && least.priors ? asNumbers(least.priors) : "";
    }
  };
  const asNumbers = ([low, high]) => `low=${low};high=${high}`; // as columns of a saved table
  const costText = ({ fp, fn, prior }) => `cost of a false positive ${fp}, of a false negative ${fn}, prior ${+prior.toPrecision(4)}`;
  const describe = { // where the threshold is
    chosen: () => "",
    score: (value) => `at a score of ${value}`,
    share: (value) => `with at most a share of ${value} of rows predicted positive`,
    recall: (value) => `with a recall of at least ${value}`,
    precision: (value) => `with a precision of at least ${value}`,
    fpr: (value) => `with a false positive rate of at most ${value}`,
    cost: (_, costs) => `at the least expected cost: ${costText(costs)}`,
  };
  const drawPicked = () => {
    if (!picked || state.pick === picked.drawn) return;
    blocks[picked.block] = contents[state.pick];
    if (state.pick !== (picked.drawn ?? 0)) { // the first is on the page
      for (const picture of pictures) if (picture.block === picked.block) redraw(picture, contents[state.pick]);
      articles[picked.block].querySelector("h2 small").textContent = picked.options[state.pick];
    }
    picked.drawn = state.pick;
  };
  const controlled = () => (picked ? picked.block : picks.length ? state.pick : 0); // block that the controls show
  const show = () => {
    picks.forEach((k) => { articles[k].hidden = isHidden(k); });
    drawPicked();
    blocks.forEach((block, k) => { // blocks before a picked one may have no points
      if (isHidden(k)) return;
      const costs = { fp: state.fp, fn: state.fn, prior: state.prior ?? block.share, hasPrior: state.prior !== null };
      const found = block.models.map((m) => {
        const row = rowBy[state.by](m, asked(), costs);
        if (row === null) return null;
        const threshold = state.by === "chosen" ? m.chosen.threshold : m.thresholds[row];
        return { ...numbersAt(m, row, costs, threshold), text: thresholdText(m, row) };
      });
      const rows = all("table.live tbody tr", articles[k]);
      const note = articles[k].querySelector("h3 .at");
      note.dataset.first ??= note.textContent;
      note.textContent = describe[state.by](asked(), costs) || note.dataset.first;
      block.models.forEach((m, place) => fillRow(rows[place], m, found[place], costs));
      for (const picture of pictures) if (picture.block === k) movePicture(picture, block, found, costs);
    });
  };

  // Controls ----------------------------------------------------------------------------------------------------------
  const logit = (p) => Math.log(p / (1 - p));
  const expit = (z) => 1 / (1 + Math.exp(-z));
  const LARGEST = 1 - 1e-4; // prior of its slider
  const boxes = all(".models input");
  const printSettings = () => { // paper has no controls
    const line = find("settings");
    if (!line) return;
    const [on, off] = [true, false].map((isOn) => boxes.filter((box) => box.checked === isOn));
    const names = (some) => some.map((box) => box.closest("label").querySelector("bdi").textContent).join(", ");
    const parts = [`Models: ${names(on) || "none"}${off.length ? ` (hidden: ${names(off)})` : ""}`];
    if (blocks.length) {
      const k = controlled();
      const costs = { ...state, prior: state.prior ?? blocks[k].share };
      const note = describe[state.by](asked(), costs) || articles[k].querySelector("h3 .at").dataset.first;
      if (picked) parts.push(`${picked.name} ${picked.options[state.pick]}`);
      if (picks.length) parts.push(`${articles[k].dataset.choice}: ${articles[k].getAttribute("aria-label")}`);
      parts.push(`Counts, rates and pictures are shown ${note}`, `C${costText(costs).slice(1)}`);
    }
    line.textContent = `${parts.join(". ")}.`;
  };
  const fill = () => {
    boxes.forEach((box, k) => { box.checked = !state.off.includes(k); });
    printSettings();
    if (!blocks.length) return;
    const [low, high] = range();
    const value = asked();
    const slides = !["chosen", "cost"].includes(state.by);
    find("by").value = state.by;
    find("at").disabled = find("at-number").disabled = !slides;
    find("at").value = high > low ? clamp(1000 * (value / 2 - low / 2) / (high / 2 - low / 2), 0, 1000) : 500;
    find("at-number").value = slides ? value : "";
    find("cost-fp").value = state.fp;
    find("cost-fn").value = state.fn;
    find("ratio").value = clamp(100 * Math.log10(state.fn / state.fp), -300, 300);
    find("ratio-number").value = state.fp ? `${rounded(state.fn / state.fp)} to 1` : "1 to 0";
    if (find("pick")) find("pick").value = state.pick;
    const prior = state.prior ?? blocks[controlled()].share;
    find("prior").value = 500 + 500 * logit(clamp(prior, 1 - LARGEST, LARGEST)) / logit(LARGEST);
    find("prior-number").value = state.prior ?? +prior.toPrecision(4);
  };
  const update = (writesAddress) => {
    show();
    fill();
    const text = toFragment();
    if (writesAddress) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  };
  let isWaiting = false;
  const changed = (writesAddress) => { // at most once a frame
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      update(writesAddress);
    });
  };
  const number = (text) => (text !== "" && isFinite(+text) ? +text : NaN);
  const setCost = (name, other) => (value) => {
    if (number(value) >= 0 && +value + state[other] > 0) state[name] = +value;
  };
  const controls = [
    ["by", "change", (value) => {
      state.by = value;
      state.at = null;
    }],
    ["at", "input", (value) => { state.at = between(value / 1000); }],
    ["at-number", "change", (value) => { if (!isNaN(number(value))) state.at = +value; }],
    ["cost-fp", "change", setCost("fp", "fn")],
    ["cost-fn", "change", setCost("fn", "fp")],
    ["ratio", "input", (value) => {
      const ratio = 10 ** (value / 100);
      state.fn = +Math.max(ratio, 1).toPrecision(3);
      state.fp = +Math.max(1 / ratio, 1).toPrecision(3);
    }],
    ["prior", "input", (value) => { state.prior = +expit((value - 500) / 500 * logit(LARGEST)).toPrecision(4); }],
    ["prior-number", "change", (value) => { if (number(value) >= 0 && number(value) <= 1) state.prior = +value; }],
    ["reset", "click", () => { state = start(); }],
  ];
  if (find("pick")) controls.push(["pick", "change", (value) => { state.pick = +value; }]);
  if (blocks.length) {
    for (const [id, event, act] of controls) {
      find(id).addEventListener(event, (given) => {
        act(given.target.value);
        changed(true);
      });
    }
  }
  boxes.forEach((box) => box.addEventListener("change", () => {
    state.off = boxes.flatMap((each, k) => (each.checked ? [] : [k]));
    changed(true);
  }));
  addEventListener("hashchange", () => {
    fromFragment();
    changed(false);
  });
  fromFragment();
  update(false);
  for (const link of all("nav a")) { // the address keeps the state
    link.addEventListener("click", (given) => {
      given.preventDefault();
      find(link.getAttribute("href").slice(1)).scrollIntoView();
    });
  }

  // Saving ------------------------------------------------------------------------------------------------------------
  const save = (name, kind, content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: kind }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const STYLED = [
    "stroke", "fill", "stroke-width", "stroke-dasharray", "stroke-linecap", "fill-opacity", "opacity", "font",
    "text-anchor", "display",
  ];
  const LINE = 18; // pixels: of words around a saved picture
  const wrapped = (words, room) => words.split(" ").reduce((lines, word) => {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    return lines.length && longer.length * 6.5 <= room ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, []);
  const svgElement = (parent, tag, attributes, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  const isVisible = (element) => getComputedStyle(element).display !== "none";
  const standalone = (figure) => { // a copy with its title, legend and caption, and the styles that it has on the page
    const svg = figure.querySelector("svg");
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const whole = svgElement(figure, "svg", { xmlns: "http://www.w3.org/2000/svg" });
    let y = 4;
    const write = (words, x, kind) => {
      for (const line of wrapped(words, width - x - 8)) svgElement(whole, "text", { x, y: y += LINE, class: kind }, line);
    };
    write(figure.querySelector("figcaption strong").textContent, 8, "bold");
    const drawn = svgElement(whole, "g", { transform: `translate(0 ${y + 6})` });
    drawn.append(...svg.cloneNode(true).childNodes);
    y += 6 + height;
    const curves = all("path.curve", svg).filter((curve) => isVisible(curve) && curve.textContent);
    for (const curve of svg.dataset.keyed ? [] : curves) { // a picture with a legend of its own is keyed
      svgElement(whole, "path", { class: curve.getAttribute("class"), d: `M8 ${y + 13}h24` });
      write(curve.textContent, 40, "said");
    }
    write(figure.querySelector("figcaption small").textContent, 8, "tick");
    const total = y + 10;
    for (const [name, value] of Object.entries({ width, height: total, viewBox: `0 0 ${width} ${total}` })) {
      whole.setAttribute(name, value);
    }
    const styles = all("*", whole).map((element) => [element, getComputedStyle(element)]);
    for (const [element, style] of styles) {
      for (const name of STYLED) element.style.setProperty(name, style.getPropertyValue(name));
    }
    whole.style.background = getComputedStyle(document.body).backgroundColor;
    const text = new XMLSerializer().serializeToString(whole);
    whole.remove();
    return text;
  };
  const ownText = (cell) => (cell.childNodes[0]?.textContent ?? "").trim();
  const exact = (cell) => cell.title || (cell.tagName === "TH" ? cell.textContent.trim() : ownText(cell)); // all digits
  const GROUPED = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/;
  const numeric = /^-?(?:inf|\d[\d.]*(?:e[+-]?\d+)?)?$/;
  const inert = (text) => (/^\s*[=+\-@]/.test(text) && !numeric.test(text) ? `'${text}` : text); // a name is no formula
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const numbersIn = (cell) => new Map((cell.dataset.numbers || "").split(";").filter(Boolean).map((each) => each.split("=")));
  const valueOf = (cell) => { // without thousands separators; ranges are in columns of their own
    const text = exact(cell);
    return cell.dataset.numbers && !cell.title ? "" : GROUPED.test(text) ? text.replaceAll(",", "") : text;
  };
  const csv = (table) => { // each number below a value, such as an end of its interval, has its own column
    const shown = [...table.rows].filter((row) => !row.hidden);
    const cells = shown.map((row) => [...row.cells].filter((cell) => cell.offsetParent !== null));
    const [head, ...rows] = cells.filter((row) => row.length);
    const columns = head.flatMap((name, k) => {
      const found = [...new Set(rows.flatMap((row) => [...numbersIn(row[k]).keys()]))];
      const parts = found.map((part) => [`${exact(name)} ${part}`, ...rows.map((row) => numbersIn(row[k]).get(part) ?? "")]);
      const values = rows.map((row) => (k ? valueOf(row[k]) : exact(row[k])));
      return found.length && !values.some(Boolean) ? parts : [[exact(name), ...values], ...parts];
    });
    const lines = columns[0].map((_, k) => columns.map((column) => column[k]).map(inert).map(quoted).join(","));
    return `${lines.join("\n")}\n`;
  };
  const onClick = (button, act) => button.addEventListener("click", act);
  for (const button of all("[data-save=csv]")) {
    const table = button.closest("section").querySelector("table");
    onClick(button, () => save(`${table.classList[0]}.csv`, "text/csv", csv(table)));
  }
  for (const button of all("[data-save=svg]")) {
    const figure = button.closest("figure");
    onClick(button, () => save(`${figure.dataset.figure}.svg`, "image/svg+xml", standalone(figure)));
  }
  onClick(find("save-json"), () => {
    const name = `${document.documentElement.dataset.command}.json`;
    save(name, "application/json", `${JSON.stringify(read("report"), null, 2)}\n`);
  });

  // Long tables -------------------------------------------------------------------------------------------------------
  const sortKey = (cell) => {
    const text = exact(cell);
    return text === "" || text === "-" ? Infinity : isNaN(+text) ? text : +text;
  };
  const compared = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b || 0 : String(a).localeCompare(String(b));
  for (const table of all("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    const section = table.closest("section");
    heads.forEach((head, k) => onClick(head, () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [sortKey(row.cells[k]), row]);
      rows.sort(([a], [b]) => sign * compared(a, b));
      body.append(...rows.map(([, row]) => row));
    }));
    section.querySelector("input[type=search]").addEventListener("input", (given) => {
      const wanted = given.target.value.toLowerCase();
      const rows = [...body.rows];
      for (const row of rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
      const n = rows.filter((row) => !row.hidden).length;
      section.querySelector("[role=status]").textContent = wanted ? `${n} of ${rows.length}` : "";
    });
  }
})();
