// Keeps the scores on a page up to date: watches every match named on it through one socket.
"use strict";
(() => {
  const watched = new Map();
  for (const place of document.querySelectorAll("[data-watch]")) {
    const after = place.dataset.seq === undefined ? null : { epoch: Number(place.dataset.epoch), seq: Number(place.dataset.seq) };
    watched.set(place.dataset.watch, { place, after });
  }
  if (watched.size === 0) return;

  const STATUS = { LIVE: "Live", COMPLETED: "Finished", SCHEDULED: "To come", ABANDONED: "Abandoned" };
  const FIRST_PAUSE_MS = 500, LONGEST_PAUSE_MS = 30000, WATCH_LIMIT = 60, LAST_RETRY_CODE = 4399;
  const announce = document.getElementById("announce");
  const connection = document.getElementById("connection");
  let pause = FIRST_PAUSE_MS;

  const plain = (text) => {
    const words = String(text).replace(/[_-]/g, " ").toLowerCase();
    return words.charAt(0).toUpperCase() + words.slice(1);
  };
  const make = (name, text, attributes = {}) => {
    const element = document.createElement(name);
    if (text !== null) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const setText = (element, text) => {
    if (element && element.textContent !== text) element.textContent = text;
  };

  function showHead(place, head) {
    for (const side of head.sides) {
      setText(place.querySelector(`[data-side="${CSS.escape(side.key)}"] .score`), side.score || "–");
    }
    if (head.result) setText(place.querySelector(".result"), head.result.text);
    else if (place.id === "board") setText(place.querySelector(".result"), "");
    const status = place.querySelector(".status");
    if (status) {
      setText(status, STATUS[head.status] || plain(head.status));
      status.className = `status status-${head.status.toLowerCase()}`;
    }
    const standing = standingName(head);
    const badge = place.querySelector(".standing");
    if (badge) {
      setText(badge, standing);
      badge.className = `standing standing-${head.standing || "none"}`;
    }
    setText(place.querySelector(".ruling"), head.standing === "reopened" && head.ruling ? head.ruling.reason : "");
    showFlags(place.querySelector(".flags"), head.flags);
    // Whole scores at a calm pace: a reader is told the newest one, never every step.
    const spoken = head.result ? head.result.text : head.sides.filter((side) => side.score).map((side) => `${side.name} ${side.score}`).join(", ");
    const marked = Object.keys(head.flags || {}).map(plain);
    if (place.id === "board") say([...marked, standing, spoken].filter(Boolean).join(". "));
  }

  function standingName(head) {
    if (!head.standing) return "";
    return plain(head.standing) + (head.standing === "official" && head.revision > 1 ? `, revision ${head.revision}` : "");
  }

  function showFlags(banner, flags) {
    if (!banner) return;
    banner.replaceChildren(...Object.entries(flags || {}).map(([name, raised]) => {
      const flag = make("span", null, { class: "flag" });
      flag.append(make("strong", plain(name)), `: ${raised.reason}`);
      return flag;
    }));
  }

  let spokenNext = null, spokenTimer = null;
  function say(text) {
    spokenNext = text;
    if (spokenTimer !== null) return;
    setText(announce, spokenNext);
    spokenTimer = setTimeout(() => {
      spokenTimer = null;
      if (announce.textContent !== spokenNext) say(spokenNext);
    }, 10000);
  }

  const family = (role) => role.replace(/-\d+$/, "");
  const natural = new Intl.Collator("en", { numeric: true }).compare;
  const inOrder = (a, b) => natural(a.role, b.role) || (a.values.position ?? 0) - (b.values.position ?? 0) || natural(a.subject, b.subject);
  const wordsOf = (value, names) => {
    if (value === null || value === undefined || value === false) return "";
    if (value === true) return "yes";
    if (typeof value === "string") return names[value] || value.replace(/_/g, " ");
    if (Array.isArray(value)) return value.map((inner) => wordsOf(inner, names)).join(", ");
    if (typeof value === "object") return Object.entries(value).map(([key, inner]) => `${plain(key)} ${wordsOf(inner, names)}`).join(", ");
    return String(value);
  };

  const isFigure = (text) => /^-?\d+(\.\d+)?$/.test(text);

  function table(segment, role, lines, names) {
    lines = [...lines].sort(inOrder);
    const found = [...new Set(lines.flatMap((line) => Object.keys(line.values)))].filter((key) => key !== "position");
    // What every line has stands first: on a narrow screen the rest is scrolled to.
    const everywhere = (key) => lines.every((line) => key in line.values);
    const keys = [...found.filter(everywhere), ...found.filter((key) => !everywhere(key))];
    const scroll = make("div", null, { class: "scroll", tabindex: "0", role: "region", "aria-label": `${plain(segment)}, ${plain(role)}` });
    const grid = make("table", null);
    grid.append(make("caption", plain(role)));
    const headRow = make("tr", null);
    const corner = make("th", null, { scope: "col" });
    corner.append(make("span", "Name", { class: "unseen" }));
    headRow.append(corner, ...keys.map((key) => {
      const words = lines.map((line) => wordsOf(line.values[key], names)).some((text) => text !== "" && !isFigure(text));
      return make("th", plain(key), words ? { scope: "col", class: "words" } : { scope: "col" });
    }));
    const thead = make("thead", null);
    thead.append(headRow);
    const tbody = make("tbody", null);
    for (const line of lines) {
      const row = make("tr", null);
      row.append(make("th", names[line.subject] || line.subject, { scope: "row" }));
      row.append(...keys.map((key) => {
        const text = wordsOf(line.values[key], names);
        return make("td", text, isFigure(text) ? {} : { class: "words" });
      }));
      tbody.append(row);
    }
    grid.append(thead, tbody);
    scroll.append(grid);
    return scroll;
  }

  function showParts(head, parts) {
    const list = document.getElementById("parts");
    if (!list) return;
    for (const [segment, part] of Object.entries(parts)) {
      const section = make("section", null, { "data-segment": segment });
      section.append(make("h2", plain(segment)));
      const roles = [...new Set(part.lines.map((line) => family(line.role)))].sort();
      for (const role of roles) section.append(table(segment, role, part.lines.filter((line) => family(line.role) === role), head.names));
      const old = list.querySelector(`[data-segment="${CSS.escape(segment)}"]`);
      if (old) {
        // Where the reader has scrolled to, and what has the focus, stays.
        const before = [...old.querySelectorAll(".scroll")];
        const focused = before.indexOf(document.activeElement);
        const offsets = before.map((box) => box.scrollLeft);
        old.replaceWith(section);
        const boxes = section.querySelectorAll(".scroll");
        boxes.forEach((box, index) => { box.scrollLeft = offsets[index] || 0; });
        if (focused >= 0 && boxes[focused]) boxes[focused].focus({ preventScroll: true });
      } else {
        const next = [...list.children].find((other) => other.dataset.segment < segment);
        list.insertBefore(section, next || null);
      }
    }
  }

  function take(frame) {
    const match = watched.get(frame.match);
    if (!match) return;
    const { head, parts } = frame.op === "document" ? frame.document : frame;
    match.after = { epoch: frame.epoch, seq: frame.seq };
    if (frame.op === "document" && match.place.id === "board") document.getElementById("parts").replaceChildren();
    showHead(match.place, head);
    if (match.place.id === "board") showParts(head, parts);
  }

  function connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/v1/socket`, "scorebox.json");
    socket.onopen = () => {
      pause = FIRST_PAUSE_MS;
      if (connection) connection.hidden = true;
      for (const [match, { after }] of [...watched].slice(0, WATCH_LIMIT)) {
        socket.send(JSON.stringify(after ? { op: "watch", match, after } : { op: "watch", match }));
      }
    };
    socket.onmessage = (message) => {
      const frame = JSON.parse(message.data);
      if (frame.op === "document" || frame.op === "changed") take(frame);
    };
    socket.onclose = (event) => {
      const again = event.code <= LAST_RETRY_CODE;
      if (connection) {
        connection.hidden = false;
        connection.textContent = again ? "Connection lost. The score may be old; trying again." : "No longer connected. Reload the page for the newest score.";
      }
      if (!again) return;
      const asked = /^retry ([0-9.]+)s$/.exec(event.reason);
      setTimeout(connect, asked ? Number(asked[1]) * 1000 : pause * (0.5 + Math.random()));
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    };
  }
  connect();
})();
