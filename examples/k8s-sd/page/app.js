"use strict";
// The page of k8s-sd. All state of a view is in the URL. What comes from the cluster is a text of
// strangers: it gets into the page as text only, with what cannot be seen made visible.

// ---------------------------------------------------------------- texts and elements

const byId = (id) => document.getElementById(id);

/** Characters that are not seen, or change the order of others. */
const invisible = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;
const visible = (text) => String(text).replace(invisible,
  (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

/** An element: `el("td", { class: "number" }, "text", otherElement)`. Functions are listeners. */
function el(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** A foreign text: cut if it is long, and apart from the direction of its neighbours. */
function foreign(text, most = 160) {
  const shown = visible(text);
  if (shown.length <= most) return el("bdi", {}, shown);
  const rest = el("button", { class: "plain", click: (event) => {
    event.stopPropagation();
    rest.replaceWith(el("bdi", {}, shown.slice(most)));
  } }, `… show all ${text.length} characters`);
  return el("span", {}, el("bdi", {}, shown.slice(0, most)), " ", rest);
}

/** A link to an address of the web, or its text. */
function webLink(url) {
  return /^https?:\/\//i.test(url)
    ? el("a", { href: url, rel: "noreferrer noopener", target: "_blank" }, foreign(url))
    : foreign(url);
}

const plural = (count, one, many = one + "s") =>
  `${Number(count).toLocaleString("en")} ${Number(count) === 1 ? one : many}`;

function ago(time) {
  if (time === null || time === undefined) return "never";
  const seconds = Math.max(0, Math.round((Date.now() - time) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} days ago`;
}
const clock = (time) => new Date(time).toLocaleTimeString("en-GB") + "." +
  String(Math.floor(time % 1000)).padStart(3, "0");

function notice(text) {
  byId("notice").hidden = !text;
  byId("notice").textContent = text ? visible(text) : "";
}
function say(text) { byId("said").textContent = visible(text); }

function copyButton(title, make) {
  const button = el("button", { click: async (event) => {
    event.stopPropagation();
    const text = make();
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Browsers allow it for https and localhost only.
      const area = el("textarea", { class: "hidden-text" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    say(`${title}: copied`);
    setTimeout(() => { button.textContent = title; }, 1500);
  } }, title);
  return button;
}

const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
const here = (path) => new URL(path, document.baseURI).href;

/** JSON is YAML; a line for each label is easier to read. */
function yamlOf(rows) {
  return rows.map((row) => `- targets: [${JSON.stringify(row.address)}]\n  labels:\n` +
    Object.entries(row.labels ?? {}).map(([name, value]) =>
      `    ${JSON.stringify(name)}: ${JSON.stringify(value)}\n`).join("")).join("");
}

// ---------------------------------------------------------------- state and requests

const views = [];  // { name, title, show(main) }, in the order of the navigation
let state = new URLSearchParams(location.search);
let running = new AbortController();

const get = (name, fallback = "") => state.get(name) ?? fallback;
const viewName = () => (views.some((view) => view.name === get("view")) ? get("view") : "targets");

/** Goes where these parameters differ; null removes one. */
function go(changes, { replace = false, whole = false } = {}) {
  const next = whole ? new URLSearchParams() : new URLSearchParams(state);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(name); else next.set(name, value);
  }
  const text = next.toString();
  if (text === state.toString()) return show();
  history[replace ? "replaceState" : "pushState"](null, "", text ? `?${text}` : "./");
  state = next;
  show();
}

const query = (parameters) => new URLSearchParams(
  Object.entries(parameters).filter(([, value]) => value !== "" && value !== null)).toString();

async function ask(path, parameters = {}, options = {}) {
  const text = query(parameters);
  const answer = await fetch(text ? `${path}?${text}` : path, { signal: running.signal, ...options });
  let body;
  try {
    body = await answer.json();
  } catch {
    body = { error: `${answer.status} ${answer.statusText}` };
  }
  if (!answer.ok) throw Object.assign(new Error(body.error ?? `status ${answer.status}`), { body });
  return body;
}
const post = (path, body) => ask(path, {}, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

let jobs = [];
async function loadJobs() {
  jobs = (await ask("api/ui/status")).jobs;
  return jobs;
}

function jobSelect(value, change, all = "all jobs") {
  const select = el("select", { "aria-label": "Job", change: () => change(select.value) },
    all === null ? [] : el("option", { value: "" }, all),
    jobs.map((job) => el("option", { value: job.name }, visible(job.name))));
  select.value = value;
  return select;
}

/** Shows the view of the URL; what an earlier one asks for is no longer wanted. */
async function show() {
  running.abort();
  running = new AbortController();
  const mine = running;
  closeDrawer();
  const view = views.find((one) => one.name === viewName());
  for (const link of byId("views").children) {
    if (link.dataset.go === view.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${view.title} · k8s-sd`;
  try {
    if (jobs.length === 0 || view.name !== "targets") await loadJobs();
    await view.show(byId("main"));
    if (get("id")) await openTarget(get("job_of"), get("id"));
    if (mine === running) notice("");
  } catch (error) {
    if (error.name === "AbortError" || mine !== running) return;
    const at = error.body?.at === undefined ? "" : ` (at character ${error.body.at + 1})`;
    notice(error.message + at);
  }
}

// ---------------------------------------------------------------- rows of targets

const stateNames = { active: "● active", dropped: "○ dropped", failed: "✕ failed",
  duplicate: "◐ duplicate" };

function labelChips(labels, most = 12) {
  const all = Object.entries(labels ?? {}).filter(([name]) => !name.startsWith("__"));
  const chips = el("span", { class: "chips" }, all.slice(0, most).map(([name, value]) =>
    el("span", { class: "chip" }, el("b", {}, visible(name).slice(0, 80), "="), foreign(value, 80))));
  if (all.length > most) chips.append(el("span", { class: "soft" }, `+${all.length - most}`));
  return chips;
}

function targetRow(row, { withJob = true } = {}) {
  const open = () => go({ id: row.id, job_of: row.job }, { replace: Boolean(get("id")) });
  return el("tr", { class: "row", tabindex: "0", "data-id": row.id, click: (event) => {
    if (!event.target.closest("a, button")) open();
  }, keydown: (event) => { if (event.key === "Enter" && event.target.matches("tr")) open(); } },
  el("td", {}, el("span", { class: `state ${row.state}` }, stateNames[row.state] ?? row.state)),
  el("td", {}, row.url ? webLink(row.url) : foreign(row.address || "(no address)"),
    row.reason ? el("div", { class: "reason" }, foreign(row.reason, 240)) : null),
  el("td", {}, foreign(row.object ?? "", 120),
    row.node ? el("div", { class: "soft" }, "on ", foreign(row.node, 80)) : null),
  withJob ? el("td", { class: "job" }, foreign(row.job, 80)) : null,
  el("td", {}, labelChips(row.labels)));
}

function targetTable(rows, options = {}) {
  const { withJob = true } = options;
  return el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, ["State", "Target", "Object", withJob ? "Job" : null, "Labels"]
      .filter(Boolean).map((title) => el("th", { scope: "col" }, title)))),
    el("tbody", {}, rows.map((row) => targetRow(row, options))));
}

// ---------------------------------------------------------------- view: targets

const filters = ["state", "job", "namespace", "node", "reason"];

function facet(name, title, values) {
  const chosen = get(name) ? (name === "state" ? get(name).split(",") : [get(name)]) : [];
  const all = [...values];
  for (const value of chosen) if (!all.some((one) => one.value === value)) all.push({ value, count: 0 });
  if (all.length === 0) return null;
  return el("section", { class: "facet" + (name === "reason" ? " why" : "") },
    el("h3", {}, title),
    all.map(({ value, count }) => el("button", {
      "aria-pressed": chosen.includes(value) ? "true" : "false", title: visible(value).slice(0, 300),
      click: () => go({ [name]: chosen.includes(value) ? null : value, after: null, id: null }),
    }, el("span", {}, visible(value).slice(0, 300)),
    el("span", { class: "number" }, count.toLocaleString("en")))));
}

function summary(answer, shown) {
  const text = answer.total === 0 ? "No target" : plural(answer.total, "target");
  if (answer.building) return `${text} so far; ${plural(answer.building, "object")} still to read`;
  return answer.total > shown ? `${text}, ${shown} of them here` : text;
}

async function showTargets(main) {
  const wanted = { q: get("q"), after: get("after"), limit: get("limit", "50"), facets: 1 };
  for (const name of filters) wanted[name] = get(name);
  const focused = document.activeElement?.id === "query" ? document.activeElement : null;
  const answer = await ask("api/ui/targets", wanted);
  const input = focused ?? el("input", {
    id: "query", class: "grow", type: "search", spellcheck: "false", autocomplete: "off",
    "aria-label": "Search targets",
    placeholder: 'web-1   namespace="shop", pod=~"web-.*"   /regex/          ( / )',
    input: debounced(() => go({ q: byId("query").value, after: null, id: null }, { replace: true })),
  });
  if (!focused) input.value = get("q");
  const results = el("div", {},
    el("div", { class: "bar" },
      el("span", { class: "soft", id: "summary" }, summary(answer, answer.rows.length)),
      el("span", { class: "grow" }),
      copyButton("Copy JSON", () => JSON.stringify(answer.rows, null, 1)),
      copyButton("Copy YAML", () => yamlOf(answer.rows)),
      copyButton("Copy curl", () => `curl -s ${quoted(here("api/ui/targets?" + query(wanted)))}`)),
    answer.rows.length ? targetTable(answer.rows)
      : el("p", { class: "card empty" }, "No target is like that. ",
        el("a", { href: "?view=find" }, "Ask by object"), " why one is missing."),
    el("div", { class: "bar" },
      get("after") ? el("button", { click: () => history.back() }, "Back") : null,
      answer.next ? el("button", { id: "next", click: () => go({ after: answer.next, id: null }) },
        "Next page") : null));
  const titles = { state: "State", job: "Job", namespace: "Namespace", node: "Node", reason: "Why not" };
  const aside = el("aside", { "aria-label": "Filters" },
    filters.map((name) => facet(name, titles[name], answer.facets[name] ?? [])),
    filters.some((name) => get(name)) ? el("button", { click: () => go(Object.fromEntries(
      [...filters, "after", "id"].map((name) => [name, null]))) }, "Clear filters") : null);
  if (focused && byId("columns")) {
    // What is typed into stays where it is.
    byId("columns").replaceChildren(aside, results);
  } else {
    main.replaceChildren(el("div", { class: "bar" }, input),
      el("div", { class: "columns", id: "columns" }, aside, results));
  }
  if (jobs.some((job) => !job.complete)) await loadJobs();
  if (answer.building || jobs.some((job) => !job.complete)) {
    setTimeout(() => { if (viewName() === "targets" && !get("id")) show(); }, 500);
  }
}

function debounced(action) {
  let timer = 0;
  return () => { clearTimeout(timer); timer = setTimeout(action, 150); };
}

views.push({ name: "targets", title: "Targets", show: showTargets });

// ---------------------------------------------------------------- one target

let focusBefore = null;

function closeDrawer() {
  document.querySelector(".drawer")?.remove();
  focusBefore?.focus();
  focusBefore = null;
}

function labelTable(labels) {
  const names = Object.keys(labels ?? {});
  if (names.length === 0) return el("p", { class: "soft" }, "None.");
  return el("table", { class: "labels" }, el("tbody", {}, names.slice(0, 200).map((name) =>
    el("tr", {}, el("td", { class: "mono" }, foreign(name, 200)),
      el("td", { class: "mono" }, foreign(labels[name], 400))))));
}

function diffList(step) {
  const lines = [
    ...Object.entries(step.added ?? {}).map(([name, value]) => ["plus", `${name} = ${value}`]),
    ...Object.entries(step.changed ?? {}).map(([name, [before, now]]) =>
      ["tilde", `${name} = ${before} → ${now}`]),
    ...Object.entries(step.removed ?? {}).map(([name, value]) => ["minus", `${name} = ${value}`])];
  const words = { plus: "added", tilde: "changed", minus: "removed" };
  return el("ul", { class: "diff mono" }, lines.slice(0, 100).map(([kind, text]) =>
    el("li", { class: kind, title: words[kind] }, foreign(text, 400))),
  lines.length > 100 ? el("li", {}, `and ${lines.length - 100} more`) : null);
}

function stepList(steps, after) {
  return el("div", {}, (steps ?? []).slice(0, 200).map((step, i) => {
    const changes = ["added", "changed", "removed"].some((kind) => Object.keys(step[kind] ?? {}).length);
    return el("div", { class: "step" + (!step.keep ? " drops" : changes ? " changes" : "") },
      el("strong", {}, `Rule ${i}: ${visible(step.action)}`),
      !step.keep ? el("span", { class: "bad" }, " – drops the target") :
        changes ? null : el("span", { class: "soft" }, " – changes nothing"),
      step.reason ? el("div", { class: "reason" }, foreign(step.reason, 300)) : null,
      el("pre", {}, foreign(step.rule, 1000)), diffList(step));
  }), (after ?? []).map((text) => el("p", { class: "soft" }, foreign(text, 400))));
}

async function openTarget(job, id) {
  const answer = await ask("api/ui/target", { job, id });
  const row = answer.row;
  const close = () => go({ id: null, job_of: null }, { replace: true });
  focusBefore ??= document.activeElement;
  const drawer = el("section", { class: "drawer", role: "dialog", "aria-modal": "false",
    "aria-label": "Target", tabindex: "-1" },
  el("button", { class: "close", click: close }, "Close (Esc)"),
  el("h2", { class: "mono" }, foreign(row.address || "(no address)")),
  el("p", {}, el("span", { class: `state ${row.state}` }, stateNames[row.state] ?? row.state), " in job ",
    foreign(row.job), row.reason ? el("div", { class: "reason" }, foreign(row.reason, 600)) : null),
  answer.url ? el("p", {}, webLink(answer.url)) : null,
  el("p", { class: "bar" },
    el("a", { href: "?" + query({ view: "lab", job: row.job, id_of: row.id }) }, "Try other rules"),
    el("a", { href: "?" + query({ view: "find", object: row.object }) }, "This object in all jobs"),
    copyButton("Copy JSON", () => JSON.stringify(answer, null, 1)),
    copyButton("Copy link", () => here("?" + query({ job_of: row.job, id: row.id })))),
  el("h3", {}, "Labels after relabelling"),
  answer.labels ? labelTable(answer.labels) : el("p", { class: "soft" }, "None: it is not scraped."),
  el("h3", {}, "What the rules do"),
  (answer.steps ?? []).length || (answer.after ?? []).length ? stepList(answer.steps, answer.after)
    : el("p", { class: "soft" }, "The job has no rules."),
  el("h3", {}, "Labels before relabelling"), labelTable(answer.discovered));
  document.querySelector(".drawer")?.remove();
  document.body.append(drawer);
  drawer.focus();
  for (const one of document.querySelectorAll("tr.row")) {
    one.toggleAttribute("aria-selected", false);
    if (one.dataset.id === id) one.setAttribute("aria-selected", "true");
  }
}

// ---------------------------------------------------------------- view: find

views.push({ name: "find", title: "Find", async show(main) {
  const wanted = get("object");
  const input = el("input", { id: "query", class: "grow", value: wanted, "aria-label": "Object",
    spellcheck: "false", placeholder: "pod/shop/web-1, service/shop/web, node/node-1, 10.1.2.3, or a name" });
  const form = el("form", { class: "bar", submit: (event) => {
    event.preventDefault();
    go({ object: input.value.trim() });
  } }, input, el("button", { class: "primary" }, "Why?"));
  main.replaceChildren(form);
  if (!wanted) {
    main.append(el("p", { class: "soft" },
      "In which jobs is a pod, a service, a node or an address, in which is it not, and why?"));
    return;
  }
  const answer = await ask("api/ui/object", { q: wanted });
  if (!answer.found) {
    main.append(el("p", { class: "card empty" }, "No such object has been seen. Does a job look at its ",
      "namespace, and may it? ", el("a", { href: "?view=health" }, "Health"), " tells."));
  } else {
    main.append(el("p", {}, "Found: ", answer.objects.slice(0, 20).map((name, i) =>
      [i ? ", " : "", foreign(name, 120)])));
  }
  for (const job of answer.jobs) {
    main.append(el("section", { class: "card" }, el("h2", {}, foreign(job.job)),
      el("p", {}, foreign(job.text, 400)),
      job.in.length + job.not.length
        ? targetTable([...job.in, ...job.not].slice(0, 40), { withJob: false }) : null,
      job.in_total + job.not_total > job.in.length + job.not.length
        ? el("p", { class: "soft" }, `${job.in_total} scraped, ${job.not_total} not`) : null));
  }
} });

// ---------------------------------------------------------------- view: laboratory

views.push({ name: "lab", title: "Laboratory", async show(main) {
  const job = get("job") || jobs[0]?.name || "";
  const rules = el("textarea", { id: "rules", spellcheck: "false", "aria-label": "Rules" });
  const labels = el("textarea", { id: "labels", spellcheck: "false", "aria-label": "Labels" });
  const result = el("div", { id: "result", "aria-live": "polite" });
  const effect = el("input", { type: "checkbox", checked: true });
  const given = () => {
    const body = { job, rules: rules.value, effect: effect.checked };
    if (labels.value.trim()) body.labels = JSON.parse(labels.value);
    return body;
  };
  const run = async () => {
    try {
      const body = given();
      result.replaceChildren(el("p", { class: "soft" }, "…"));
      showResult(await post("api/ui/relabel", body));
      notice("");
    } catch (error) {
      if (error.name === "AbortError") return;
      result.replaceChildren(el("p", { class: "card bad" }, error instanceof SyntaxError
        ? `The labels are no JSON object: ${error.message}` : foreign(error.message, 600)));
    }
  };
  const showResult = (answer) => {
    const failed = answer.state && answer.state !== "active";
    result.replaceChildren(...[
      answer.state ? el("p", {}, el("span", { class: `state ${answer.state}` },
        stateNames[answer.state] ?? answer.state), " ", failed ? foreign(answer.reason, 400) : webLink(answer.url)) : null,
      answer.effect ? effectCard(answer.effect) : null,
      answer.steps?.length || answer.after?.length ? el("section", { class: "card" },
        el("h2", {}, "Step by step"), stepList(answer.steps, answer.after)) : null,
      answer.labels ? el("section", { class: "card" }, el("h2", {}, "Labels after relabelling"),
        labelTable(answer.labels)) : null].filter(Boolean));
  };
  main.replaceChildren(
    el("div", { class: "bar" }, el("label", {}, "Job ",
      jobSelect(job, (name) => go({ job: name, id_of: null }), null)),
    el("label", {}, effect, " effect on all targets of the job"),
    el("span", { class: "grow" }), el("button", { class: "primary", id: "run", click: run }, "Run")),
    el("div", { class: "halves" },
      el("section", {}, el("h2", {}, "Rules"), rules,
        el("p", { class: "soft" }, "relabel_configs, as YAML. Nothing is changed by trying."),
        copyButton("Copy rules", () => rules.value)),
      el("section", {}, el("h2", {}, "Labels before the rules"), labels,
        el("p", { class: "soft" }, get("id_of") ? "Of the target that you came from."
          : "A JSON object; leave it empty to see the effect on the job only."))),
    result);
  if (!job) return;
  const start = await post("api/ui/relabel", get("id_of") ? { job, id: get("id_of"), effect: false }
    : { job, effect: false });
  rules.value = start.rules ?? "";
  if (get("id_of")) {
    labels.value = JSON.stringify((await ask("api/ui/target", { job, id: get("id_of") })).discovered, null, 1);
    showResult(start);
  }
} });

function effectCard(effect) {
  const examples = ["gained", "lost", "changed"].filter((kind) => effect.examples?.[kind]?.length);
  return el("section", { class: "card", id: "effect" }, el("h2", {}, "On the whole job"),
    el("p", {}, `${plural(effect.active_before, "active target")} before, ${effect.active_after} after: `,
      el("strong", { class: "good" }, `+${effect.gained}`), ", ",
      el("strong", { class: "bad" }, `−${effect.lost}`), `, ${effect.changed} with other labels.`,
      effect.complete === false ? " (It took too long: this is of a part.)" : ""),
    examples.map((kind) => [el("h3", {}, kind),
      targetTable(effect.examples[kind].slice(0, 5), { withJob: false })]));
}

// ---------------------------------------------------------------- view: changes

const kinds = { added: ["+", "good"], removed: ["−", "bad"], changed: ["~", "soft"] };
const mostChanges = 200;

function changeRow(change, isNew = false) {
  const [sign, look] = kinds[change.kind] ?? ["?", ""];
  const name = change.address ? foreign(change.address) : null;
  return el("tr", { "data-seq": change.seq, class: isNew ? "new" : null },
    el("td", { class: "mono soft" }, clock(change.at)),
    el("td", { class: look }, el("strong", {}, `${sign} ${change.kind}`)),
    el("td", {}, change.id ? el("a", { href: "?" + query({ view: "changes", job_of: change.job, id: change.id }) },
      name ?? "target") : name),
    el("td", {}, foreign(change.object ?? "", 120)), el("td", {}, foreign(change.job, 80)),
    el("td", { class: "reason" }, foreign(change.what ?? "", 300)));
}

views.push({ name: "changes", title: "Changes", async show(main) {
  const answer = await ask("api/ui/history", { job: get("job"), before: get("before"), limit: 100 });
  main.replaceChildren(
    el("div", { class: "bar" }, jobSelect(get("job"), (job) => go({ job, before: null })),
      el("span", { class: "soft" }, source ? "New changes come in at the top." :
        "A look at the past; Live follows what happens."),
      answer.lost ? el("span", { class: "soft" }, `${plural(answer.lost, "older change")} forgotten.`) : null),
    el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ["Time", "Change", "Target", "Object", "Job", "What"].map((title) =>
        el("th", { scope: "col" }, title)))),
      el("tbody", { id: "changes" }, answer.changes.map((change) => changeRow(change))))),
    answer.changes.length ? "" : el("p", { class: "empty" }, "Nothing has changed yet."),
    el("div", { class: "bar" }, answer.next ? el("button", { id: "next",
      click: () => go({ before: answer.next }) }, "Older") : null));
} });

