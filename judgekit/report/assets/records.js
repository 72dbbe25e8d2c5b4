"use strict";
// The table of records. Texts reach the page by textContent only, so that nothing in a record is ever markup.
(async function () {
  const $ = (id) => document.getElementById(id);
  if (!$("records-data")) return;
  const data = JSON.parse($("records-data").textContent);
  const status = $("found"), body = document.querySelector("#records-table tbody"), head = document.querySelector("#records-table thead");
  if (typeof DecompressionStream === "undefined") {
    status.textContent = "This browser cannot unpack the records (it has no DecompressionStream). Any browser since 2023 can.";
    return;
  }
  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }
  const el = (tag, text, cls) => {
    const node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (cls) node.className = cls;
    return node;
  };
  const OUTCOMES = { c: "caught", m: "missed", f: "read for nothing", u: "left unread", s: "unscored, read", n: "no label", "-": "–" };
  const [index, skeletons] = await Promise.all([unpack($("records-index").textContent), unpack($("records-skeletons").textContent)]);
  const holders = [...document.querySelectorAll(".records-piece")], pieces = new Map();
  const piece = (k) => {
    if (!pieces.has(k)) pieces.set(k, unpack(holders[k].textContent));
    return pieces.get(k);
  };
  const record = async (i) => (await piece(Math.floor(i / data.piece)))[i % data.piece];

  // What is searched: all texts of a record in lower case, unpacked once, when somebody first searches.
  let hay = null;
  async function haystack() {
    if (hay) return hay;
    const out = [];
    for (let k = 0; k < holders.length; k += 1) {
      status.textContent = `Unpacking texts, ${Math.round((100 * k) / holders.length)} %`;
      for (const one of await piece(k)) {
        const words = [one[0], one[1], one[2], ...one[3].map((c) => c[1]), JSON.stringify(one[4])];
        for (const label of one[5]) words.push(label[1], label[4], label[7]);
        for (const said of one[6]) { words.push(said[2], said[3], JSON.stringify(said[7])); for (const call of said[10]) words.push(call[1]); }
        out.push((index[out.length][0] + "\n" + words.filter((w) => w).join("\n")).toLowerCase());
      }
    }
    hay = out;
    return hay;
  }

  // What is looked for stands in the address, so that it can be kept and sent.
  const FIELDS = { find: "find", label: "find-label", row: "find-row", outcome: "find-outcome" };
  const kept = new URLSearchParams(location.hash.startsWith("#records&") ? location.hash.slice(9) : "");
  let order = { at: Number(kept.get("sort") ?? -1), down: kept.get("down") === "1" };
  for (const [key, id] of Object.entries(FIELDS)) if (kept.has(key) && $(id)) $(id).value = kept.get(key);
  function keep() {
    const now = new URLSearchParams();
    for (const [key, id] of Object.entries(FIELDS)) if ($(id)?.value && !(key === "row" && $(id).value === "0")) now.set(key, $(id).value);
    if (order.at >= 0) { now.set("sort", order.at); if (order.down) now.set("down", "1"); }
    if (now.size || location.hash.startsWith("#records&")) history.replaceState(null, "", "#records" + (now.size ? "&" + now : ""));
  }
  function sort() {
    if (order.at < 0 || order.at >= head.rows[0].cells.length) return;
    const mine = row(), first = mine ? 5 : 4;
    const key = (i) => (order.at >= first ? index[i][5][order.at - first] : order.at === 4 ? OUTCOMES[mine.codes[i]] : index[i][[0, 2, 3, 4][order.at]]);
    const way = order.down ? -1 : 1;
    found.sort((a, b) => {
      const x = key(a), y = key(b);
      if (x === null || y === null) return (x === null) - (y === null) || a - b; // what is not there comes last, either way
      return way * (typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true })) || a - b;
    });
  }

  const SIZE = 25;
  let found = index.map((_, i) => i), page = 0, asked = 0;
  const row = () => data.rows[Number($("find-row")?.value || 0)];
  async function search() {
    const turn = ++asked;
    const words = $("find").value.toLowerCase().trim(), label = $("find-label").value, outcome = $("find-outcome")?.value || "", mine = row();
    const texts = words ? await haystack() : null;
    if (turn !== asked) return;
    found = [];
    for (let i = 0; i < index.length; i += 1) {
      if (texts && !texts[i].includes(words)) continue;
      if (label && !index[i][3].startsWith(label)) continue;
      if (outcome && mine && mine.codes[i] !== outcome) continue;
      found.push(i);
    }
    page = 0;
    sort();
    keep();
    draw();
  }
  function draw() {
    const mine = row(), last = Math.max(0, Math.ceil(found.length / SIZE) - 1);
    page = Math.min(page, last);
    const shown = found.slice(page * SIZE, page * SIZE + SIZE);
    body.replaceChildren(...shown.flatMap((i) => line(i, mine)));
    if (!shown.length) { const tr = el("tr"), td = el("td", "No record matches."); td.colSpan = 9; tr.append(td); body.append(tr); }
    status.textContent = `${found.length} of ${index.length} records` + (found.length > SIZE ? `, page ${page + 1} of ${last + 1}` : "");
    $("page-at").textContent = `Page ${page + 1} of ${last + 1}`;
    $("page-back").disabled = page === 0;
    $("page-on").disabled = page === last;
  }
  function line(i, mine) {
    const one = index[i], tr = el("tr"), name = el("th"), open = el("button", one[0], "open");
    name.scope = "row"; open.type = "button"; open.setAttribute("aria-expanded", "false");
    if (one[1]) name.append(el("span", one[1], "small block"));
    name.prepend(open);
    const words = el("td");
    words.append(el("div", one[2], "snippet"));
    tr.append(name, words, el("td", one[3]), el("td", one[4] || "–"));
    if (mine) tr.append(el("td", OUTCOMES[mine.codes[i]], mine.codes[i] === "m" ? "missed" : ""));
    for (let s = 0; s < data.columns; s += 1) tr.append(el("td", one[5][s] === null ? "–" : String(one[5][s]), "n"));
    [...head.rows[0].cells].forEach((th, k) => { if (k) tr.cells[k].dataset.th = th.textContent.replaceAll("\u200b", ""); });
    const more = el("tr", null, "more"), cell = el("td");
    more.hidden = true; cell.colSpan = tr.children.length; more.append(cell); more.id = `more-${i}`;
    open.setAttribute("aria-controls", more.id);
    open.addEventListener("click", async () => {
      const now = more.hidden;
      if (now && !cell.firstChild) cell.append(detail(await record(i)));
      more.hidden = !now;
      open.setAttribute("aria-expanded", String(now));
    });
    return [tr, more];
  }
  function part(title, text, folded) {
    if (text === null || text === undefined || text === "") return el("span");
    const box = el(folded ? "details" : "div", null, "part");
    box.append(el(folded ? "summary" : "h4", title), el("pre", text));
    return box;
  }
  const show = (v) => (v === null || v === undefined ? "–" : v === true ? "yes" : v === false ? "no" : typeof v === "object" ? JSON.stringify(v, null, 1) : String(v));
  function list(pairs) {
    const dl = el("dl", null, "pairs");
    for (const [key, value] of pairs) { const div = el("div"); div.append(el("dt", key), el("dd", show(value))); dl.append(div); }
    return dl;
  }
  function prompt(message, one) {
    const own = (f) => (typeof f !== "number" ? f : f < 3 ? one[f] : one[3][f - 3][1]);
    const parts = skeletons[message[1]].split("\u0000"), out = [parts[0]];
    message[3].forEach((f, k) => {
      const name = parts[2 * k + 1];
      out.push(`<${name}-${message[2]}>\n${own(f)}\n</${name}-${message[2]}>`, parts[2 * k + 2]);
    });
    return out.join("");
  }
  function detail(one) {
    const box = el("div", null, "record");
    const left = el("div"), right = el("div");
    left.append(part("Question", one[0]), part("Answer", one[1]), part("Reference", one[2], true));
    if (one[3].length) {
      const fold = el("details", null, "part"), ul = el("ul");
      fold.append(el("summary", `Criteria (${one[3].length})`), ul);
      for (const c of one[3]) ul.append(el("li", `${c[0]}: ${c[1]} (${show(c[2])} points${c[3] ? ", " + c[3] : ""})`));
      left.append(fold);
    }
    if (Object.keys(one[4]).length) { const fold = el("details", null, "part"); fold.append(el("summary", "About this record"), list(Object.entries(one[4]))); left.append(fold); }
    right.append(el("h4", one[5].length ? "What the clinicians said" : "No label"));
    for (const l of one[5]) {
      const card = el("div", null, "said");
      card.append(el("p", `${!l[1] ? "rater not named" : l[1].startsWith("join:") ? "raters joined by " + l[1].slice(5) : l[1]}: ${l[2] === null ? "no verdict" : l[2] ? "complete" : "incomplete"} (${l[0]})`, "who"));
      const pairs = [["severity", l[4]], ["score", l[3]], ["value", l[5]]].filter((p) => p[1] !== null && p[1] !== undefined);
      if (l[6]) pairs.push(["criteria", Object.entries(l[6]).map(([k, v]) => `${k}: ${show(v)}`).join(", ")]);
      if (pairs.length) card.append(list(pairs));
      if (l[7]) card.append(el("pre", l[7]));
      right.append(card);
    }
    right.append(el("h4", one[6].length ? "What the judges said" : "Not judged"));
    for (const j of one[6]) {
      const card = el("div", null, "said");
      card.append(el("p", `${data.series[j[0]]}${j[1] ? ", sample " + j[1] : ""}: ${j[4] === null ? "unscored (" + j[2] + ")" : "raw score " + j[4]}`, "who"));
      const pairs = [["status", j[2] + (j[3] ? ": " + j[3] : "")]];
      if (j[6] !== null) pairs.push(["by the rubric's threshold", j[6] ? "complete" : "incomplete"]);
      if (j[8].length) pairs.push(["flags", j[8].join(", ")]);
      card.append(list(pairs));
      const verdict = j[7] || {};
      const texts = Object.entries(verdict);
      if (texts.length) card.append(list(texts));
      if (j[9].length) card.append(part("Criteria that were asked", j[9].map((c) => `${c[0]}: ${c[1]}`).join("\n"), true));
      j[10].forEach((call, k) => {
        const many = j[10].length > 1 ? ` ${k + 1} of ${j[10].length}` : "";
        card.append(part(`Prompt${many}, as sent`, call[0].map((m) => `[${m[0]}]\n${prompt(m, one)}`).join("\n\n"), true));
        card.append(part(`Reply${many}, as it came`, call[1], true));
      });
      if (!j[10].length) card.append(el("p", "No request is stored: this verdict was recorded elsewhere or follows from a rule.", "small"));
      right.append(card);
    }
    box.append(left, right);
    return box;
  }
  function heads() {
    const tr = el("tr");
    for (const word of ["Record", "Question", "Label", "Severity"]) tr.append(el("th", word));
    if (data.rows.length) tr.append(el("th", "Outcome"));
    for (let s = 0; s < data.columns; s += 1) tr.append(el("th", data.series[s].replaceAll("/", "/\u200b"), "n"));
    [...tr.children].forEach((th, k) => {
      th.scope = "col";
      const button = el("button", th.textContent, "sort");
      button.type = "button";
      button.addEventListener("click", () => { order = { at: k, down: order.at === k && !order.down }; marked(); search(); });
      th.replaceChildren(button);
    });
    head.replaceChildren(tr);
    head.parentElement.className = tr.cells.length > 7 ? "many" : "some";
  }
  function marked() {
    [...head.rows[0].cells].forEach((th, k) => {
      if (k === order.at) th.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
  }
  const safe = (v) => {
    let text = v === null || v === undefined ? "" : String(v);
    if (typeof v === "string" && /^[=+\-@\t\r\n＝＋－＠']/.test(text)) text = "'" + text;
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  $("records-csv").addEventListener("click", () => {
    const mine = row(), lines = [["record_id", "dataset", "question", "label", "severity", ...data.series, ...(mine ? ["outcome under " + mine.name] : [])]];
    for (const i of found) lines.push([...index[i].slice(0, 5), ...index[i][5], ...(mine ? [OUTCOMES[mine.codes[i]]] : [])]);
    const link = el("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff" + lines.map((l) => l.map(safe).join(",")).join("\r\n")], { type: "text/csv" }));
    link.download = "records.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  let wait = 0;
  $("find").addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(search, 150); });
  $("finder").addEventListener("submit", (event) => { event.preventDefault(); search(); });
  for (const id of ["find-label", "find-row", "find-outcome"]) $(id)?.addEventListener("change", search);
  $("page-back").addEventListener("click", () => { page -= 1; draw(); });
  $("page-on").addEventListener("click", () => { page += 1; draw(); });
  $("finder").hidden = false;
  document.querySelector(".pager").hidden = false;
  heads();
  marked();
  await search();
  document.documentElement.dataset.ready = "yes";
})();
