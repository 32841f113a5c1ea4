"use strict";
// The page of k8s-sd. The URL holds the entire state of a view. All data of the cluster is
// untrusted: it enters the page as text only, with invisible characters made visible.
//
// A view requests data and describes its content as new elements; draw() patches the document to
// match them. Unchanged elements keep their focus, selection and scroll position.

// ---------------------------------------------------------------- limits

const maxChips = 5;         // per row
const maxConsumers = 100;   // per page
const maxShards = 100;      // per page
const maxChanges = 100;     // in the document
const maxFound = 60;        // rows of Find, over all jobs
const maxFoundJobs = 20;    // with hits
const maxMisses = 50;       // jobs without a hit
const maxWatches = 40;      // of Health, with all details
const maxLines = 60;        // of Health: other jobs, one line each
const maxMonitors = 200;    // rows of Monitors
const maxEmpty = 20;        // jobs without targets, with the reason
const usually = 5000;       // ms between two updates
const whileBuilding = 500;  // the same, while the server still reads targets
const maxWait = 30;         // s, the maximum pause before reconnecting to the stream of changes

// ---------------------------------------------------------------- texts and elements

const byId = (id) => document.getElementById(id);

/** Invisible characters, and those that change the order of others. */
const invisible = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;
const visible = (text) => String(text).replace(invisible,
  (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

/** Creates an element: `el("td", { class: "number" }, "text", otherElement)`. Functions become
    listeners. */
function el(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element["on" + key] = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...given(children));
  return element;
}
const given = (children) => children.flat(Infinity).filter((child) =>
  child !== null && child !== undefined && child !== "" && child !== false);

/** An untrusted text, truncated if it is long. */
function cut(text, max = 160) {
  const shown = visible(text ?? "");
  return shown.length > max ? shown.slice(0, max) + "…" : shown;
}

/** The same within other text: isolated from the direction of its neighbours. */
const inline = (text, max) => el("span", { class: "foreign" }, cut(text, max));

/** The same, with a button that shows the rest. */
function whole(text, max) {
  const shown = visible(text);
  if (shown.length <= max) return shown;
  const rest = el("button", { class: "plain", click: () => rest.replaceWith(shown.slice(max)) },
    `… show all ${number(shown.length)} characters`);
  return [shown.slice(0, max), " ", rest];
}

const isWeb = (url) => /^https?:\/\//i.test(url ?? "");
/** A link to a web address, or its text. */
const webLink = (url) => (isWeb(url)
  ? el("a", { class: "foreign", href: url, rel: "noreferrer noopener", target: "_blank" },
    cut(url, 300), " ↗")
  : inline(url, 300));

const number = (count) => Number(count ?? 0).toLocaleString("en");
const plural = (count, one, many = one + "s") =>
  `${number(count)} ${Number(count) === 1 ? one : many}`;

let ahead = 0;  // ms by which the server's clock is ahead of ours
const now = () => Date.now() + ahead;

function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} days`;
}
const ago = (time) => (time === null || time === undefined ? "never" : `${span(now() - time)} ago`);
const iso = (time) => (time ? new Date(time).toISOString() : null);
const clock = (time) => new Date(time).toLocaleTimeString("en-GB");
const day = (time) =>
  new Date(time).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
const dateAndClock = (time) =>
  `${day(time)} ${clock(time)}.${String(Math.floor(time % 1000)).padStart(3, "0")}`;

/** \param ways links and buttons for the user's next step */
function notice(text, ...ways) {
  byId("notice").hidden = !text;
  byId("notice").replaceChildren(...(text ? [visible(text), ...given(ways)] : []));
}
function say(text) { byId("said").textContent = visible(text); }

const th = (titles) => el("thead", {}, el("tr", {}, titles.filter(Boolean).map((title) =>
  el("th", { scope: "col", class: title.startsWith("#") ? "number" : null },
    title.replace("#", "")))));

async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers allow the clipboard API for https and localhost only.
    const area = el("textarea", { class: "hidden-text", "aria-label": "Text to copy" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** \param make the text, or a promise of it */
function copyButton(title, make) {
  const button = el("button", { click: async () => {
    try {
      await toClipboard(await make());
      button.textContent = "Copied";
      say(`${title}: copied`);
    } catch (error) {
      if (error.name !== "AbortError") notice(`${title}: ${error.message}`);
    }
    setTimeout(() => { button.textContent = title; }, 1500);
  } }, title);
  return button;
}

const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
const here = (path) => new URL(path, document.baseURI).href;

// ---------------------------------------------------------------- drawing

const listeners = ["onclick", "onkeydown", "onchange", "oninput", "onsubmit", "onfocus"];
const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id : "");
const alike = (old, wanted) => old.nodeName === wanted.nodeName && keyOf(old) === keyOf(wanted);

/** Patches the old element to match the wanted one, with minimal changes. */
function patch(old, wanted) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== wanted.data) old.data = wanted.data;
    return;
  }
  // An element made from the same data stays, including details opened by the user.
  if (wanted.madeOf !== undefined && wanted.madeOf === old.madeOf) return;
  old.madeOf = wanted.madeOf;
  for (const { name } of [...old.attributes]) {
    if (!wanted.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) === value) continue;
    // the content security policy forbids the attribute
    if (name === "style") old.style.cssText = value;
    else old.setAttribute(name, value);
  }
  for (const name of listeners) old[name] = wanted[name];
  patchChildren(old, [...wanted.childNodes]);
  // Keep the user's unfinished input.
  if ("value" in old && old !== document.activeElement
    && old.value !== wanted.value) old.value = wanted.value;
  if ("checked" in old) old.checked = wanted.checked;
}

function patchChildren(parent, wanted) {
  const keys = new Set(wanted.map(keyOf).filter(Boolean));
  const keyed = new Map();
  for (const child of [...parent.children]) {
    const key = keyOf(child);
    if (!key) continue;
    if (!keys.has(key)) child.remove();
    else keyed.set(key, [...(keyed.get(key) ?? []), child]);
  }
  let at = parent.firstChild;
  for (const next of wanted) {
    const match = keyOf(next) ? keyed.get(keyOf(next))?.shift() : at;
    if (!match || !alike(match, next)) {
      parent.insertBefore(next, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else parent.insertBefore(match, at);
    patch(match, next);
  }
  while (at) {
    const rest = at;
    at = at.nextSibling;
    rest.remove();
  }
}

const rowsHere = () => [...document.querySelectorAll("main .row")];
const rowOf = (key) => rowsHere().find((row) => row.dataset.key === key);
const focusRow = (row) => row?.querySelector("a.open")?.focus();

/** Draws, and restores the focus: to the same element, row or position. */
function keepingFocus(drawIt) {
  const before = document.activeElement;
  const row = before?.closest("main .row");
  const place = rowsHere().indexOf(row);
  drawIt();
  if (!before || before === document.body || document.activeElement === before) return;
  if (before.isConnected) return before.focus({ preventScroll: true });
  if (document.querySelector(".drawer")?.contains(document.activeElement)) return;
  const rows = rowsHere();
  if (row && rows.length) {
    focusRow(rowOf(row.dataset.key) ?? rows[Math.min(place, rows.length - 1)]);
    return;
  }
  byId("main").focus({ preventScroll: true });
}

/** Shows this in the view. Another view starts empty. */
function draw(...children) {
  const view = viewNow();
  const main = byId("main");
  keepingFocus(() => {
    if (main.dataset.view !== view.name) main.replaceChildren();
    main.dataset.view = view.name;
    patchChildren(main, [el("h2", { class: "hidden-text" }, view.title),
      ...given(children)].map((child) =>
      (typeof child === "string" ? document.createTextNode(child) : child)));
    markOpenRow();
  });
}

// ---------------------------------------------------------------- state in the URL

// { name, title, show(signal), jobs: requires the names of jobs, again: supports updates }, in the
// order of the navigation. show() may return the ms until its next update.
const views = [];
let state = new URLSearchParams(location.search);

const get = (name, fallback = "") => state.get(name) ?? fallback;
const isNamed = (view, name) => view.name === name || view.title.toLowerCase() === name;
const viewOfUrl = () => views.find((view) => isNamed(view, get("view", "targets").toLowerCase()));
const viewNow = () => viewOfUrl() ?? views[0];

const drawerParameters = ["id", "job_of", "object_of", "address_of"];
/** The parameters that determine the content of a view. */
function ofTheView(parameters) {
  const rest = new URLSearchParams(parameters);
  for (const name of [...drawerParameters, "live"]) rest.delete(name);
  return rest.toString();
}
const noDrawer = Object.fromEntries(drawerParameters.map((name) => [name, null]));

/** Navigates to a URL with these parameters changed; null removes one. */
function go(changes, { replace = false, other = false, entry = {} } = {}) {
  const next = other ? new URLSearchParams() : new URLSearchParams(state);
  if (other && get("live")) next.set("live", get("live"));
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const one of [value].flat()) if (one !== null && one !== "") next.append(name, one);
  }
  const text = next.toString();
  const same = text === state.toString();
  if (!same) history[replace ? "replaceState" : "pushState"](entry, "", text ? `?${text}` : "./");
  become(next, same);
}

function become(next, anew = false) {
  const before = state;
  state = next;
  if (before.get("live") !== next.get("live")) follow(Boolean(get("live")));
  if (anew || ofTheView(before) !== ofTheView(next)) show();
  showDrawer();
}

addEventListener("popstate", () => {
  const next = new URLSearchParams(location.search);
  // Also if the field has the focus, which draw() does not touch.
  typing = false;
  const shown = viewNow().name === "find" ? "object" : "q";
  if (byId("query")) byId("query").value = next.get(shown) ?? "";
  become(next);
});

// ---------------------------------------------------------------- requests

const query = (parameters) => new URLSearchParams(
  Object.entries(parameters).flatMap(([name, values]) =>
  [values].flat().filter((value) => value !== "" && value !== null && value !== undefined)
    .map((value) => [name, value]))).toString();

/** A description of a response that is not JSON. */
async function inWords(answer, text) {
  const type = (answer.headers.get("Content-Type") ?? "no type").split(";")[0];
  if (type === "text/plain" && text.trim()) return text.trim().slice(0, 300);
  return `the response is not JSON but ${type}, with status ${answer.status}: ` +
    "does a proxy before k8s-sd require a login? Load the page again";
}

/** The response; throws an error with its text, or an AbortError if the request was superseded. */
async function ask(path, parameters, signal, options = {}) {
  const text = query(parameters);
  let answer, body;
  try {
    answer = await fetch(text ? `${path}?${text}` : path, { signal, ...options });
    body = await answer.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw Object.assign(new Error(`${location.host} does not answer: ${error.message}`),
      { status: 0 });
  }
  signal.throwIfAborted();
  let said;
  try {
    said = JSON.parse(body);
  } catch {
    throw Object.assign(new Error(await inWords(answer, body)), { status: answer.status });
  }
  if (!answer.ok) {
    throw Object.assign(new Error(said.error ?? `status ${answer.status}`),
      { status: answer.status, at: said.at });
  }
  if (typeof said.now === "number") ahead = said.now - Date.now();
  return said;
}
const post = (path, body, signal) => ask(path, {}, signal, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

/** The response, or `without` if this server does not support the request. */
async function askIfKnown(path, parameters, signal, without = null) {
  try {
    return await ask(path, parameters, signal);
  } catch (error) {
    if (error.status === 400 || error.status === 404) return without;
    throw error;
  }
}

// ---------------------------------------------------------------- display of a view

let jobs = [];
let version = "";
async function loadJobs(signal) {
  const answer = await ask("api/ui/status", {}, signal);
  jobs = answer.jobs;
  version = answer.version;
}

let task = new AbortController();  // the view's requests; a later task aborts them
let timer = 0;
let busy = false;      // with a request of the user
let refused = false;   // the server rejects the URL's parameters; a retry is useless
let failed = false;    // the view was not shown; the next attempt may succeed

/** \param again the view is already shown, and only needs an update */
async function show(again = false) {
  task.abort();
  clearTimeout(timer);
  task = new AbortController();
  const { signal } = task;
  const view = viewNow();
  busy = !again;
  if (!again) showWhere(view);
  let wait = usually;
  try {
    if (!again || (!refused && (failed || view.again))) {
      if (view.jobs && jobs.length === 0) await loadJobs(signal);
      wait = (await view.show(signal)) ?? usually;
      notice(viewOfUrl() ? ""
        : `There is no view “${cut(get("view"), 60)}”: these are the targets.`);
      refused = failed = false;
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!again) showError(view, error);
  }
  busy = false;
  await showStrip(signal).catch((error) => { if (!signal.aborted) showNoAnswer(error); });
  if (!signal.aborted) timer = setTimeout(refresh, wait);
}

/** Updates the visible view. */
function refresh() {
  if (!busy && !document.hidden) show(true);
}
document.addEventListener("visibilitychange", refresh);

function showWhere(view) {
  for (const link of byId("views").children) {
    if (link.dataset.go === view.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${view.title} · k8s-sd`;
}