let source = null;

function follow(on) {
  source?.close();
  source = on ? new EventSource("api/ui/live") : null;
  byId("live").setAttribute("aria-pressed", on ? "true" : "false");
  if (!source) return;
  source.addEventListener("change", (event) => {
    const body = byId("changes");
    const change = JSON.parse(event.data);
    if (!body || get("before") || (get("job") && get("job") !== change.job)) return;
    if (body.querySelector(`[data-seq="${Number(change.seq)}"]`)) return;
    body.prepend(changeRow(change, true));
    while (body.children.length > mostChanges) body.lastChild.remove();
  });
  source.addEventListener("status", (event) => {
    jobs = JSON.parse(event.data).jobs;
    // A page that is read is not moved; the first one is brought up to date.
    const reading = get("id") || get("after") || document.activeElement?.id === "query";
    if (viewName() === "targets" && !reading) show();
  });
  source.onerror = () => say("The stream of changes was interrupted; it is resumed.");
}

// ---------------------------------------------------------------- view: shards

function memberTable(members, job, shards) {
  const most = Math.max(1, ...members.map((member) => member.targets));
  return el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Shard"),
    el("th", { scope: "col", class: "number" }, "Targets"), el("th", { scope: "col", class: "wide" }, ""),
    el("th", { scope: "col" }, "List"))),
  el("tbody", {}, members.slice(0, 256).map((member) => {
    const meter = el("div", { class: "meter" });
    meter.style.width = `${(100 * member.targets) / most}%`;
    const path = `sd/${encodeURIComponent(job)}/targets?` + query({ shard: member.member, shards });
    return el("tr", {}, el("td", {}, visible(member.member)),
      el("td", { class: "number" }, member.targets.toLocaleString("en")), el("td", {}, meter),
      el("td", {}, el("a", { href: path }, "list")));
  })));
}

