"use strict";
(function () {
  const $ = (id) => document.getElementById(id);
  const read = (id) => { const at = $(id); return at ? JSON.parse(at.textContent) : null; };

  // theme: system, light, dark
  const theme = $("theme");
  const kinds = ["system", "light", "dark"];
  let kind = "system";
  try { kind = localStorage.getItem("judgekit-theme") || "system"; } catch (e) { /* a page from disk may have no storage */ }
  function paint() {
    if (!kinds.includes(kind)) kind = "system";
    if (kind === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = kind;
    theme.textContent = "Theme: " + kind;
  }
  theme.hidden = false;
  theme.addEventListener("click", () => {
    kind = kinds[(kinds.indexOf(kind) + 1) % kinds.length];
    try { localStorage.setItem("judgekit-theme", kind); } catch (e) { /* as above */ }
    paint();
  });
  paint();

  // Percentages are rounded half to even in whole numbers, as judgekit.report.model.share does.
  function share(part, whole, digits) {
    if (part === null || !whole) return "–";
    const scale = 10n ** BigInt(digits), top = BigInt(part) * 100n * scale, bottom = BigInt(whole);
    let quotient = top / bottom;
    const rest = 2n * (top % bottom);
    if (rest > bottom || (rest === bottom && quotient % 2n)) quotient += 1n;
    if ((quotient === 0n && BigInt(part) > 0n) || (quotient === 100n * scale && part < whole)) return share(part, whole, digits + 1);
    if (digits === 0) return quotient + " %";
    return quotient / scale + "." + String(quotient % scale).padStart(digits, "0") + " %";
  }
  const fixed = (value, digits) => (value === null || !isFinite(value) ? "–" : value.toFixed(digits));

  // the slider
  const data = read("slider-data");
  if (data) {
    const range = $("slider-recall"), pick = $("slider-row");
    let exact = data.target;
    function place(kind, index, x, y) {
      for (const mark of document.querySelectorAll(`[data-kind="${kind}"]`)) {
        const mine = mark.dataset.mark === String(index);
        mark.classList.toggle("dim", !mine);
        const [left, top, side] = mark.dataset.box.split(" ").map(Number);
        if (mine) mark.setAttribute("transform", `translate(${left + side * x} ${top + side * (1 - y)})`);
      }
    }
    const put = (key, text) => { const at = $("point-" + key); if (at.textContent !== text) at.textContent = text; };
    function point(row, num, den) {
      let at = 0;
      while (BigInt(row.c[at]) * BigInt(den) < BigInt(num) * BigInt(row.p)) at += 1;
      return at;
    }
    function move(said) {
      const index = Number(pick.value), row = data.rows[index];
      const [num, den] = exact;
      const at = point(row, num, den), caught = row.c[at], alarms = row.f[at];
      const flagged = caught + alarms, n = row.p + row.q, missed = row.p - caught, lost = row.lost[0] + row.lost[1];
      $("slider-target").textContent = den === 1000 || 1000 % den === 0 ? share(num, den, 1).replace(".0 %", " %") : (100 * num / den).toPrecision(6).replace(/0+$/, "") + " %";
      put("threshold", row.sign + "\u00a0" + row.t[at]);
      put("workload", `${share(flagged, n, 1)} (${flagged} of ${n})`);
      put("workload_all", share(flagged + lost, n + lost, 1));
      put("recall", `${share(caught, row.p, 1)} (${caught} of ${row.p})`);
      put("missed", String(missed));
      put("precision", share(caught, flagged, 1));
      put("false_alarms_per_catch", fixed(caught ? alarms / caught : null, 2));
      put("specificity", share(row.q - alarms, row.q, 1));
      put("wss", fixed((caught * n - flagged * row.p) / (row.p * n), 3));
      const ends = row.risk[at];
      put("unread_risk", share(missed, n - flagged, 1) + (ends ? ` (${(100 * ends[0]).toFixed(1)} % to ${(100 * ends[1]).toFixed(1)} %)` : row.clustered ? " (questions repeat: no interval)" : ""));
      if (said) $("slider-says").textContent = `Read if ${row.sign} ${row.t[at]}: ${flagged} of ${n} answers read, ${caught} of ${row.p} incomplete caught, ${missed} missed.`;
      range.setAttribute("aria-valuetext", $("slider-target").textContent);
      for (const line of document.querySelectorAll("path[data-row]")) line.classList.toggle("dim", line.dataset.row !== String(index));
      place("roc", index, alarms / row.q, caught / row.p);
      place("workload", index, caught / row.p, flagged / n);
      for (const line of document.querySelectorAll("path[data-target]")) line.setAttribute("transform", `translate(${line.dataset.side * (num / den - data.target[0] / data.target[1])} 0)`);
    }
    range.addEventListener("input", () => { exact = [Number(range.value), 1000]; move(true); });
    pick.addEventListener("change", () => move(true));
    $("slider-reset").addEventListener("click", () => { exact = data.target; range.value = data.value; move(true); });
    document.querySelector("#slider .controls").hidden = false;
    move();
  }

  // folded panels: an address opens its own, print opens all but the figures' data
  function reveal() {
    let at = location.hash.length > 1 ? $(decodeURIComponent(location.hash.slice(1).split("&")[0])) : null;
    const target = at;
    for (; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  reveal();
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details:not([open]):not(.data)")) { each.open = true; each.dataset.printed = "yes"; }
  });
  addEventListener("afterprint", () => {
    for (const each of document.querySelectorAll("details[data-printed]")) { each.open = false; delete each.dataset.printed; }
  });
})();