/** Without any response, the strip reports the error instead. */
function showError(view, error) {
  refused = error.status >= 400 && error.status < 500;
  failed = true;
  const isAnswered = error.status !== 0;
  notice(isAnswered ? error.message
    + (error.at === undefined ? "" : ` (at character ${error.at + 1})`) : "",
  refused && get("after") ? [" ", firstPage()] : []);
  if (byId("main").dataset.view !== view.name) {
    draw(isAnswered
      ? el("p", { class: "card empty" }, "There is nothing to show: see above.") : null);
  }
}

const firstPage = () => el("button", { id: "first",
  click: () => go({ after: null, ...noDrawer }) }, "First page");

// ---------------------------------------------------------------- the status strip

/** The problem of a job, in words. */
function troubleOf(job) {
  const bad = (job.configs ?? []).find((config) => config.message || config.state === "unusable");
  const words = (bad?.message ?? "").split("\n")[0];
  if (!job.synced) return ["is not complete", words || "it waits for the first list"];
  if (bad) return [bad.state === "unusable" ? "cannot be used" : "is out of date", words];
  const isUnconfirmed = job.configs?.some((config) => config.unconfirmed);
  return isUnconfirmed ? ["has targets from before a restart", ""] : null;
}

let asOf = 0;
async function showStrip(signal) {
  await loadJobs(signal);
  const health = await ask("api/ui/health", {}, signal);
  asOf = Date.now();
  const bad = health.jobs.map((job) => [job.job, troubleOf(job)]).filter(([, trouble]) => trouble);
  const active = jobs.reduce((sum, job) => sum + job.active, 0);
  const all = jobs.reduce((sum, job) => sum + job.discovered, 0);
  const note = health.notes?.[0];
  const text = bad.length === 0 && note
    ? [el("strong", { class: "bad" }, "▲ "),
      el("span", { class: "words foreign" }, cut(note, 200)),
      health.notes.length > 1 ? el("span", {}, `and ${number(health.notes.length - 1)} more`)
        : null,
      el("a", { href: "?view=health" }, "Health")]
    : bad.length === 0
    ? [el("strong", { class: "good" }, "● All is well"), el("span", {},
      jobs.length ? `${plural(jobs.length, "job")} complete, ` +
        `${number(active)} of ${plural(all, "target")} active` : "there are no jobs")]
    : [el("strong", { class: "bad" }, "▲ Job ", inline(bad[0][0], 60), ` ${bad[0][1][0]}`),
      bad[0][1][1] ? el("span", { class: "words foreign" }, cut(bad[0][1][1], 200)) : null,
      bad.length > 1 ? el("span", {}, `and ${plural(bad.length - 1, "other job")}`) : null,
      el("a", { href: "?view=health" }, "Health")];
  fillStrip(text, `as of ${clock(now())}`);
}

/** The view keeps its content. */
function showNoAnswer(error) {
  fillStrip([el("strong", { class: "bad" }, "▲ No answer"),
    el("span", { class: "words foreign" }, cut(error.message, 200))],
    asOf ? `last updated at ${clock(asOf + ahead)}` : "");
}

function fillStrip(text, when) {
  byId("strip").hidden = false;
  patchChildren(byId("strip"), [...given(text),
    el("span", { class: "soft where", "aria-live": "off" },
    `k8s-sd ${version} at ${location.host}`, when ? ` · ${when}` : "")]);
}

// ---------------------------------------------------------------- rows of targets

const stateNames = { active: "● active", dropped: "○ dropped", failed: "✕ failed",
  duplicate: "◐ duplicate", unowned: "△ unowned" };