views.push({ name: "shards", title: "Shards", async show(main) {
  const job = get("job") || jobs[0]?.name || "";
  const shards = get("shards", "3");
  const field = (name, value, title) => el("label", {}, `${title} `, el("input", {
    type: "number", min: "1", max: "4096", value, name, change: (event) => go({ [name]: event.target.value }) }));
  main.replaceChildren(el("div", { class: "bar" }, jobSelect(job, (name) => go({ job: name }), null),
    field("shards", shards, "Shards"), field("replicas", get("replicas", "1"), "Replicas"),
    field("to", get("to", String(Number(shards) + 1)), "Dry run with")));
  if (!job) return;
  const answer = await ask("api/ui/shards", { job, shards, replicas: get("replicas"),
    to: get("to", String(Number(shards) + 1)) });
  const moved = answer.dry_run ? (100 * answer.dry_run.moved) / Math.max(1, answer.total) : 0;
  main.append(
    answer.unassigned.length ? el("section", { class: "card" },
      el("h2", { class: "bad" }, "Without an owner"), targetTable(answer.unassigned.slice(0, 20))) : "",
    el("div", { class: "halves" },
      el("section", {}, el("h2", {}, `Now: ${plural(answer.total, "target")}, ${plural(answer.shards, "shard")}`),
        answer.on_all ? el("p", {}, `${plural(answer.on_all, "target")} on every shard.`) : null,
        memberTable(answer.members, job, answer.shards)),
      answer.dry_run ? el("section", {}, el("h2", { id: "dry-run" },
        `With ${plural(answer.dry_run.to, "shard")} ${plural(answer.dry_run.moved, "target")} would move (${moved.toFixed(1)} %)`),
      memberTable(answer.dry_run.members, job, answer.dry_run.to)) : null));
} });

