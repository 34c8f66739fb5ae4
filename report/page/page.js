(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  var data = JSON.parse(document.getElementById("data").textContent);
  var host = document.getElementById("charts");
  var readout = document.getElementById("readout");
  var hidden = {};
  var plots = [];
  var zoom = null;
  var sync = uPlot.sync("run");
  var length = data.t.length ? data.t[data.t.length - 1] : 1;
  var unit = length < 120 ? [1, "s"] : length < 10800 ? [60, "m"] : [3600, "h"];

  function clock(s) { return +(s / unit[0]).toFixed(2) + unit[1]; }
  function figure(c, v) {
    if (v == null) { return "–"; }
    return c.unit === "share" ? +(v * 100).toFixed(1) + "%" : String(v);
  }

  function bands(u) {
    var ctx = u.ctx;
    ctx.save();
    ctx.fillStyle = "rgba(0,0,0,0.10)";
    (data.bands || []).forEach(function (b) {
      var x0 = Math.max(u.valToPos(b[0], "x", true), u.bbox.left);
      var x1 = Math.min(u.valToPos(b[1], "x", true), u.bbox.left + u.bbox.width);
      if (x1 > x0) { ctx.fillRect(x0, u.bbox.top, x1 - x0, u.bbox.height); }
    });
    ctx.restore();
  }

  function limit(c) {
    return function (u) {
      if (!c.limit) { return; }
      var y = u.valToPos(c.limit, "y", true), ctx = u.ctx;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = "#000";
      ctx.beginPath(); ctx.moveTo(u.bbox.left, y); ctx.lineTo(u.bbox.left + u.bbox.width, y); ctx.stroke();
      ctx.fillText(c.word, u.bbox.left + 6, y - 5);
      ctx.restore();
    };
  }

  function width() { return Math.max(280, host.clientWidth - 2); }

  data.charts.forEach(function (c) {
    var box = document.createElement("div");
    box.className = "chart";
    host.appendChild(box);
    var series = [{ value: function (_, v) { return v == null ? "–" : clock(v); }, label: "time" }];
    c.lines.forEach(function (l) {
      series.push({ label: l.arm, stroke: l.color, width: 2, dash: l.dash || undefined, points: { show: false }, value: function (_, v) { return figure(c, v); } });
    });
    var plot = new uPlot({
      title: c.title, width: width(), height: 190,
      cursor: { sync: { key: "run", setSeries: false }, drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: function (_, lo, hi) { return [0, c.unit === "share" ? 1 : Math.max(1, (c.limit || 0) * 1.08, (hi || 0) * 1.05)]; } } },
      axes: [
        { values: function (_, v) { return v.map(clock); }, size: 30, incrs: [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 604800] },
        { values: function (_, v) { return v.map(function (x) { return c.unit === "share" ? Math.round(x * 100) + "%" : x; }); }, size: 55 }
      ],
      series: series,
      hooks: {
        drawClear: [bands], draw: [limit(c)],
        setScale: [function (u, key) {
          if (key !== "x" || u.quiet) { return; }
          var x = u.scales.x;
          if (zoom && zoom[0] === x.min && zoom[1] === x.max) { return; }
          zoom = [x.min, x.max];
          plots.forEach(function (p) { if (p !== u) { p.quiet = true; p.setScale("x", { min: x.min, max: x.max }); p.quiet = false; } });
          save();
        }]
      }
    }, [data.t].concat(c.y), box);
    plot.chart = c;
    plots.push(plot);
  });

  function whole() {
    plots.forEach(function (p) { p.setScale("x", { min: data.t[0], max: data.t[data.t.length - 1] }); });
  }

  function showArms() {
    plots.forEach(function (p) {
      p.chart.lines.forEach(function (l, i) { p.setSeries(i + 1, { show: !hidden[l.arm] }); });
    });
    document.querySelectorAll("[data-arm]").forEach(function (b) { b.setAttribute("aria-pressed", String(!hidden[b.dataset.arm])); });
  }

  function showPhase(name) {
    document.querySelectorAll("button[data-phase]").forEach(function (b) { b.setAttribute("aria-pressed", String(b.dataset.phase === name)); });
    document.querySelectorAll("details.phase").forEach(function (d) { d.hidden = d.dataset.phase !== name; if (!d.hidden) { d.open = true; } });
  }

  var phase = (document.querySelector('button[data-phase][aria-pressed="true"]') || { dataset: {} }).dataset.phase || "all";
  var restoring = true;

  function save() {
    if (restoring) { return; }
    var parts = ["phase=" + encodeURIComponent(phase)];
    var off = Object.keys(hidden).filter(function (a) { return hidden[a]; });
    if (off.length) { parts.push("off=" + off.map(encodeURIComponent).join(",")); }
    if (zoom) { parts.push("zoom=" + zoom.map(function (z) { return z.toFixed(2); }).join(",")); }
    try { history.replaceState(null, "", "#" + parts.join("&")); } catch (e) { location.hash = parts.join("&"); }
  }

  function restore() {
    location.hash.slice(1).split("&").forEach(function (part) {
      var kv = part.split("="), v = kv[1] || "";
      if (kv[0] === "phase" && data.phases[decodeURIComponent(v)]) { phase = decodeURIComponent(v); }
      if (kv[0] === "off") { v.split(",").forEach(function (a) { hidden[decodeURIComponent(a)] = true; }); }
      if (kv[0] === "zoom") {
        var z = v.split(",").map(Number);
        if (z.length === 2 && z[1] > z[0]) { plots.forEach(function (p) { p.setScale("x", { min: z[0], max: z[1] }); }); }
      }
    });
  }

  document.querySelectorAll("button[data-phase]").forEach(function (b) {
    b.addEventListener("click", function () { phase = b.dataset.phase; showPhase(phase); save(); });
  });
  document.querySelectorAll("[data-arm]").forEach(function (b) {
    b.addEventListener("click", function () { hidden[b.dataset.arm] = !hidden[b.dataset.arm]; showArms(); save(); });
  });
  document.getElementById("reset").addEventListener("click", whole);
  document.addEventListener("keydown", function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey) { return; }
    var chips = document.querySelectorAll("[data-arm]");
    if (e.key === "0") { whole(); } else if (e.key >= "1" && e.key <= "9" && chips[e.key - 1]) { chips[e.key - 1].click(); }
  });
  document.querySelectorAll("button.copy").forEach(function (b) {
    b.addEventListener("click", function () {
      var from = b.dataset.copy ? document.getElementById(b.dataset.copy) : b.previousElementSibling;
      var text = from.textContent;
      function done() { var was = b.textContent; b.textContent = "copied"; setTimeout(function () { b.textContent = was; }, 1200); }
      function old() {
        var a = document.createElement("textarea");
        a.value = text; document.body.appendChild(a); a.select();
        try { document.execCommand("copy"); done(); } catch (err) { b.textContent = "select and copy"; }
        a.remove();
      }
      if (navigator.clipboard && window.isSecureContext) { navigator.clipboard.writeText(text).then(done, old); } else { old(); }
    });
  });
  var pending;
  window.addEventListener("resize", function () {
    clearTimeout(pending);
    pending = setTimeout(function () { plots.forEach(function (p) { p.setSize({ width: width(), height: 190 }); }); }, 80);
  });
  restore();
  showArms();
  showPhase(phase);
  restoring = false;
  root.setAttribute("data-ready", "yes");
  window.blastradiusReady = true;
})();