const stateOf = (name) => el("span", { class: `state ${name}` }, stateNames[name] ?? cut(name, 20));
const hostOf = (url) => /^\w+:\/\/([^/?#]*)/.exec(url ?? "")?.[1] ?? "";
const scrapedAt = (row) => row.relabelled_address || hostOf(row.url) || row.address
  || "(no address)";

function jobSelect(value, change, all = "all jobs") {
  const select = el("select", { "aria-label": "Job",
    change: (event) => change(event.target.value) },
    all === null ? null : el("option", { value: "" }, all),
    jobs.slice(0, 1000).map((job) => el("option", { value: job.name }, cut(job.name, 100))));
  select.value = value;
  return select;
}

function shardsField(value, title = "Shards", name = "shards", after = "") {
  return el("label", {}, `${title} `, el("input",
    { type: "number", min: "1", max: "4096", value, name,
    placeholder: "–", change: (event) => go({ [name]: event.target.value }) }), after);
}

/** Labels that the other columns do not show. */
function labelsToShow(row) {
  const shown = new Set([row.job, row.address, scrapedAt(row), row.namespace, row.node,
    ...(row.object ?? "").split("/")]);
  const names = ["instance", "job", "namespace", "pod", "service", "node"];
  const all = Object.entries(row.labels ?? {}).filter(([name]) => !name.startsWith("__"));
  const rest = all.filter(([name, value]) => !names.includes(name) || !shown.has(value));
  // Hidden labels come last: if one is present, no other is missing.
  const sent = Object.keys(row.labels ?? {}).length;
  const missing = sent > all.length ? 0 : Math.max(0, (row.labels_total ?? 0) - sent);
  return { rest, more: missing + Math.max(0, rest.length - maxChips) };
}

function labelChips(row) {
  const { rest, more } = labelsToShow(row);
  return [rest.slice(0, maxChips).map(([name, value]) => el("span", { class: "chip" },
    el("b", {}, cut(name, 60), "="), cut(value, 80))),
  more > 0 ? el("span", { class: "soft" }, `+${number(more)}`) : null];
}

const plainClick = (event) => event.button === 0 && !event.ctrlKey && !event.metaKey
  && !event.shiftKey;
const toTarget = (row) => "?" + query({ job_of: row.job, id: row.id });
/** Opens the target beside the view; the next target replaces it, also in the browser's history. */
const openTarget = (parameters) => go({ ...noDrawer, ...parameters },
  { replace: Boolean(get("id")),
    entry: { ...history.state, opened: !get("id") || history.state?.opened } });

/** \param parameters the URL parameters that identify the target */
const targetLink = (parameters, text) => el("a",
  { class: "open mono foreign", href: "?" + query(parameters), click: (event) => {
  if (!plainClick(event)) return;
  event.preventDefault();
  event.stopPropagation();
  openTarget(parameters);
} }, text);

/** With these columns in addition to the first three. */
function targetRow(row, { job, labels, owner }) {
  const columns = 3 + job + labels + owner;
  const path = row.url && row.url !== `http://${scrapedAt(row)}/metrics` ? row.url : "";
  const body = el("tbody", { class: "row", "data-key": `${row.job} ${row.id}`, "data-id": row.id,
    click: (event) => {
    // A user who selects text does not want to open the row.
    if (event.target.closest("a") || String(getSelection())) return;
    openTarget({ job_of: row.job, id: row.id });
  } }, el("tr", {},
    el("td", {}, stateOf(row.state)),
    el("td", { class: "target" }, targetLink({ job_of: row.job, id: row.id },
      cut(scrapedAt(row), 120)),
      isWeb(row.url) ? el("a", { class: "web", href: row.url, rel: "noreferrer noopener",
        target: "_blank",
        title: cut(row.url, 300), "aria-label": `Open ${cut(row.url, 120)} in a new tab` }, "↗")
          : null,
      path ? el("div", { class: "soft small" }, cut(path, 160)) : null),
    el("td", {}, cut(row.object, 120),
      row.node && row.object !== `node/${row.node}`
        ? el("div", { class: "soft small" }, "on ", cut(row.node, 80)) : null),
    job ? el("td", { class: "job" }, cut(row.job, 80)) : null,
    labels ? el("td", { class: "chips" }, labelChips(row)) : null,
    owner ? el("td", {}, ownersOf(row)) : null),
  row.reason ? el("tr", { class: "reason" }, el("td", {}),
    el("td", { colspan: columns - 1 }, cut(row.reason, 240))) : null);
  body.madeOf = JSON.stringify([row, job, labels, owner]);
  return body;
}

function targetTable(rows, { job = true } = {}) {
  const hasLabels = (row) => labelChips(row).flat().some(Boolean);
  const hasOwner = (row) => ownersOf(row).length > 0;
  const columns = { job, labels: rows.some(hasLabels), owner: rows.some(hasOwner) };
  return el("table", { class: "rows" }, th(["State", "Target", "Object",
    job && "Job", columns.labels && "Labels", columns.owner && "Owner"]),
  rows.map((row) => targetRow(row, columns)));
}

/** The results for all items, computed a few at a time. */
async function each(all, work) {
  const results = [];
  for (let i = 0; i < all.length; i += 4) {
    results.push(...await Promise.all(all.slice(i, i + 4).map(work)));
  }
  return results;
}

/** For copying: also works after the user has left the view. */
const wholeTarget = (row) =>
  ask("api/ui/target", { job: row.job, id: row.id }, new AbortController().signal);

/** Loads all labels of rows truncated by the server. */
const wholeRows = (rows) => each(rows, async (row) => {
  const isCut = row.cut || (row.labels_total ?? 0) > Object.keys(row.labels ?? {}).length;
  if (!isCut || row.state !== "active") return row;
  const labels = Object.entries((await wholeTarget(row)).labels);
  return { ...row, labels: Object.fromEntries(labels.filter(([name]) => !name.startsWith("__"))) };
});

/** In the form of /sd/{job}/targets: the scraped address, and the labels that differ from the job.
    */
function listed({ labels, discovered }) {
  const { __address__: address, ...rest } = labels;
  if (rest.instance === address) delete rest.instance;
  for (const name of ["__scrape_interval__", "__scrape_timeout__"]) {
    if (rest[name] === discovered[name]) delete rest[name];
  }
  return { address, labels: rest };
}

/** JSON is valid YAML; one line per label is easier to read. */
async function yamlOf(rows) {
  const active = rows.filter((row) => row.state === "active");
  if (active.length === 0) throw new Error("none of these targets is active");
  const groups = (await each(active, wholeTarget)).filter((answer) => answer.labels).map(listed);
  return groups.map(({ address, labels }) =>
    `- targets: [${JSON.stringify(address)}]\n  labels:\n` +
    Object.entries(labels).map(([name, value]) =>
      `    ${JSON.stringify(name)}: ${JSON.stringify(value)}\n`).join("")).join("");
}

// ---------------------------------------------------------------- view: targets

// On narrow screens the filters are collapsed until the user opens them.
const narrow = matchMedia("(max-width: 800px)");
narrow.addEventListener("change", () => {
  if (byId("filters")) byId("filters").open = !narrow.matches;
  if (byId("query")) byId("query").placeholder = searchExample();
});
const searchExample = () => (narrow.matches ? 'web-1, pod=~"web-.*" or /regex/'
  : 'web-1   namespace="shop", pod=~"web-.*"   /regex/');

const filters = ["state", "job", "namespace", "node", "reason"];
const chosenOf = (name) => state.getAll(name).flatMap((value) =>
  (name === "state" ? value.split(",") : [value]));
const withFilter = (name, values) => go({
  [name]: name === "state" ? values.join(",") : values, after: null, ...noDrawer });

/** A reason, with the rule and job that distinguish it from others. */
function reasonText(one, rows, ofJobs) {
  const seen = new Set(rows.filter((row) => row.reason === one.value).map((row) => row.job));
  const job = ofJobs.length === 1 ? ofJobs[0].value : seen.size === 1 ? [...seen][0] : "";
  const [, rule, rest] = /^(rule \d+): (.*)$/s.exec(one.value) ?? [null, "", one.value];
  return [rule || job ? el("b", {}, [rule, cut(job, 60)].filter(Boolean).join(" of ")) : null,
    cut(rest.replaceAll("__meta_kubernetes_", "…"), 160)];
}

function facet(name, title, answer) {
  const chosen = chosenOf(name);
  const all = [...(answer.facets?.[name] ?? [])];
  for (const value of chosen) {
    if (!all.some((one) => one.value === value)) all.push({ value, count: 0 });
  }
  if (all.length === 0) return null;
  return el("section", { class: name === "reason" ? "facet why" : "facet",
    "data-key": `facet ${name}` }, el("h3", {}, title),
    all.map((one) => el("button", { "data-key": `${name}=${one.value}`,
      "aria-pressed": chosen.includes(one.value) ? "true" : "false", title: cut(one.value, 300),
      click: () => withFilter(name, chosen.includes(one.value)
        ? chosen.filter((value) => value !== one.value) : [...chosen, one.value]) },
    el("span", {}, name === "reason" ? reasonText(one, answer.rows, answer.facets?.job ?? [])
      : cut(one.value, 100)),
    el("span", { class: "number" }, number(one.count)))));
}

function summary(answer, from) {
  const shown = answer.rows.length;
  const all = answer.total === 0 ? "No target" : plural(answer.total, "target");
  if (answer.building) return `${all} so far; ${plural(answer.building, "object")} still to read`;
  if (answer.total <= shown || shown === 0) return all;
  return from === undefined ? `${shown} of ${all}`
    : `${number(from + 1)}–${number(from + shown)} of ${all}`;
}

let typing = false;  // the user is typing: one entry in the history
let searches = 0;
/** Shortly after the last key. */
function search() {
  clearTimeout(searches);
  searches = setTimeout(() => {
    if (viewNow().name !== "targets" || !byId("query")) return;
    go({ q: byId("query").value, after: null, ...noDrawer }, { replace: typing });
    typing = true;
  }, 150);
}

function queryField() {
  const input = el("input", { id: "query", type: "search", spellcheck: "false", autocomplete: "off",
    "aria-label": "Search targets",
    placeholder: searchExample(),
    focus: () => { typing = false; },
    input: search });
  input.value = get("q");
  return el("div", { class: "bar field" }, input, el("kbd", { "aria-hidden": "true" }, "/"));
}

function noTarget() {
  const filtered = filters.some((name) => get(name)) || get("q");
  return el("p", { class: "card empty" }, filtered ? "No target is like that. "
    : "There are no targets yet. ",
    el("a", { href: "?view=find" }, "Find"), " shows why one is missing, ",
    el("a", { href: "?view=health" }, "Health"), " whether all is read.");
}

function pager(answer, from) {
  if (!get("after") && !answer.next) return null;
  return el("div", { class: "bar" },
    get("after") ? firstPage() : null,
    history.state?.paged ? el("button", { click: () => history.back() }, "Previous page") : null,
    answer.next ? el("button", { id: "next", click: () => {
      scrollTo(0, 0);
      go({ after: answer.next, ...noDrawer }, { entry: from === undefined ? { paged: true }
        : { paged: true, from: from + answer.rows.length } });
    } }, "Next page") : null);
}

let hasRows = false;
async function showTargets(signal) {
  const wanted = { q: get("q"), after: get("after"), limit: get("limit", "50"), facets: 1 };
  for (const name of filters) wanted[name] = name === "state" ? get(name) : state.getAll(name);
  const answer = await ask("api/ui/targets", wanted, signal);
  const from = get("after") ? history.state?.from : 0;
  const titles = { state: "State", job: "Job", namespace: "Namespace", node: "Node",
    reason: "Why not" };
  const { rows } = answer;
  const listOf = get("job") && state.getAll("job").length === 1
    ? el("a", { href: `sd/${encodeURIComponent(get("job"))}/targets` }, "List of the job") : null;
  const chosen = filters.reduce((sum, name) => sum + chosenOf(name).length, 0);
  draw(queryField(), el("div", { class: "columns" },
    el("aside", { "aria-label": "Filters" }, el("details", { id: "filters",
      open: byId("filters")?.open ?? !narrow.matches },
    el("summary", {}, "Filters", chosen ? `: ${number(chosen)} chosen` : ""),
    el("div", { class: "facets" }, filters.map((name) => facet(name, titles[name], answer)),
      chosen ? el("button", { click: () => go({ after: null, ...noDrawer,
        ...Object.fromEntries(filters.map((name) => [name, null])) }) }, "Clear filters")
        : null))),
    el("div", {},
      el("div", { class: "bar" },
        el("span", { id: "summary", "aria-live": "polite" }, summary(answer, from)),
        el("span", { class: "grow" }), listOf,
        copyButton("Copy JSON", async () => JSON.stringify(await wholeRows(rows), null, 1)),
        copyButton("Copy YAML", () => yamlOf(rows)),
        copyButton("Copy curl", () =>
          `curl -s ${quoted(here("api/ui/targets?" + query(wanted)))}`)),
      rows.length ? targetTable(rows) : noTarget(),
      pager(answer, from))));
  if (rows.length && !hasRows) performance.mark("first rows");
  hasRows = hasRows || rows.length > 0;
  return answer.building ? whileBuilding : usually;
}

views.push({ name: "targets", title: "Targets", again: true, show: showTargets });

// ---------------------------------------------------------------- one target

let drawerTask = new AbortController();
let drawerShows = "";

const drawerNow = () => document.querySelector(".drawer");
const openKey = () => `${get("job_of")} ${get("id")}`;

function markOpenRow() {
  for (const row of rowsHere()) row.classList.toggle("opened", row.dataset.key === openKey());
}

/** Opens, closes or keeps the drawer, according to the URL. */
async function showDrawer() {
  const names = [...drawerParameters, "shards"];
  const wanted = get("id") ? JSON.stringify(names.map((name) => get(name))) : "";
  if (wanted === drawerShows) return;
  const opened = drawerShows;
  drawerShows = wanted;
  drawerTask.abort();
  drawerTask = new AbortController();
  if (!wanted) return removeDrawer(JSON.parse(opened));
  try {
    const answer = await targetOfUrl(drawerTask.signal);
    putDrawer(answer ? describeTarget(answer) : describeGone());
  } catch (error) {
    if (error.name === "AbortError") return;
    putDrawer([el("h2", {}, "Target"), el("p", { class: "bad" }, cut(error.message, 400))]);
  }
}

/** The target; if it is gone, the current one at its object or address; otherwise null. */
async function targetOfUrl(signal) {
  const wanted = { job: get("job_of"), id: get("id"), shards: get("shards") };
  const answer = (wanted.shards ? await askIfKnown("api/ui/target", wanted, signal) : null) ??
    await askIfKnown("api/ui/target", { ...wanted, shards: "" }, signal);
  if (answer || !(get("object_of") || get("address_of"))) return answer;
  return askIfKnown("api/ui/target", { ...wanted, shards: "", object: get("object_of"),
    address: get("address_of") }, signal);
}

function closeDrawer() {
  if (history.state?.opened) history.back();
  else go(noDrawer, { replace: true, entry: history.state });
}

function removeDrawer([id, job]) {
  const hadFocus = drawerNow()?.contains(document.activeElement)
    || document.activeElement === document.body;
  drawerNow()?.remove();
  markOpenRow();
  if (!hadFocus) return;
  const row = rowOf(`${job} ${id}`);
  if (row) focusRow(row);
  else byId("main").focus({ preventScroll: true });
}

function putDrawer(content) {
  const had = drawerNow();
  const drawer = el("section", { class: "drawer", role: "dialog", "aria-modal": "false",
    "aria-label": "Target", tabindex: "-1" },
    el("button", { class: "close", click: closeDrawer }, "Close (Esc)"), content);
  const field = had?.contains(document.activeElement) ? document.activeElement.name : "";
  had?.remove();
  document.body.append(drawer);
  (field ? drawer.querySelector(`[name="${field}"]`) ?? drawer : drawer).focus();
  markOpenRow();
}

function describeGone() {
  const wanted = get("object_of") || get("address_of").replace(/:\d+$/, "");
  return [el("h2", {}, "This target is gone"),
    el("p", {}, "Job ", inline(get("job_of"), 80),
      " has no target of this number any more: its labels have changed, or it has."),
    wanted ? el("p", {}, el("a", { href: "?" + query({ view: "find", object: wanted }) }, "Find ",
      inline(wanted, 120), " in all jobs")) : null];
}

function labelTable(labels) {
  const names = Object.keys(labels ?? {});
  if (names.length === 0) return el("p", { class: "soft" }, "None.");
  return [el("table", { class: "labels" }, el("tbody", {}, names.slice(0, 200).map((name) =>
    el("tr", {}, el("th", { scope: "row", class: "mono" }, whole(name, 200)),
      el("td", { class: "mono" }, whole(labels[name], 400)))))),
  names.length > 200 ? el("p", { class: "soft" },
    `and ${plural(names.length - 200, "other label")}`) : null];
}

function diffList(step) {
  const lines = [
    ...Object.entries(step.added ?? {}).map(([name, value]) => ["plus", `${name} = ${value}`]),
    ...Object.entries(step.changed ?? {}).map(([name, [before, after]]) =>
      ["tilde", `${name} = ${before} → ${after}`]),
    ...Object.entries(step.removed ?? {}).map(([name, value]) => ["minus", `${name} = ${value}`])];
  if (lines.length === 0) return null;
  const words = { plus: "added: ", tilde: "changed: ", minus: "removed: " };
  return el("ul", { class: "diff mono" }, lines.slice(0, 100).map(([kind, text]) =>
    el("li", { class: kind }, el("span", { class: "hidden-text" }, words[kind]), whole(text, 400))),
  lines.length > 100 ? el("li", {}, `and ${lines.length - 100} more`) : null);
}

function stepList({ steps, after, steps_left_out: leftOut }) {
  const hidden = Math.max((steps ?? []).length - 100, 0) + (leftOut ?? 0);
  return el("div", {}, (steps ?? []).slice(0, 100).map((step, i) => {
    const changes = diffList(step);
    const ends = !step.keep || step.refused;
    return el("div", { class: "step" + (ends ? " drops" : changes ? " changes" : "") },
      el("strong", {}, `Rule ${i}: ${cut(step.action, 40)}`),
      ends ? el("span", { class: "bad" },
        step.refused ? " – passes a limit" : " – drops the target")
        : changes ? null : el("span", { class: "soft" }, " – changes nothing"),
      step.reason ? el("div", {}, cut(step.reason, 300)) : null,
      el("pre", {}, whole(step.rule, 1000)), changes);
  }), hidden ? el("p", { class: "soft" }, `and ${plural(hidden, "more rule")}`) : null,
  (after ?? []).map((text) => el("p", { class: "soft" }, cut(text, 400))));
}

/** The owners of the target, if the server reports them: of this many shards, and of the
    collectors. */
function ownersOf({ owners, collectors }) {
  return given([
    owners && el("span", { class: "owner" },
      owners === "all" ? "on all shards" : `shard ${owners.join(", ")}`),
    collectors && (collectors.length ? el("span", { class: "owner" },
      `collector ${collectors.map((one) => cut(one, 80)).join(", ")}`)
      : el("span", { class: "owner bad" }, "▲ no collector"))]);
}

const ownersBar = (row) => el("div", { class: "bar" },
  shardsField(get("shards"), "Owner, of", "shards", " shards"),
  ownersOf(row), get("shards") && !row.owners
    ? el("span", { class: "soft" }, "This server does not report the owners.") : null);

function describeTarget(answer) {
  const { row } = answer;
  const other = row.id !== get("id");
  return [
    el("h2", { class: "mono foreign" }, cut(scrapedAt(row), 300)),
    other ? el("p", { class: "card" },
      "The target of then is gone. This is what its object has now.") : null,
    el("p", {}, stateOf(row.state), " in job ", inline(row.job, 120),
      row.object ? [": ", inline(row.object, 300)] : null),
    row.reason ? el("p", { class: "foreign" }, cut(row.reason, 600)) : null,
    answer.url ? el("p", {}, webLink(answer.url)) : null,
    el("div", { class: "bar" },
      el("a", { href: "?" + query({ view: "lab", job: row.job, id_of: row.id }) },
        "Try other rules"),
      el("a", { href: "?" + query({ view: "find",
        object: row.object || row.address.replace(/:\d+$/, "") }) }, "In all jobs"),
      el("span", { class: "grow" }),
      copyButton("Copy JSON", () => JSON.stringify(answer, null, 1)),
      copyButton("Copy link", () => here(toTarget(row)))),
    row.state === "active" ? ownersBar(row) : null,
    el("h3", {}, "Labels after relabelling"),
    answer.labels ? labelTable(answer.labels)
      : el("p", { class: "soft" }, "None: it is not scraped."),
    el("h3", {}, "What the rules do"),
    (answer.steps ?? []).length || (answer.after ?? []).length
      ? stepList(answer)
      : el("p", { class: "soft" }, "The job has no rules."),
    el("h3", {}, "Labels before relabelling"), labelTable(answer.discovered)];
}

// ---------------------------------------------------------------- view: find

function findForm() {
  const input = el("input", { id: "query", type: "search", "aria-label": "Object",
    spellcheck: "false", autocomplete: "off",
    placeholder: "pod/shop/web-1, service/shop/web, node/node-1, 10.1.2.3, or a name" });
  input.value = get("object");
  return el("form", { class: "bar", submit: (event) => {
    event.preventDefault();
    go({ object: byId("query").value.trim(), ...noDrawer });
  } }, el("div", { class: "field" }, input, el("kbd", { "aria-hidden": "true" }, "/")),
  el("button", { class: "primary" }, "Why?"), get("object") ? shardsField(get("shards")) : null);
}

/** The rows of the jobs that fit into the limit. */
function hitCards(hits) {
  let room = maxFound;
  return hits.slice(0, maxFoundJobs).map((job) => {
    const rows = [...job.in, ...job.not].slice(0, room);
    room -= rows.length;
    const more = job.in_total + job.not_total - rows.length;
    return el("section", { class: "card", "data-key": `job ${job.job}` },
      el("h3", { class: "foreign" }, cut(job.text, 400),
        job.complete === false ? " (the job is not complete yet)" : ""),
      rows.length ? targetTable(rows, { job: false }) : null,
      more > 0 ? el("p", { class: "soft" }, `and ${number(more)} more: ` +
        `${number(job.in_total)} scraped, ${number(job.not_total)} not`) : null);
  });
}

function missList(misses) {
  return el("section", { class: "card" }, el("h3", {}, `Not in ${plural(misses.length, "job")}`),
    el("ul", { class: "lines" }, misses.slice(0, maxMisses).map((job) =>
      el("li", { class: "foreign" }, cut(job.text, 400),
        job.complete === false ? " (not complete yet)" : ""))),
    misses.length > maxMisses ? el("p", { class: "soft" },
      `and ${number(misses.length - maxMisses)} more`) : null);
}

async function showFind(signal) {
  const wanted = get("object");
  if (!wanted) {
    draw(findForm(), el("p", { class: "card empty" },
      "Name a pod, a service, a node or an address; api-* stands for all names that begin so. ",
      "This view shows the jobs that contain it, the other jobs, and the reasons."));
    return;
  }
  const asked = { q: wanted, shards: get("shards") };
  const answer = (asked.shards ? await askIfKnown("api/ui/object", asked, signal) : null) ??
    await ask("api/ui/object", { q: wanted }, signal);
  const isHit = (job) => job.in_total + job.not_total > 0;
  const hits = answer.jobs.filter(isHit);
  const misses = answer.jobs.filter((job) => !isHit(job));
  draw(findForm(),
    answer.complete === false ? el("p", { class: "bad" },
      "Not all jobs are complete: there may be more.") : null,
    answer.text ? el("p", { class: "foreign" }, cut(answer.text, 400)) : null,
    answer.found
      ? el("p", {}, "Found: ", answer.objects.slice(0, 10).map((name, i) =>
        [i ? ", " : "", inline(name, 120)]))
      : el("p", { class: "card empty" }, "No such object is known. Does a job discover its ",
        "namespace, with the permission? ", el("a", { href: "?view=health" }, "Health"),
        " shows that."),
    hitCards(hits),
    hits.length > maxFoundJobs ? el("p", { class: "soft" },
      `and ${plural(hits.length - maxFoundJobs, "other job")} with hits`) : null,
    misses.length ? missList(misses) : null);
}

views.push({ name: "find", title: "Find", show: showFind });

// ---------------------------------------------------------------- view: laboratory

/** The draft for a job, until the browser tab is closed. */
const drafts = {
  get(job) {
    try { return JSON.parse(sessionStorage.getItem(`k8s-sd-rules ${job}`)); } catch { return null; }
  },
  set(job, draft) {
    try {
      sessionStorage.setItem(`k8s-sd-rules ${job}`, JSON.stringify(draft));
    } catch { /* storage is unavailable */ }
  },
  forget(job) {
    try { sessionStorage.removeItem(`k8s-sd-rules ${job}`); } catch { /* storage is unavailable */ }
  },
};

/** The initial texts: the draft; labels of the target from which the user came. */
async function labTexts(job, signal) {
  const id = get("id_of");
  const draft = drafts.get(job);
  if (draft && (!id || draft.id === id)) return draft;
  const rules = draft?.rules ??
    (await post("api/ui/relabel", { job, effect: false }, signal)).rules ?? "";
  const target = id ? await askIfKnown("api/ui/target", { job, id }, signal) : null;
  return { id, rules, labels: target ? JSON.stringify(target.discovered, null, 1) : "" };
}

async function runRules(job) {
  const result = byId("result");
  const body = { job, rules: byId("rules").value, effect: byId("with-effect").checked };
  try {
    if (byId("labels").value.trim()) body.labels = JSON.parse(byId("labels").value);
    result.setAttribute("aria-busy", "true");
    const answer = await post("api/ui/relabel", body, labTask.signal);
    result.replaceChildren(...given(describeResult(answer)));
  } catch (error) {
    if (error.name === "AbortError") return;
    result.replaceChildren(el("p", { class: "card bad" }, error instanceof SyntaxError
      ? `The labels are no JSON object: ${error.message}` : cut(error.message, 600)));
  }
  result.setAttribute("aria-busy", "false");
  if (result.getBoundingClientRect().top > innerHeight - 80) result.scrollIntoView();
}

function describeResult(answer) {
  return [
    answer.state ? el("p", { class: "card" }, stateOf(answer.state), " ",
      answer.state === "active" ? webLink(answer.url) : inline(answer.reason, 400)) : null,
    answer.effect ? effectCard(answer.effect) : null,
    answer.steps?.length || answer.after?.length ? el("section", { class: "card" },
      el("h3", {}, "Step by step"), stepList(answer)) : null,
    answer.labels ? el("section", { class: "card" }, el("h3", {}, "Labels after relabelling"),
      labelTable(answer.labels)) : null,
    !answer.state && !answer.effect ? el("p", { class: "card empty" },
      "Write labels, or ask for the effect on the job.") : null];
}

function effectCard(effect) {
  const count = (sign, value, look) => el("strong", { class: value ? look : "soft" },
    `${sign}${number(value)}`);
  return el("section", { class: "card", id: "effect" }, el("h3", {}, "On the whole job"),
    el("p", {}, `${plural(effect.active_before, "active target")} before, `,
      `${number(effect.active_after)} after: `,
      count("+", effect.gained, "good"), ", ", count("−", effect.lost, "bad"),
        `, ${number(effect.changed)} with other labels.`,
      effect.complete === false ? " It took too long: this is of a part." : ""),
    ["gained", "lost", "changed"].filter((kind) => effect.examples?.[kind]?.length).map((kind) => [
      el("h4", {}, `${kind}, for example`),
      el("ul", { class: "lines" }, effect.examples[kind].slice(0, 5).map(effectExample))]));
}

function effectExample(row) {
  return el("li", {}, targetLink({ job_of: row.job, id: row.id }, cut(scrapedAt(row), 120)), " ",
    inline(row.object ?? "", 120),
    row.before !== row.after ? [" ", stateOf(row.before), " → ", stateOf(row.after)] : null,
    row.labels_diff ? diffList(row.labels_diff) : null);
}

let labTask = new AbortController();

async function showLab(signal) {
  const job = get("job") || jobs[0]?.name || "";
  if (!job) return void draw(el("p", { class: "card empty" },
    "There are no jobs, so there are no rules to try."));
  labTask.abort();
  labTask = new AbortController();
  const texts = await labTexts(job, signal);
  const run = () => runRules(job);
  const keep = () => drafts.set(job, { id: texts.id, rules: byId("rules").value,
    labels: byId("labels").value });
  const area = (id, title) => {
    const field = el("textarea", { id, spellcheck: "false", "aria-label": title, input: keep,
      keydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
      } });
    field.value = texts[id];
    return field;
  };
  draw(el("div", { class: "bar" },
    el("label", {}, "Job ", jobSelect(job, (name) => go({ job: name, id_of: null }), null)),
    el("label", {}, el("input", { type: "checkbox", id: "with-effect", checked: true }),
      " effect on the whole job")),
  el("div", { class: "lab" },
    el("section", {}, el("h3", {}, "Rules"), area("rules", "Rules"),
      el("h3", {}, "Labels before the rules"), area("labels", "Labels"),
      el("div", { class: "bar" }, el("button", { class: "primary", id: "run", click: run }, "Run"),
        el("kbd", { class: "soft" }, "Ctrl Enter"), el("span", { class: "grow" }),
        el("button", { id: "reset", click: () => { drafts.forget(job); show(); } }, "Reset"),
        copyButton("Copy rules", () => byId("rules").value)),
      el("p", { class: "soft small" },
        "Rules are relabel_configs as YAML, labels a JSON object or nothing. ",
        "Trying changes nothing. Your text stays in this tab; Reset takes the rules of the job.")),
    el("div", { id: "result", "aria-live": "polite" },
      el("p", { class: "card empty" },
        "Run the rules to see what they do, step by step and to the whole job."))));
  if (get("id_of") && texts.labels) run();
}

views.push({ name: "lab", title: "Laboratory", jobs: true, show: showLab });

// ---------------------------------------------------------------- live

/** The stream of changes. Reconnects with growing pauses until it succeeds. */
const live = { source: null, timer: 0, failed: 0, words: "" };

function follow(on) {
  live.source?.close();
  clearTimeout(live.timer);
  live.source = null;
  live.failed = 0;
  if (!on && held) pause();
  byId("live").setAttribute("aria-pressed", on ? "true" : "false");
  if (on) connect();
  else showLive("Live: off", "");
}

/** On its button, and in the view of changes. */
function showLive(title, words) {
  byId("live").textContent = title;
  live.words = words;
  if (byId("live-words")) byId("live-words").textContent = wordsOfFeed();
}

function connect() {
  showLive(live.failed ? "Live: reconnecting" : "Live: connecting",
    "Connecting to the stream of changes.");
  const source = new EventSource("api/ui/live");
  live.source = source;
  source.onopen = () => {
    live.failed = 0;
    showLive("Live: on", "New changes come in at the top.");
    // The history contains the missed changes; after a restart of the server it starts again.
    recent = [];
    if (viewNow().name === "changes") show();
  };
  source.onerror = () => {
    source.close();
    const wait = Math.min(maxWait, 2 ** live.failed++);
    showLive("Live: reconnecting",
      `The stream of changes was interrupted. Next attempt in ${wait} s.`);
    live.timer = setTimeout(connect, wait * 1000);
  };
  source.addEventListener("change", (event) => takeChange(JSON.parse(event.data)));
  source.addEventListener("status", () => { if (viewNow().name === "targets") refresh(); });
}

// ---------------------------------------------------------------- view: changes

const kinds = { added: ["+", "good"], removed: ["−", "bad"], changed: ["~", "same"] };
let feed = { changes: [], next: null };  // as loaded from the history
let recent = [];                         // later changes, newest first
let held = null;                         // changes received while the list was paused

function takeChange(change) {
  if (held) held = [change, ...held].slice(0, maxChanges);
  else recent = [change, ...recent].slice(0, maxChanges);
  if (viewNow().name === "changes" && byId("main").dataset.view === "changes") drawChangesSoon();
}

let drawsSoon = false;
function drawChangesSoon() {
  if (drawsSoon) return;
  drawsSoon = true;
  setTimeout(() => {
    drawsSoon = false;
    if (viewNow().name === "changes") drawChanges();
  }, 100);
}

function wordsOfFeed() {
  if (held) return `Paused: ${plural(held.length, "new change")} wait.`;
  return live.words || "A look at the past; Live follows what happens.";
}

function changeRow(change) {
  const [sign, look] = kinds[change.kind] ?? ["?", "soft"];
  const target = { job_of: change.job, id: change.id, object_of: change.object,
    address_of: change.address };
  const at = change.time ?? change.at;
  return Object.assign(el("tr", { "data-key": `change ${change.seq}`, "data-seq": change.seq },
    el("td", { class: "mono soft nowrap", title: iso(at) }, dateAndClock(at)),
    el("td", { class: `${look} nowrap` }, `${sign} ${cut(change.kind, 20)}`),
    el("td", {}, change.id ? targetLink(target, cut(change.address || "target", 80))
      : cut(change.address, 80)),
    el("td", {}, cut(change.object, 120)), el("td", {}, cut(change.job, 80)),
    el("td", {}, cut([change.what, change.reason].filter(Boolean).join(": "), 300))),
      { madeOf: JSON.stringify(change) });
}

function drawChanges() {
  const job = get("job");
  const known = new Set(feed.changes.map((change) => String(change.seq)));
  const fresh = get("before") ? [] : recent.filter((change) =>
    !known.has(String(change.seq)) && (!job || change.job === job));
  const all = [...fresh, ...feed.changes];
  const shown = all.slice(0, maxChanges);
  const next = all.length > shown.length ? shown.at(-1).seq : feed.next;
  draw(el("div", { class: "bar" }, jobSelect(job, (name) => go({ job: name, before: null })),
    get("live") ? el("button", { id: "pause", "aria-pressed": held ? "true" : "false",
      click: pause }, held ? "Resume" : "Pause") : null,
    el("span", { id: "live-words", "aria-live": "polite" }, wordsOfFeed()),
    feed.lost ? el("span", { class: "soft" }, `${plural(feed.lost, "older change")} forgotten.`)
      : null),
  shown.length ? el("div", { class: "scroll" }, el("table", {},
    th(["Time", "Change", "Target", "Object", "Job", "What"]),
    el("tbody", { id: "changes" }, shown.map(changeRow))))
    : el("p", { class: "card empty" }, "Nothing has changed yet."),
  el("div", { class: "bar" },
    get("before") ? el("button", { click: () => go({ before: null, ...noDrawer }) }, "Newest")
      : null,
    next ? el("button", { id: "next", click: () => {
      scrollTo(0, 0);
      go({ before: next, ...noDrawer });
    } }, "Older") : null));
}

function pause() {
  if (held) recent = [...held, ...recent].slice(0, maxChanges);
  held = held ? null : [];
  if (viewNow().name === "changes") drawChanges();
}

async function showChanges(signal) {
  try {
    feed = await ask("api/ui/history", { job: get("job"), before: get("before"),
      limit: maxChanges }, signal);
  } catch (error) {
    // The history position belongs to a process that has ended.
    if (error.status !== 410) throw error;
    return go({ before: null }, { replace: true });
  }
  drawChanges();
}

views.push({ name: "changes", title: "Changes", jobs: true, show: showChanges });

// ---------------------------------------------------------------- view: shards

function collectorTable(answer) {
  if (!answer || answer.enabled === false) return null;
  return el("section", { class: "card", id: "collectors" }, el("h3", {}, "Collectors"),
    answer.unassigned ? el("p", {}, el("a", { class: "bad", href: "?state=unowned" },
      el("strong", {}, `▲ no collector: ${plural(answer.unassigned, "target")}`))) : null,
    answer.trouble ? el("p", { class: "bad foreign" }, cut(answer.trouble, 400)) : null,
    answer.collectors.length === 0 ? el("p", { class: "soft" }, "None is known yet.")
      : el("table", {}, th(["Name", "#Targets", "Ready"]),
        el("tbody", {}, answer.collectors.slice(0, 50).map((one) =>
        el("tr", {}, el("td", {}, cut(one.name, 100)),
          el("td", { class: "number" }, number(one.targets)),
          el("td", { class: one.ready === false ? "bad" : null },
            one.ready === false ? "no" : "yes"))))),
    answer.collectors.length > 50 ? el("p", { class: "soft" },
      `and ${number(answer.collectors.length - 50)} more`) : null);
}

function shardRow(job, shards, replicas, max, before, after) {
  const name = (before ?? after).member;
  const meter = before?.targets ? el("div", { class: "meter" }) : null;
  if (meter) meter.style.width = `${(100 * before.targets) / max}%`;
  const path = `sd/${encodeURIComponent(job)}/targets?` +
    query({ shard: name, shards, replicas: replicas === "1" ? "" : replicas });
  return el("tr", { "data-key": `shard ${name}` }, el("td", {}, cut(name, 60)),
    el("td", { class: "number" }, before ? number(before.targets) : "–"),
    el("td", { class: "wide" }, meter),
    el("td", { class: "number" }, after ? number(after.targets) : "–"),
    el("td", {}, before ? el("a", { href: path, "aria-label": `List of shard ${cut(name, 60)}` },
      "list") : null));
}

function shardTable(job, replicas, answer) {
  const before = answer.members;
  const after = answer.dry_run?.members ?? [];
  const max = Math.max(1, ...before.map((member) => member.targets));
  const count = Math.max(before.length, after.length);
  const from = Math.min(Number(get("from", "0")) || 0, count - 1);
  const numbers = Array.from({ length: Math.min(maxShards, count - from) }, (_, i) => from + i);
  return [el("table", {}, th(["Shard", "#Targets", " ",
    answer.dry_run ? `#With ${number(answer.dry_run.to)}` : "#–", "List"]),
    el("tbody", {}, numbers.map((i) => shardRow(job, String(answer.shards), replicas, max,
      before[i], after[i])))),
  count > maxShards ? el("div", { class: "bar" },
    el("span", {}, `${from}–${from + numbers.length - 1} of ${plural(count, "shard")}`),
    from > 0 ? el("button", { click: () => go({ from: String(Math.max(0, from - maxShards)) }) },
      "Previous page") : null,
    from + maxShards < count ? el("button",
      { id: "next", click: () => go({ from: String(from + maxShards) }) }, "Next page") : null)
      : null];
}

function ownerForm(shards) {
  return el("form", { class: "bar", submit: (event) => {
    event.preventDefault();
    const object = event.target.elements.object.value.trim();
    if (object) go({ view: "find", object, shards }, { other: true });
  } }, el("label", {}, "Owner of ", el("input",
    { name: "object", type: "search", placeholder: "a pod, a node or an address" })),
  el("button", {}, "Find"));
}

async function showShards(signal) {
  const job = get("job") || jobs[0]?.name || "";
  if (!job) return void draw(el("p", { class: "card empty" },
    "There are no jobs, so there is nothing to share."));
  const shards = get("shards", "3");
  const replicas = get("replicas", "1");
  const to = get("to", String(Number(shards) + 1));
  const answer = await ask("api/ui/shards", { job, shards, replicas, to }, signal);
  if (hasCollectors) {
    collectors = await askIfKnown("api/ui/collectors", {}, signal);
    hasCollectors = collectors !== null;
  }
  const unassigned = answer.unassigned ?? [];
  const moved = answer.dry_run ? (100 * answer.dry_run.moved) / Math.max(1, answer.total) : 0;
  draw(el("div", { class: "bar" }, jobSelect(job, (name) => go({ job: name, from: null }), null),
    shardsField(shards), shardsField(replicas, "Replicas", "replicas"),
      shardsField(to, "Dry run with", "to"),
    el("span", { class: "grow" }), ownerForm(shards)),
  unassigned.length ? el("section", { class: "card" },
    el("h3", { class: "bad" }, "▲ Without an owner"),
    targetTable(unassigned.slice(0, 20))) : null,
  el("p", {}, `${plural(answer.total, "target")} on ${plural(answer.shards, "shard")}`,
    answer.on_all ? `, ${number(answer.on_all)} of them on every shard` : "",
    answer.dry_run ? ["; ", el("strong", { id: "dry-run" },
      `with ${plural(answer.dry_run.to, "shard")} ` +
      `${plural(answer.dry_run.moved, "target")} would move (${moved.toFixed(1)} %)`)] : null, "."),
  collectorTable(collectors),
  answer.total === 0 ? el("p", { class: "card empty" }, "The job has no active targets to share.")
    : shardTable(job, replicas, answer));
}
let hasCollectors = true, collectors = null;

views.push({ name: "shards", title: "Shards", jobs: true, again: true, show: showShards });

// ---------------------------------------------------------------- view: consumers

/** Sorts problems first. */
const badness = (one) => (one.late ? 4 : 0) + (isFailing(one) ? 2 : 0) + (isBehind(one) ? 1 : 0);
const isFailing = (one) => one.status >= 400;
/** A null version is unknown. */
const isBehind = (one) => one.current === false && one.version !== null
  && one.current_version !== null;

function consumerRow(one) {
  const share = one.member ? `member ${one.member}` : one.shard ? `shard ${one.shard}` : "";
  const part = one.selection || [share, one.node && `node ${one.node}`].filter(Boolean).join(", ");
  const versions = one.version
    ? `has ${one.version}, the newest is ${one.current_version ?? "not known"}` : null;
  const who = [one.address, one.agent, one.job, one.list, one.selection, one.kind].join(" ");
  return el("tr", { "data-key": `consumer ${who}` },
    el("td", {}, cut(one.address, 60), el("div", { class: "soft small" }, cut(one.agent, 80))),
    el("td", {}, cut(one.job, 80), el("div", { class: "soft small" },
      cut([one.list, part].filter(Boolean).join(" · "), 160))),
    el("td", {}, cut(one.kind ?? "poll", 20)),
    el("td", { class: "number" }, one.interval ? `${number(one.interval)} s` : "–"),
    el("td", { class: one.late ? "bad nowrap" : "nowrap", title: iso(one.last_poll) },
      ago(one.last_poll), one.late ? " · late" : ""),
    el("td", { class: "number" }, number(one.polls)),
    el("td", { class: "number" }, number(one.bytes)),
    el("td", { class: isFailing(one) ? "bad nowrap" : "nowrap" }, one.status,
      one.errors ? `, ${plural(one.errors, "error")}` : ""),
    el("td", { title: versions, class: one.current ? "good" : isBehind(one) ? "same" : null },
      one.current ? "the newest" : isBehind(one) ? "an older list" : "–",
      versions && isBehind(one) ? el("div", { class: "mono small foreign" }, cut(one.version, 12),
        " → ", cut(one.current_version, 12)) : null));
}

async function showConsumers(signal) {
  const onlyLate = Boolean(get("late"));
  const answer = await ask("api/ui/consumers",
    { limit: maxConsumers, after: get("after"), late: onlyLate ? "1" : "" }, signal);
  const all = answer.consumers;
  const wanted = all.filter((one) => !onlyLate || one.late).sort((a, b) => badness(b) - badness(a));
  const shown = wanted.slice(0, maxConsumers);
  const count = (given, is) => given ?? all.filter(is).length;
  const late = count(answer.late, (one) => one.late);
  const behind = count(answer.outdated, isBehind);
  const failing = all.filter(isFailing).length;
  draw(el("div", { class: "bar" },
    el("span", { id: "summary", "aria-live": "polite" },
      plural(answer.total ?? all.length, "reader"), ": ",
      el("span", { class: late ? "bad" : null }, `${number(late)} late`), ", ",
      answer.next || get("after") ? null : [el("span", { class: failing ? "bad" : null },
        `${number(failing)} failing`), ", "],
      el("span", { class: behind ? "same" : null }, `${number(behind)} with an older list`)),
    el("button", { "aria-pressed": onlyLate ? "true" : "false", id: "late",
      click: () => go({ late: onlyLate ? null : "1", after: null }) }, "Only late")),
  el("p", { class: "soft" },
    "The readers of each list. A late one has missed 2.5 of its intervals."),
  shown.length === 0
    ? el("p", { class: "card empty" }, onlyLate ? "No reader is late."
      : ["No list has been read yet. ",
      el("a", { href: "?view=snippets" }, "Snippets"), " for agents."])
    : el("div", { class: "scroll" }, el("table", {},
      th(["Reader", "List", "Kind", "#Every", "Last poll", "#Polls", "#Bytes", "Answer", "Has"]),
      el("tbody", {}, shown.map(consumerRow)))),
  wanted.length > shown.length ? el("p", { class: "soft" },
    `and ${number(wanted.length - shown.length)} more; those that need a look are here`) : null,
  answer.next ? el("div", { class: "bar" }, el("button", { id: "next", click: () => {
    scrollTo(0, 0);
    go({ after: answer.next });
  } }, "Next page")) : null,
  answer.dropped ? el("p", { class: "soft" }, `${number(answer.dropped)} more have been forgotten.`)
    : null);
}

views.push({ name: "consumers", title: "Consumers", again: true, show: showConsumers });

// ---------------------------------------------------------------- view: health

const healthNames = { synced: "● complete", waiting: "○ waits", failing: "✕ fails",
  stale: "◐ stale", unusable: "✕ unusable" };
const healthOf = (name) => el("span", { class: `state ${name}` },
  healthNames[name] ?? cut(name, 20));

/** The duration, the number of failures, and the remedy. */
function troubleCard(one) {
  const facts = [one.since && `for ${span(now() - one.since)}`,
    one.failures && plural(one.failures, "failure"),
    one.stale_since && `the targets are of ${ago(one.stale_since)}`].filter(Boolean).join(", ");
  return [el("pre", { class: "bad" }, cut(one.message, 1000)),
    facts ? el("p", { class: "small", title: iso(one.stale_since ?? one.since) }, facts) : null,
    one.remedy ? el("p", {}, el("strong", {}, "What to do: "), inline(one.remedy, 600)) : null];
}

function watchRow(watch, config) {
  return el("tr", {}, el("td", {}, cut(watch.kind, 60),
    watch.namespace ? ` in ${cut(watch.namespace, 80)}` : ""),
    el("td", {}, healthOf(watch.state), watch.message && watch.message !== config.message
      ? troubleCard(watch) : null,
      watch.http_version === 2 ? el("span", { class: "soft" }, " by HTTP/2") : null),
    el("td", { class: "number" }, number(watch.objects)),
    el("td", { class: "nowrap", title: iso(watch.last_event) }, ago(watch.last_event)),
    el("td", { class: "nowrap", title: iso(watch.last_list) }, ago(watch.last_list)),
    el("td", { class: "number" }, number(watch.relists)),
    el("td", { class: "number" + (watch.failures ? " bad" : "") }, number(watch.failures)),
    el("td", { class: "nowrap", title: iso(watch.waiting_since) }, cut(watch.waiting, 40),
      watch.waiting_since ? el("span", { class: "soft" }, ` ${span(now() - watch.waiting_since)}`)
        : null));
}

/** Problems of the configuration and of written files. */
function notesCard(notes) {
  if (!notes?.length) return null;
  return el("section", { class: "card", "data-key": "notes" },
    el("h3", {}, "Configuration, certificates and files"),
    el("ul", { class: "lines" }, notes.slice(0, maxLines).map((note) =>
      el("li", { class: "bad foreign" }, "▲ ", cut(note, 1000)))),
    notes.length > maxLines ? el("p", { class: "soft" },
      `and ${number(notes.length - maxLines)} more`) : null);
}

function healthCard(job) {
  return el("section", { class: "card", "data-key": `job ${job.job}` },
    el("h3", {}, cut(job.job, 120), " ", healthOf(job.synced ? "synced" : "waiting")),
    (job.missing_clusters ?? []).length ? el("p", { class: "bad" }, "Listed without ",
      job.missing_clusters.slice(0, maxLines).map((name) => [inline(name, 80), " "])) : null,
    job.configs.slice(0, maxWatches).map((config) => [
      el("p", {}, config.state === "synced" ? null : [healthOf(config.state), " "],
        inline(config.role ?? "", 60),
        config.cluster ? [" of ", inline(config.cluster, 80)] : null,
        config.server ? [" at ", inline(config.server, 120)] : null,
        config.unconfirmed ? el("strong", { class: "bad" }, " with targets from before a restart")
          : null),
      config.message ? troubleCard(config) : null,
      (config.watches ?? []).length ? el("div", { class: "scroll" }, el("table", {},
        th(["Watch", "State", "#Objects", "Last event", "Listed", "#Listed again", "#Failures",
          "Waits for"]),
        el("tbody", {}, config.watches.slice(0, maxWatches).map((watch) =>
          watchRow(watch, config))))) : null]));
}

/** The API servers, if there are several: health, and what they are used for. */
function serversCard(servers) {
  if ((servers ?? []).length < 2) return null;
  return el("section", { class: "card", "data-key": "servers" },
    el("h3", {}, "Clusters"),
    el("div", { class: "scroll" }, el("table", {},
      th(["Cluster", "State", "#Targets", "#Objects", "#Watches", "#Connections", "#Requests",
        "#Failures"]),
      el("tbody", {}, servers.slice(0, maxWatches).map((server) => el("tr", {},
        el("td", {}, server.cluster ? cut(server.cluster, 80) : null,
          server.server ? el("div", { class: "soft foreign" }, cut(server.server, 120)) : null),
        el("td", {}, healthOf(server.state), server.message ? troubleCard(server) : null),
        [server.targets, server.objects, server.watches, server.connections, server.requests]
          .map((count) => el("td", { class: "number" }, number(count))),
        el("td", { class: "number" + (server.failures ? " bad" : "") },
          number(server.failures))))))),
    servers.length > maxWatches ? el("p", { class: "soft" },
      `and ${number(servers.length - maxWatches)} more`) : null);
}

/** Jobs with trouble first, with all details up to the limit; then one line each. */
async function showHealth(signal) {
  const answer = await ask("api/ui/health", {}, signal);
  const wanted = answer.jobs.filter((job) => !get("job") || job.job === get("job"))
    .sort((a, b) => Boolean(troubleOf(b)) - Boolean(troubleOf(a)));
  let room = maxWatches;
  const detailed = wanted.filter((job) => {
    const watches = job.configs.reduce((sum, config) => sum + 1 + (config.watches ?? []).length, 0);
    const fits = room === maxWatches || watches <= room;
    room -= fits ? watches : 0;
    return fits;
  });
  const lines = wanted.filter((job) => !detailed.includes(job));
  draw(el("div", { class: "bar" }, jobSelect(get("job"), (job) => go({ job }))),
    notesCard(answer.notes),
    get("job") ? null : serversCard(answer.servers),
    detailed.map(healthCard),
    lines.length ? el("section", { class: "card" },
      el("h3", {}, `${plural(lines.length, "other job")}`),
      el("ul", { class: "lines" }, lines.slice(0, maxLines).map((job) => el("li", {},
        healthOf(job.synced ? "synced" : "waiting"), " ",
        el("a", { class: "foreign", href: "?" + query({ view: "health", job: job.job }) },
          cut(job.job, 100))))),
      lines.length > maxLines ? el("p", { class: "soft" },
        `and ${number(lines.length - maxLines)} more`) : null) : null,
    wanted.length === 0 ? el("p", { class: "card empty" }, "There are no jobs.") : null);
}

views.push({ name: "health", title: "Health", jobs: true, again: true, show: showHealth });

// ---------------------------------------------------------------- view: snippets

/** The file name of a job, as k8s-sd makes it. */
const fileName = (job) => encodeURIComponent(job).replace(/^\.|[!'()*~]/g,
  (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());

// docs/programs/k8s-sd/consumers.md has the same, with TLS and tokens. An agent: its name, its
// parameter for its part of the targets, and its configuration.
const agents = {
  prometheus: ["Prometheus", "shard=0", (url, job, rules, shards) => `${
    shards > 1 ? `# shard: the number of this server, 0 to ${shards - 1}\n` : ""}scrape_configs:
- job_name: ${job}
  http_sd_configs:
  - url: ${url}
    refresh_interval: 15s
${rules}`],
  sidecar: ["Prometheus, with a sidecar", "member=$(POD_NAME)", (url, job, rules) => `# Beside it:
#   args: [follow, ${url}, --write-dir, /targets]
scrape_configs:
- job_name: ${job}
  file_sd_configs:
  - files: [${JSON.stringify(`/targets/${fileName(JSON.parse(job))}.json`)}]
${rules}`],
  operator: ["Prometheus operator", "shard=$(SHARD)", (url, job, rules, shards) => `\
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata:
  name: k8s-sd
spec:
  httpSDConfigs:
  - url: ${url}
    refreshInterval: 15s
${shards > 1 || rules ? "  relabelings:\n" : ""}${
    rules ? "  # the job's rules, unchanged\n" : ""}${
    shards > 1 ? '  - {targetLabel: __tmp_disable_sharding, replacement: "true"}\n' : ""}`],
  vmagent: ["vmagent", "member=%{POD_NAME}", (url, job, rules) => `\
# vmagent -promscrape.httpSDCheckInterval=15s
scrape_configs:
- job_name: ${job}
  http_sd_configs:
  - url: ${url}
${rules}`],
  alloy: ["Grafana Alloy", "member=${POD_NAME}", (url, job, rules) => `discovery.http "k8s_sd" {
  url              = ${url.replace('${POD_NAME}"', '" + sys.env("POD_NAME")')}
  refresh_interval = "15s"
}
${rules && `
discovery.relabel "k8s_sd" {
  targets = discovery.http.k8s_sd.targets
  // the job's rules, unchanged
}
`}
prometheus.scrape "k8s_sd" {
  targets    = ${rules ? "discovery.relabel.k8s_sd.output" : "discovery.http.k8s_sd.targets"}
  forward_to = [prometheus.remote_write.default.receiver]
}
`],
  otel: ["OpenTelemetry collector", "member=${env:POD_NAME}", (url, job, rules) => `receivers:
  prometheus:
    config:
      scrape_configs:
      - job_name: ${job}
        http_sd_configs:
        - url: ${url}
          refresh_interval: 15s
${rules && rules.replaceAll(/^(?=.)/gm, "      ")}`],
  allocator: ["OpenTelemetry, as Target Allocator", "", () => `receivers:
  prometheus:
    config: {}
    target_allocator:
      endpoint: ${new URL(".", document.baseURI).href.replace(/\/$/, "")}
      interval: 30s
      collector_id: \${env:POD_NAME}
`],
  telegraf: ["Telegraf", "member=${POD_NAME}", (url) => `[[inputs.prometheus]]
  [inputs.prometheus.http_service_discovery]
    enabled = true
    url = ${url}
    query_interval = "1m"
`],
};

function select(name, value, title, options) {
  const element = el("select", { "aria-label": title,
    change: (event) => go({ [name]: event.target.value }) },
    options.map(([key, text]) => el("option", { value: key }, text)));
  element.value = value;
  return element;
}

async function showSnippets() {
  const job = get("job") || jobs[0]?.name || "";
  if (!job) return void draw(el("p", { class: "card empty" },
    "There are no jobs, so there is no list to read."));
  const agent = agents[get("agent")] ? get("agent") : "prometheus";
  const shards = Number(get("shards", "1")) || 1;
  const discovered = get("list") === "discovered" && agent !== "telegraf";
  const parameters = [];
  if (agent === "telegraf") parameters.push("form=urls");
  const [, part, textOf] = agents[agent];
  if (shards > 1) parameters.push(`shards=${shards}`, part);
  const path = `sd/${encodeURIComponent(job)}${discovered ? "" : "/targets"}`;
  const url = JSON.stringify(here(path) + (parameters.length ? "?" + parameters.join("&") : ""));
  const rules = discovered ? "  relabel_configs: []   # the job's rules, unchanged\n" : "";
  const text = textOf(url, JSON.stringify(job), rules, shards);
  draw(el("div", { class: "bar" },
    select("agent", agent, "Agent", Object.entries(agents).map(([name, [title]]) => [name, title])),
    jobSelect(job, (name) => go({ job: name }), null),
    select("list", discovered ? "discovered" : "targets", "List",
      [["targets", "relabelled here"], ["discovered", "as discovered"]]),
    shardsField(shards), el("span", { class: "grow" }), copyButton("Copy", () => text)),
  el("pre", { id: "snippet" }, visible(text)),
  el("p", {}, discovered
    ? "The agent has the rules, as with kubernetes_sd_configs."
    : ["The rules have been applied: the agent must not apply them again. ",
      "Credentials, TLS and metric_relabel_configs stay with the agent."]),
  el("p", {}, el("a", { href: path }, "The list itself")));
}

views.push({ name: "snippets", title: "Snippets", jobs: true, show: showSnippets });

// ---------------------------------------------------------------- view: monitors

const monitorNames = { accepted: "● accepted", refused: "✕ refused", unselected: "○ not selected",
  waiting: "○ waits", empty: "◐ no targets" };
const monitorStates = ["refused", "waiting", "empty", "unselected", "accepted"];
const monitorPrefixes = { ServiceMonitor: "serviceMonitor", PodMonitor: "podMonitor",
  Probe: "probe", ScrapeConfig: "scrapeConfig", VMServiceScrape: "serviceScrape",
  VMPodScrape: "podScrape", VMProbe: "probe", VMNodeScrape: "nodeScrape",
  VMStaticScrape: "staticScrape", VMScrapeConfig: "scrapeConfig" };

/** The jobs of a monitor: one, or one for each endpoint. */
function jobsOfMonitor(monitor, jobs) {
  const name = `${monitorPrefixes[monitor.kind]}/${monitor.namespace}/${monitor.name}`;
  return [jobs.get(name), ...Array.from({ length: monitor.jobs },
    (_, i) => jobs.get(`${name}/${i}`))].filter(Boolean);
}

const problemText = (one) => [el("p", {}, cut(one.reason, 1000)),
  one.remedy ? el("p", {}, el("strong", {}, "What to do: "), inline(one.remedy, 600)) : null];

/** Requests the reason for a job without targets. */
async function whyEmpty(job, signal) {
  const answer = await askIfKnown("api/ui/monitor", { job: job.name }, signal);
  return answer?.reason ? { job: job.name, reason: answer.reason, remedy: answer.remedy } : null;
}

function monitorRow({ monitor, state, jobs, why }) {
  const targets = jobs.reduce((sum, job) => sum + job.active, 0);
  return el("tr", { "data-key": `${monitor.kind} ${monitor.namespace}/${monitor.name}` },
    el("td", {}, cut(monitor.kind, 40)),
    el("td", { class: "foreign" }, cut(`${monitor.namespace}/${monitor.name}`, 160)),
    el("td", { class: "nowrap" }, el("span", { class: `state ${state}` }, monitorNames[state])),
    el("td", { class: "number" }, jobs.length === 1
      ? el("a", { href: "?" + query({ job: jobs[0].name }) }, number(targets)) : number(targets)),
    el("td", {}, monitor.reason ? problemText(monitor) : null,
      why.map((one) => el("div", {}, jobs.length > 1 ? el("p", { class: "soft foreign" },
        cut(one.job, 200)) : null, problemText(one)))));
}

function kindTable(kinds) {
  return el("div", { class: "scroll" }, el("table", {},
    th(["Kind", "Watch", "#Seen", "#Accepted", "#Refused", "#Not selected", "#Waiting"]),
    el("tbody", {}, kinds.map((kind) => el("tr", { "data-key": kind.kind },
      el("td", {}, cut(kind.kind, 40)),
      el("td", {}, cut(kind.watch, 20), kind.message
        ? el("pre", { class: "bad" }, cut(kind.message, 1000)) : null),
      [kind.objects, kind.accepted, kind.refused, kind.unselected, kind.waiting].map((count) =>
        el("td", { class: "number" }, number(count))))))));
}

/** All pages of the monitors, in the first answer. A cursor that repeats ends the list. */
async function allMonitors(signal) {
  const answer = await ask("api/ui/monitors", {}, signal);
  for (let after = answer.next; after;) {
    const page = await ask("api/ui/monitors", { after }, signal);
    answer.monitors.push(...page.monitors);
    after = page.next === after ? null : page.next;
  }
  return answer;
}

/** Monitors with trouble first. */
async function showMonitors(signal) {
  const [answer, status] = await Promise.all([allMonitors(signal),
    ask("api/ui/status", {}, signal)]);
  if (!answer.enabled) {
    return draw(el("p", { class: "card empty" }, "Monitors are not served: start k8s-sd with ",
      el("code", {}, "--monitors"), "."));
  }
  const jobs = new Map(status.jobs.map((job) => [job.name, job]));
  const all = answer.monitors.map((monitor) => {
    const own = jobsOfMonitor(monitor, jobs);
    const isEmpty = own.some((job) => job.complete && job.active === 0);
    const state = monitor.state === "accepted" && isEmpty ? "empty" : monitor.state;
    return { monitor, jobs: own, state, why: [] };
  });
  const text = get("q").toLowerCase();
  const wanted = all.filter(({ monitor, state }) => (!get("state") || state === get("state"))
    && `${monitor.kind} ${monitor.namespace}/${monitor.name}`.toLowerCase().includes(text))
    .sort((a, b) => monitorStates.indexOf(a.state) - monitorStates.indexOf(b.state));
  const shown = wanted.slice(0, maxMonitors);
  const empty = shown.flatMap((one) => one.jobs.filter((job) => job.complete && job.active === 0)
    .map((job) => ({ one, job }))).slice(0, maxEmpty);
  await each(empty, async ({ one, job }) => {
    const why = await whyEmpty(job, signal);
    if (why) one.why.push(why);
  });
  const owner = answer.owner.reason ? el("section", { class: "card", "data-key": "owner" },
    el("h3", {}, "The owner is not used"), problemText(answer.owner)) : null;
  const field = el("input", { id: "query", type: "search", value: get("q"),
    "aria-label": "Monitors with this text", placeholder: "namespace/name",
    change: (event) => go({ q: event.target.value || null }) });
  draw(el("div", { class: "bar" }, field,
    select("state", get("state"), "State", [["", "all states"],
      ...monitorStates.map((name) => [name, monitorNames[name]])])),
  owner, kindTable(answer.kinds),
  shown.length ? el("div", { class: "scroll" }, el("table", { id: "monitors" },
    th(["Kind", "Monitor", "State", "#Targets", "Why"]),
    el("tbody", {}, shown.map(monitorRow))))
    : el("p", { class: "card empty" }, "There are no such monitors."),
  wanted.length > shown.length ? el("p", { class: "soft" },
    `and ${number(wanted.length - shown.length)} more`) : null);
}

views.push({ name: "monitors", title: "Monitors", again: true, show: showMonitors });

// ---------------------------------------------------------------- keys, theme, start

let lastRow = "";  // the row of the last keyboard focus
addEventListener("focusin", (event) => {
  lastRow = event.target.closest("main .row")?.dataset.key ?? lastRow;
});

function moveRow(step) {
  const rows = rowsHere();
  if (rows.length === 0) return;
  const at = rows.findIndex((row) => row.dataset.key === (get("id") ? openKey() : lastRow));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
  focusRow(next);
  if (drawerNow()) next.querySelector("a.open").click();
}

const keys = {
  "/": () => (byId("query") ? byId("query").focus() : goTo("targets")),
  j: () => moveRow(1), k: () => moveRow(-1),
  n: () => byId("next")?.click(),
  l: () => byId("live").click(),
  "?": () => byId("keys").showModal(),
};
views.forEach((view, i) => { keys[String(i + 1)] = () => goTo(view.name); });

function goTo(name) {
  go(name === "targets" ? {} : { view: name }, { other: true });
  byId("main").focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const typed = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape") {
    if (drawerNow()) closeDrawer();
    else if (typed) event.target.blur();
  } else if (!typed && keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});

// Links within the page do not reload it.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a");
  if (!link || event.defaultPrevented || !plainClick(event)) return;
  const href = link.getAttribute("href");
  if (!href.startsWith("?") && href !== "./") return;
  event.preventDefault();
  go(Object.fromEntries(new URLSearchParams(href.slice(1))), { other: true });
});

const themeNow = () => document.documentElement.dataset.theme;
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = `Theme: ${theme}`;
}
function keptTheme() {
  try {
    const kept = localStorage.getItem("k8s-sd-theme");
    if (kept === "light" || kept === "dark") return kept;
  } catch { /* storage is unavailable */ }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

setTheme(keptTheme());
byId("theme").addEventListener("click", () => {
  setTheme(themeNow() === "dark" ? "light" : "dark");
  try { localStorage.setItem("k8s-sd-theme", themeNow()); } catch { /* storage is unavailable */ }
});
byId("help").addEventListener("click", () => byId("keys").showModal());
byId("live").addEventListener("click", () =>
  go({ live: get("live") ? null : "1" }, { replace: true, entry: history.state }));
byId("views").append(...views.map((view) => el("a", {
  href: view.name === "targets" ? "./" : `?view=${view.name}`, "data-go": view.name },
    view.title)));
if (get("live")) follow(true);
show();
showDrawer();