// ---------------------------------------------------------------- view: consumers

views.push({ name: "consumers", title: "Consumers", async show(main) {
  const answer = await ask("api/ui/consumers");
  const titles = ["Who", "Job", "List", "Every", "Last poll", "Polls", "Bytes", "Answer", "Has"];
  main.replaceChildren(
    el("p", { class: "soft" }, "Who polls which list. One that is late has missed its interval."),
    answer.consumers.length === 0 ? el("p", { class: "card empty" }, "Nobody has polled a list yet. ",
      el("a", { href: "?view=snippets" }, "Snippets"), " for agents.") :
      el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {},
        titles.map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, answer.consumers.slice(0, 200).map((one) => el("tr", {},
        el("td", {}, foreign(one.address, 60), el("div", { class: "soft" }, foreign(one.agent, 80))),
        el("td", {}, foreign(one.job, 80)),
        el("td", {}, foreign(one.list, 40), el("div", { class: "soft" }, foreign(one.selection, 120))),
        el("td", { class: "number" }, one.interval ? `${one.interval} s` : "–"),
        el("td", {}, ago(one.last_poll), one.late ? el("strong", { class: "bad" }, " late") : null),
        el("td", { class: "number" }, one.polls.toLocaleString("en")),
        el("td", { class: "number" }, one.bytes.toLocaleString("en")),
        el("td", { class: one.errors ? "bad" : null },
          `${one.status}` + (one.errors ? `, ${plural(one.errors, "error")}` : "")),
        el("td", {}, one.current ? el("span", { class: "good" }, "the newest list") : "an older list")))))),
    answer.dropped ? el("p", { class: "soft" }, `${answer.dropped} more have been forgotten.`) : "");
} });

