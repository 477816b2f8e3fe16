// The page of a job. Its data is in #data (heterodoop/page/content.py says what is in it), the drawing library in `echarts`.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { attempts, slots } = data;
  const count = attempts.name.length;
  const MICRO = 1e6;
  const SHOWN = 200; // rows of the table at a time: a browser lays out no more at once
  const NARROW = 3; // pixels below which neighbours are drawn as one
  const SEGMENTS = 14; // pixels from which on a bar shows its stages
  const stageNames = Object.keys(attempts.stages);
  const COLOURS = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#72b7b2", "#eeca3b", "#9d755d", "#ff9da6", "#5b8c5a",
    "#8c6bb1", "#d67195", "#7f7f7f", "#17a3b8", "#bcbd22", "#a05d56"];
  const OTHER = "#8a929c"; // of attempts without stages
  const ILL = { failed: "#d62728", cancelled: "#a9a9a9", overtaken: "#a9a9a9", "given back": "#a9a9a9" };
  const colourOf = Object.fromEntries(stageNames.map((name, at) => [name, COLOURS[at % COLOURS.length]]));
  const $ = (id) => document.getElementById(id);
  const add = (parent, tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return parent.appendChild(element);
  };
  const seconds = (value) => (value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(4)) + " s";
  const outcome = (at) => attempts.words[attempts.outcome[at]];
  const ran = (at) => attempts.words[attempts.ran[at]];
  const file = (at) => attempts.words[attempts.file[at]];
  const meaning = (name) => data.meanings[name] || name;

  // ---- What is written
  function writeHead() {
    $("sentence").textContent = data.sentence;
    for (const help of data.helps) add($("helps"), "li", "would help: " + help);
    for (const [label, value] of data.facts) {
      const pair = add($("facts"), "div");
      add(pair, "dt", label);
      add(pair, "dd", value);
    }
    for (const name of stageNames) legendOf(colourOf[name], meaning(name));
    for (const name of ["failed", "cancelled"]) if (attempts.words.includes(name)) legendOf(ILL[name], name);
  }

  function legendOf(colour, text) {
    const item = add($("legend"), "span");
    add(item, "i").style.background = colour;
    item.append(text);
  }

  function writeTables() {
    for (const { title, head, rows } of data.tables) {
      const section = add($("tables"), "section");
      add(section, "h2", title);
      const table = add(add(section, "div", undefined, "scroll"), "table");
      const line = add(add(table, "thead"), "tr");
      for (const name of head) add(line, "th", name);
      const body = add(table, "tbody");
      for (const row of rows) {
        const line = add(body, "tr");
        for (const value of row) {
          const number = typeof value === "number";
          add(line, "td", number ? value.toLocaleString("en") : value, number ? "number" : "long");
        }
      }
    }
  }

  // ---- Slots over time
  const byRow = slots.map(() => []);
  for (let at = 0; at < count; at++) byRow[attempts.row[at]].push(at);
  for (const row of byRow) row.sort((a, b) => attempts.start[a] - attempts.start[b]);
  const whole = data.seconds > 0 ? data.seconds : 1;
  let view = [0, whole];
  let marked = null; // attempts that the search found; null: all
  let chosen = -1;

  function largestStage(at) {
    let best = null, most = 0;
    for (const name of stageNames) {
      const value = attempts.stages[name][at];
      if (value > most) [best, most] = [name, value];
    }
    return best;
  }

  function colour(at) {
    const stage = largestStage(at);
    return ILL[outcome(at)] || (stage ? colourOf[stage] : OTHER);
  }

  // Blocks of the view: [row, from, until, attempt, how many]. Neighbours that are narrower than NARROW are one block.
  function blocks(width) {
    const [from, until] = [view[0] * MICRO, view[1] * MICRO];
    const least = ((until - from) / width) * NARROW;
    const found = [];
    byRow.forEach((row, number) => {
      let block = null;
      for (let i = firstEndingAfter(row, from); i < row.length && attempts.start[row[i]] <= until; i++) {
        const at = row[i], start = attempts.start[at], end = start + attempts.length[at];
        const joins = block && end - block[1] < least && start - block[2] < least;
        if (joins) {
          block[2] = Math.max(block[2], end);
          block[4]++;
          if (attempts.length[at] > attempts.length[block[3]] || ILL[outcome(at)]) block[3] = at;
        } else {
          block = [number, start, end, at, 1];
          found.push(block);
        }
      }
    });
    return found;
  }

  // Attempts of a slot follow each other, so their ends are in order too.
  function firstEndingAfter(row, time) {
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (attempts.start[row[middle]] + attempts.length[row[middle]] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  let outdated = false; // whether the blocks are of another view: they are made anew before anybody sees these

  function drawBlock(parameters, api) {
    if (parameters.dataIndexInside === 0) {
      const [from, until] = charts.slots.getModel().getComponent("xAxis", 0).axis.scale.getExtent();
      outdated = Math.abs(from - view[0]) + Math.abs(until - view[1]) > (view[1] - view[0]) / 1000;
    }
    if (outdated) return null;
    const [row, from, until, at, many] = [0, 1, 2, 3, 4].map((index) => api.value(index));
    const [left, middle] = api.coord([from / MICRO, row]);
    const [right] = api.coord([until / MICRO, row]);
    const height = Math.max(2, Math.min(20, api.size([0, 1])[1] * 0.8));
    const area = parameters.coordSys;
    const [low, high] = [Math.max(left, area.x), Math.min(Math.max(right, left + 1), area.x + area.width)];
    if (high <= low) return null;
    const faint = marked && !marked.has(at) ? 0.12 : 1;
    const shape = { x: low, y: middle - height / 2, width: high - low, height };
    const style = { fill: colour(at), opacity: faint };
    if (at === chosen) Object.assign(style, { stroke: "#ffb000", lineWidth: 3 });
    const base = { type: "rect", shape, style };
    if (many > 1 || right - left < SEGMENTS || ILL[outcome(at)]) return base;
    const parts = segments(at, left, right).filter(([x, end]) => end > low && x < high);
    const rects = parts.map(([x, end, fill]) => ({
      type: "rect", style: { fill, opacity: faint },
      shape: { x: Math.max(x, low), y: shape.y, width: Math.min(end, high) - Math.max(x, low), height },
    }));
    return { type: "group", children: [base, ...rects] };
  }

  // Stages in the bar's length, each with its share: stages of a device overlap, so they are no moments in time.
  function segments(at, left, right) {
    const parts = stageNames.map((name) => [name, attempts.stages[name][at]]).filter(([, value]) => value > 0);
    const sum = Math.max(parts.reduce((total, [, value]) => total + value, 0), attempts.length[at]);
    let x = left;
    return parts.map(([name, value]) => {
      const begin = x;
      x += ((right - left) * value) / sum;
      return [begin, x, colourOf[name]];
    });
  }

  function describe(at) {
    const lines = [[attempts.name[at], `${slots[attempts.row[at]].name}, ${ran(at)}, ${outcome(at)}`],
      ["from", `${seconds(attempts.start[at] / MICRO)} for ${seconds(attempts.length[at] / MICRO)}`]];
    if (file(at)) lines.push(["input", `${file(at)} from ${attempts.offset[at]}, ${attempts.bytes[at]} bytes`]);
    for (const name of stageNames) {
      const value = attempts.stages[name][at];
      if (value) lines.push([meaning(name), seconds(value / MICRO)]);
    }
    if (attempts.notes[at]) lines.push(["note", attempts.notes[at]]);
    return lines;
  }

  const safe = (text) => echarts.format.encodeHTML(String(text));
  let charts = {};

  function theme() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    return { text: of("--text"), faint: of("--faint"), line: of("--line"), ground: of("--ground"), raised: of("--raised") };
  }

  function axis(more) {
    const { faint, line } = theme();
    return { axisLabel: { color: faint }, axisLine: { lineStyle: { color: line } }, splitLine: { lineStyle: { color: line } },
      nameTextStyle: { color: faint }, ...more };
  }

  function tooltip(more) {
    const { text, raised, line } = theme();
    return { backgroundColor: raised, borderColor: line, textStyle: { color: text, fontSize: 12 }, confine: true, ...more };
  }

  function drawSlots() {
    const chart = charts.slots;
    chart.setOption({
      animation: false, aria: { enabled: true },
      grid: { left: 70, right: 20, top: 8, bottom: 62 },
      toolbox: { right: 0, bottom: 0, iconStyle: { borderColor: theme().faint }, feature: { saveAsImage: {
        title: "picture", name: data.name, backgroundColor: theme().ground, pixelRatio: 2 } } },
      tooltip: tooltip({ trigger: "item", formatter: ({ value }) => value[4] > 1
        ? `${value[4].toLocaleString("en")} attempts on ${safe(slots[value[0]].name)}<br>closer shows each`
        : describe(value[3]).map(([name, text]) => `<b>${safe(name)}</b> ${safe(text)}`).join("<br>") }),
      xAxis: axis({ type: "value", min: 0, max: whole, name: "s", axisLabel: { color: theme().faint, formatter: tick } }),
      yAxis: axis({ type: "category", inverse: true, data: slots.map((slot) => slot.name), splitLine: { show: false } }),
      dataZoom: [
        { type: "inside", filterMode: "none", xAxisIndex: 0 },
        { type: "slider", filterMode: "none", xAxisIndex: 0, height: 18, bottom: 8, right: 60, showDataShadow: false,
          textStyle: { color: theme().faint }, labelFormatter: tick },
      ],
      series: [{ type: "custom", renderItem: drawBlock, clip: true, progressive: 0, encode: { x: [1, 2], y: 0 }, data: [] }],
    });
    refresh();
  }

  const tick = (value) => (view[1] - view[0] < 0.05 ? value.toFixed(4) : view[1] - view[0] < 5 ? value.toFixed(2)
    : value.toFixed(view[1] - view[0] < 50 ? 1 : 0));

  function refresh() {
    const width = charts.slots.getWidth();
    charts.slots.setOption({ series: [{ data: blocks(width) }] });
  }

  function zoomTo(from, until) {
    const length = Math.min(whole, Math.max(until - from, whole / 1e6));
    const start = Math.min(Math.max(0, from), whole - length);
    charts.slots.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, startValue: start, endValue: start + length });
  }

  const scale = (factor) => {
    const middle = (view[0] + view[1]) / 2, half = ((view[1] - view[0]) * factor) / 2;
    zoomTo(middle - half, middle + half);
  };
  const shift = (share) => {
    const by = (view[1] - view[0]) * share;
    zoomTo(view[0] + by, view[1] + by);
  };

  // ---- The smaller charts
  function drawRunning() {
    const bins = Math.min(600, Math.max(50, count * 4));
    const kinds = [...new Set(slots.map((slot) => slot.kind))];
    const sums = Object.fromEntries(kinds.map((kind) => [kind, new Float64Array(bins + 1)]));
    const width = (whole * MICRO) / bins;
    for (let at = 0; at < count; at++) {
      const sum = sums[slots[attempts.row[at]].kind];
      const from = attempts.start[at], until = from + attempts.length[at];
      for (let bin = Math.floor(from / width); bin <= Math.min(bins - 1, Math.floor(until / width)); bin++)
        sum[bin] += Math.max(0, Math.min(until, (bin + 1) * width) - Math.max(from, bin * width)) / width;
    }
    charts.running.setOption({
      animation: false, color: [COLOURS[0], COLOURS[1]], grid: { left: 40, right: 24, top: 26, bottom: 30 },
      legend: { top: 0, textStyle: { color: theme().faint }, data: kinds }, tooltip: tooltip({ trigger: "axis",
        valueFormatter: (value) => Number(value).toFixed(1) }),
      xAxis: axis({ type: "value", max: whole, name: "s", splitLine: { show: false } }), yAxis: axis({ type: "value" }),
      series: kinds.map((kind) => ({ name: kind, type: "line", step: "end", stack: "all", areaStyle: { opacity: 0.5 },
        symbol: "none", lineStyle: { width: 1 },
        data: Array.from(sums[kind].slice(0, bins), (value, bin) => [(bin * width) / MICRO, value]) })),
    });
  }

  function drawStages() {
    const kinds = [...new Set(slots.map((slot) => slot.kind))];
    const sums = stageNames.map((name) => {
      const values = attempts.stages[name];
      const sum = Object.fromEntries(kinds.map((kind) => [kind, 0]));
      for (let at = 0; at < count; at++) sum[slots[attempts.row[at]].kind] += values[at] / MICRO;
      return kinds.map((kind) => sum[kind]);
    });
    charts.stages.setOption({
      animation: false, grid: { left: 40, right: 24, top: 8, bottom: 30 },
      tooltip: tooltip({ trigger: "item", formatter: ({ seriesName, value }) => `${safe(seriesName)}: ${seconds(value)}` }),
      xAxis: axis({ type: "value", name: "s" }), yAxis: axis({ type: "category", data: kinds, splitLine: { show: false } }),
      series: stageNames.map((name, at) => ({ name: meaning(name), type: "bar", stack: "all", data: sums[at],
        itemStyle: { color: colourOf[name] } })),
    });
  }

  // How unlike attempts are: their number by seconds, in bins that each are a tenth longer.
  function drawSkew() {
    const bins = new Map();
    for (let at = 0; at < count; at++) {
      const bin = Math.floor(Math.log(Math.max(1, attempts.length[at])) / Math.log(1.1));
      bins.set(bin, (bins.get(bin) || 0) + 1);
    }
    const [low, high] = [Math.min(...bins.keys()), Math.max(...bins.keys())];
    const all = count ? Array.from({ length: high - low + 1 }, (_, i) => [1.1 ** (low + i) / MICRO, bins.get(low + i) || 0]) : [];
    charts.skew.setOption({
      animation: false, color: [COLOURS[0]], grid: { left: 50, right: 24, top: 8, bottom: 30 },
      tooltip: tooltip({ trigger: "axis", formatter: ([item]) => `${item.name}: ${item.value.toLocaleString("en")} attempts` }),
      xAxis: axis({ type: "category", data: all.map(([from]) => seconds(from)), splitLine: { show: false } }),
      yAxis: axis({ type: "value" }), series: [{ type: "bar", barCategoryGap: "5%", data: all.map(([, many]) => many) }],
    });
  }

  // ---- The table of attempts
  const COLUMNS = [
    ["attempt", (at) => attempts.name[at]], ["slot", (at) => slots[attempts.row[at]].name], ["ran", ran],
    ["outcome", outcome], ["from, s", (at) => attempts.start[at] / MICRO], ["seconds", (at) => attempts.length[at] / MICRO],
    ["input bytes", (at) => attempts.bytes[at]], ["most of it", (at) => meaning(largestStage(at) || "")],
    ["note", (at) => attempts.notes[at] || ""],
  ];
  let order = { column: 5, down: true };
  let texts = null; // made when somebody searches

  function textOf(at) {
    texts = texts || Array.from({ length: count }, (_, at) => [attempts.name[at], slots[attempts.row[at]].name, ran(at),
      outcome(at), file(at), attempts.notes[at] || ""].join(" ").toLowerCase());
    return texts[at];
  }

  function matching() {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = [];
    for (let at = 0; at < count; at++) if (words.every((word) => textOf(at).includes(word))) all.push(at);
    return [all, words.length > 0];
  }

  function writeAttempts() {
    const [found, asked] = matching();
    marked = asked ? new Set(found) : null;
    const value = COLUMNS[order.column][1];
    const keys = new Map(found.map((at) => [at, value(at)]));
    const sign = order.down ? -1 : 1;
    found.sort((a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      return (typeof x === "number" ? x - y : x < y ? -1 : x > y ? 1 : 0) * sign || a - b;
    });
    $("found").textContent = found.length > SHOWN ? `${found.length.toLocaleString("en")} attempts, ${SHOWN} are shown`
      : `${found.length.toLocaleString("en")} attempts`;
    const body = $("attempts").tBodies[0];
    body.replaceChildren();
    for (const at of found.slice(0, SHOWN)) {
      const line = add(body, "tr", undefined, at === chosen ? "chosen" : "");
      line.tabIndex = 0;
      line.dataset.attempt = at;
      for (const [, of] of COLUMNS) {
        const cell = of(at), number = typeof cell === "number";
        add(line, "td", number ? cell.toLocaleString("en", { maximumFractionDigits: 4 }) : cell, number ? "number" : "");
      }
    }
  }

  function writeHeads() {
    const line = add($("attempts").tHead, "tr");
    COLUMNS.forEach(([name], column) => {
      const head = add(line, "th", name);
      head.tabIndex = 0;
      const sort = () => {
        order = { column, down: order.column === column ? !order.down : column >= 4 };
        for (const other of line.children) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
        writeAttempts();
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
    });
  }

  function choose(at, moves) {
    chosen = at;
    $("chosen").hidden = at < 0;
    $("chosen").replaceChildren();
    if (at >= 0) {
      for (const [name, text] of describe(at)) {
        const line = add($("chosen"), "div");
        add(line, "b", name + " ");
        line.append(text);
      }
      const middle = (attempts.start[at] + attempts.length[at] / 2) / MICRO, half = Math.max(attempts.length[at] / MICRO, 1e-6) * 4;
      if (moves) zoomTo(middle - half, middle + half);
    }
    for (const row of $("attempts").tBodies[0].rows) row.className = Number(row.dataset.attempt) === at ? "chosen" : "";
    refresh();
  }

  // ---- What a person does
  function draw() {
    for (const chart of Object.values(charts)) chart.dispose();
    $("slots").style.height = Math.min(900, Math.max(160, 80 + slots.length * 24)) + "px";
    charts = Object.fromEntries(["slots", "running", "stages", "skew"].map((id) => [id, echarts.init($(id))]));
    const held = [...view];
    drawSlots();
    charts.slots.on("datazoom", () => {
      const { startValue, endValue } = charts.slots.getOption().dataZoom[0];
      view = [startValue, endValue];
      refresh();
    });
    charts.slots.on("click", ({ value }) => (value[4] > 1 ? zoomTo(value[1] / MICRO, value[2] / MICRO) : choose(value[3], false)));
    if (held[0] > 0 || held[1] < whole) zoomTo(...held);
    drawRunning();
    drawStages();
    drawSkew();
  }

  function setTheme(name) {
    document.documentElement.dataset.theme = name;
    draw();
  }

  const ACTIONS = {
    "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2), ArrowLeft: () => shift(-0.25),
    ArrowRight: () => shift(0.25), 0: () => zoomTo(0, whole), t: () => $("theme").click(), "?": () => $("help").showModal(),
    "/": () => $("search").focus(), Escape: () => choose(-1, false),
  };

  function listen() {
    $("closer").onclick = ACTIONS["+"];
    $("wider").onclick = ACTIONS["-"];
    $("whole").onclick = ACTIONS[0];
    $("keys").onclick = ACTIONS["?"];
    $("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    $("search").oninput = () => { writeAttempts(); refresh(); };
    const row = (event) => event.target.closest("tr[data-attempt]");
    $("attempts").addEventListener("click", (event) => row(event) && choose(Number(row(event).dataset.attempt), true));
    $("attempts").addEventListener("keydown", (event) =>
      event.key === "Enter" && row(event) && choose(Number(row(event).dataset.attempt), true));
    document.addEventListener("keydown", (event) => {
      const typing = event.target.matches("input");
      if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
      if (ACTIONS[event.key]) {
        event.preventDefault();
        ACTIONS[event.key]();
      }
    });
    let waiting = 0;
    window.addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { for (const chart of Object.values(charts)) chart.resize(); refresh(); }, 100);
    });
  }

  writeHead();
  writeTables();
  writeHeads();
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  draw();
  writeAttempts();
  listen();
  // For who checks the page: what it shows, in numbers.
  window.job = { slotSeconds: () => byRow.map((row) => row.reduce((sum, at) => sum + attempts.length[at], 0) / MICRO),
    view: () => [...view], blocks: () => blocks(charts.slots.getWidth()).length };
  document.documentElement.dataset.ready = "yes";
})();