// ---------------------------------------------------------------- view: health

views.push({ name: "health", title: "Health", async show(main) {
  const answer = await ask("api/ui/health");
  main.replaceChildren(...answer.jobs.map((job) => el("section", { class: "card" },
    el("h2", {}, foreign(job.job), " ",
      job.synced ? el("span", { class: "state synced" }, "● complete") : el("span", { class: "state waiting" }, "○ not complete yet")),
    job.configs.map((config) => [
      el("p", {}, el("span", { class: `state ${config.state}` }, config.state), " ", foreign(config.role ?? "", 60),
        config.server ? [" at ", foreign(config.server, 120)] : null,
        config.unconfirmed ? el("strong", { class: "bad" }, " with targets of before a restart") : null),
      config.message ? el("pre", { class: "bad" }, foreign(config.message, 1000)) : null,
      (config.watches ?? []).length ? el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {},
        ["Watch", "State", "Objects", "Last event", "Listed", "Lists again", "Waits for"].map((title) =>
          el("th", { scope: "col" }, title)))),
      el("tbody", {}, config.watches.slice(0, 100).map((watch) => el("tr", {},
        el("td", {}, foreign(watch.kind, 60), watch.namespace ? [" in ", foreign(watch.namespace, 80)] : null),
        el("td", {}, el("span", { class: `state ${watch.state}` }, watch.state),
          watch.message && watch.message !== config.message ? el("div", { class: "reason" }, foreign(watch.message, 600)) : null),
        el("td", { class: "number" }, (watch.objects ?? 0).toLocaleString("en")),
        el("td", {}, ago(watch.last_event)), el("td", {}, ago(watch.last_list)),
        el("td", { class: "number" }, watch.relists ?? 0),
        el("td", {}, watch.waiting ?? "")))))) : null]))));
  if (answer.jobs.length === 0) main.append(el("p", { class: "empty" }, "There are no jobs."));
} });

// ---------------------------------------------------------------- view: snippets

/** As k8s-sd names the file of a job. */
const fileName = (job) => encodeURIComponent(job).replace(/^\.|[!'()*~]/g,
  (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());

// docs/k8s-sd/consumers.md has the same, with TLS and tokens. An agent: its name, how it names its
// part of the targets, and its configuration.
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
    rules ? "  # those of the job, as they were\n" : ""}${
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
  // rules: those of the job, as they were
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

views.push({ name: "snippets", title: "Snippets", async show(main) {
  const job = get("job") || jobs[0]?.name || "";
  const agent = agents[get("agent")] ? get("agent") : "prometheus";
  const shards = Number(get("shards", "1")) || 1;
  const discovered = get("list") === "discovered" && agent !== "telegraf";
  const parameters = [];
  if (agent === "telegraf") parameters.push("form=urls");
  const [, part, textOf] = agents[agent];
  if (shards > 1) parameters.push(`shards=${shards}`, part);
  const path = `sd/${encodeURIComponent(job)}${discovered ? "" : "/targets"}`;
  const url = JSON.stringify(here(path) + (parameters.length ? "?" + parameters.join("&") : ""));
  const rules = discovered ? "  relabel_configs: []   # those of the job, as they were\n" : "";
  const text = textOf(url, JSON.stringify(job), rules, shards);
  const choose = el("select", { "aria-label": "Agent", change: () => go({ agent: choose.value }) },
    Object.entries(agents).map(([name, [title]]) => el("option", { value: name }, title)));
  choose.value = agent;
  const list = el("select", { "aria-label": "List", change: () => go({ list: list.value }) },
    el("option", { value: "targets" }, "relabelled here"), el("option", { value: "discovered" }, "as discovered"));
  list.value = discovered ? "discovered" : "targets";
  main.replaceChildren(
    el("div", { class: "bar" }, choose, jobSelect(job, (name) => go({ job: name }), null), list,
      el("label", {}, "Shards ", el("input", { type: "number", min: "1", max: "4096", value: shards,
        change: (event) => go({ shards: event.target.value }) })),
      el("span", { class: "grow" }), copyButton("Copy", () => text)),
    el("pre", { id: "snippet" }, visible(text).replaceAll("⟨U+000A⟩", "\n")),
    el("p", { class: "soft" }, discovered
      ? "The agent has the rules, as with kubernetes_sd_configs."
      : "The rules have been applied: the agent must not apply them again. Credentials, TLS and metric_relabel_configs stay with the agent."),
    el("p", {}, el("a", { href: path }, "The list itself")));
} });

// ---------------------------------------------------------------- keys, theme, start

function moveRow(step) {
  const rows = [...document.querySelectorAll("tr.row")];
  if (rows.length === 0) return;
  const at = rows.indexOf(document.activeElement);
  rows[Math.min(rows.length - 1, Math.max(0, at + step))].focus();
}

const keys = {
  "/": () => byId("query") ? byId("query").focus() : go({ view: null }),
  j: () => moveRow(1), k: () => moveRow(-1),
  n: () => byId("next")?.click(),
  l: () => byId("live").click(),
  "?": () => byId("keys").showModal(),
};
views.forEach((view, i) => { keys[String(i + 1)] = () => goTo(view.name); });

function goTo(name) {
  go(name === "targets" ? {} : { view: name }, { whole: true });
  byId("main").focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "Escape") {
    if (document.querySelector(".drawer")) go({ id: null, job_of: null }, { replace: true });
    else if (typing) event.target.blur();
  } else if (!typing && keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});

// Links of the page itself do not load it again.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  const href = link.getAttribute("href");
  if (!href.startsWith("?") && href !== "./") return;
  event.preventDefault();
  go(Object.fromEntries(new URLSearchParams(href.slice(1))), { whole: true });
});

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("k8s-sd-theme", theme); } catch { /* it is not kept */ }
}
function firstTheme() {
  try {
    const kept = localStorage.getItem("k8s-sd-theme");
    if (kept === "light" || kept === "dark") return kept;
  } catch { /* there is none */ }
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

document.documentElement.dataset.theme = firstTheme();
byId("theme").addEventListener("click", () =>
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
byId("help").addEventListener("click", () => byId("keys").showModal());
byId("live").addEventListener("click", () => { follow(!source); show(); });
byId("views").append(...views.map((view) => el("a", {
  href: view.name === "targets" ? "./" : `?view=${view.name}`, "data-go": view.name }, view.title)));
addEventListener("popstate", () => { state = new URLSearchParams(location.search); show(); });
show();
