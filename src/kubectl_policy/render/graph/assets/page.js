// @ts-check
/*
 * The page: selecting, folding and filtering, the search box, the list, the legend, keys, and the address.
 */

const panel = element("panel");
const searchBox = /** @type {HTMLInputElement} */ (element("search"));
const foundList = element("found");
/** @type {Selected | null} */
let selected = null;

/*
 * Selecting
 */

/** Select what the address names, or nothing. @returns {Promise<void>} */
async function follow() {
    const wanted = location.hash.length > 1 ? atAddress(location.hash) : null;
    if (wanted === undefined) say(`There is nothing here called ${decoded(location.hash.slice(1))}.`);
    selected = wanted ?? null;
    document.title = visible(selected ? `${wordsOf(selected)} – ${data.title}` : data.title);
    light();
    tell();
    element("announced").textContent = selected ? `Selected: ${visible(wordsAbout(selected))}` : "";
    const [mayMove, takesFocus] = [!isClicked, isFound];
    isClicked = isFound = false;
    if (!selected) return;
    if (reveal(selected)) await redraw();
    if (mayMove) bringIntoView(keyOf(selected));
    const link = elementOf(keyOf(selected))?.querySelector("a");
    if (takesFocus && link) focusOn(/** @type {SVGElement} */ (/** @type {unknown} */ (link)));
}
/** Whether what comes next was clicked in the graph, which then stays where it is; or found, and takes the focus. */
let [isClicked, isFound] = [false, false];

/** @param {string} text */
function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/** Light what is selected: the blast radius of a policy, the paths of anything else. */
function light() {
    if (!selected) return mark({ selected: null, lit: new Set(), near: new Set() });
    const { o, node } = selected;
    if (node < 0) {
        const targets = (attachmentsOf.get(o) ?? []).flatMap((attachment) =>
            attachment[1] === null ? [] : [attachment[1]],
        );
        return mark({ selected: ~o, lit: new Set(data.reach[o]?.affected), near: new Set(targets) });
    }
    /** @type {Set<Key>} */
    const near = new Set();
    for (const position of pathsThrough(selected))
        for (const each of data.paths[data.effects[o].paths[position]]) near.add(each);
    const whole = data.nodes[node].section ? [node] : [node, ...places[o].sections];
    for (const each of whole) {
        near.add(each);
        for (const link of [...(above.get(each) ?? []), ...(below.get(each) ?? [])]) near.add(link[0]).add(link[1]);
        for (const attachment of attachmentsTo.get(each) ?? []) near.add(~attachment[0]);
    }
    const isHere = new Set(pathsThrough(selected));
    for (const [outcome, positions] of data.effects[o]?.inForce ?? []) {
        if (positions.some((position) => isHere.has(position)))
            for (const policy of data.outcomes[outcome].policies) near.add(~policy);
    }
    mark({ selected: node, lit: new Set(), near });
}

/** @param {Selected} of @param {number[]} nodes */
function lightPath(of, nodes) {
    mark({ selected: keyOf(of), lit: new Set(nodes), near: new Set() });
}

/** Show in the panel what is selected, or everything. @param {Node[]} [content] */
function tell(content) {
    panel.replaceChildren(
        ...(selected || content
            ? [h("button.close", { type: "button", "aria-label": "Close", title: "Close (Esc)", click: clear }, "×")]
            : []),
        ...(content ?? (!selected ? overview() : selected.node < 0 ? policyPanel(selected) : nodePanel(selected))),
    );
    panel.scrollTo(0, 0);
}

function clear() {
    if (location.hash.length > 1) location.hash = "";
    else {
        light();
        tell();
    }
}

/*
 * Folding and filtering
 */

/** Draw something itself, whatever hides it. @param {Selected} what @returns {boolean} whether that is a change */
function reveal(what) {
    const { kind: k, policy: p, state: s = "" } = data.objects[what.o];
    let isChange = false;
    if (choice.only && !choice.only.has(what.o)) {
        choice.only = null;
        isChange = true;
    }
    if (isHidden(what.o)) {
        choice.hiddenKinds.delete(k);
        choice.hiddenNamespaces.delete(namespaceOf(what.o));
        if (p) choice.hiddenStates.delete(s);
        isChange = true;
        filters();
    }
    if (foldedInto(what.o) >= 0) {
        choice.singled.add(what.o);
        isChange = true;
    }
    return isChange;
}

/** @param {string[]} [anchors] */
async function redraw(anchors = []) {
    const isDrawn = await draw(anchors);
    outline();
    legend();
    return isDrawn;
}

/** @param {number} group */
async function unfold(group) {
    const folded = new Set(choice.folded);
    for (const each of chain(group)) folded.delete(each);
    const things = thingsIf(folded);
    if (things > MOST) {
        say(
            `Unfolded, ${things.toLocaleString("en")} things would be drawn, more than can be laid out soon. Find one of them by its name, or filter.`,
        );
        tell(groupPanel(group));
        return;
    }
    choice.folded = folded;
    const first = members.get(group)?.find((object) => !isHidden(object)) ?? -1;
    await redraw([
        `g${group}`,
        ...(subgroups.get(group) ?? []).map((each) => `g${each}`),
        `o${first}`,
        `c${chain(group)[0]}`,
    ]);
    if (selected) tell();
}

/** @param {number} group */
async function fold(group) {
    choice.folded.add(group);
    for (const object of choice.singled)
        if (chain(data.objects[object].group).includes(group) && object !== selected?.o) choice.singled.delete(object);
    await redraw([`g${group}`, `c${group}`, ...(members.get(group) ?? []).map((object) => `o${object}`)]);
    if (selected) tell();
}

/** Of so few objects, the rules and ports are shown as well. */
const FEW_ENOUGH = 60;
let sectionsBefore = choice.sections;

/** Show nothing but some objects, or everything again. @param {Set<number> | null} objects */
async function showOnly(objects) {
    const things = [...(objects ?? [])].reduce((sum, object) => sum + thingsIn(object), 0);
    if (things > MOST) {
        say(`That is ${things.toLocaleString("en")} things, more than can be laid out soon.`);
        return;
    }
    if (objects && !choice.only) sectionsBefore = choice.sections;
    choice.only = objects;
    choice.sections = objects ? choice.sections || objects.size <= FEW_ENOUGH : sectionsBefore;
    filters();
    await redraw();
    fit();
    if (selected) tell();
}

/*
 * The search box
 */

/** @type {Selected[]} */
let foundNow = [];
let chosen = -1;

function lookUp() {
    foundNow = search(searchBox.value);
    chosen = foundNow.length ? 0 : -1;
    const shown = foundNow.slice(0, 50);
    foundList.replaceChildren(
        ...shown.map((each, place) => {
            const { policy: p, state: s = "" } = data.objects[each.o];
            const section = each.node >= 0 && data.nodes[each.node].section;
            return h(
                "li",
                { role: "option", id: `found-${place}`, mousedown: () => take(each) },
                h("span.kind-word", {}, kindOf(each.o)),
                h("span.name", {}, nameOf(each.o), section && h("span.quiet", {}, ` ${sectionWords(each.node)}`)),
                p && chip(s),
            );
        }),
        ...(foundNow.length > shown.length
            ? [
                  h(
                      "li.quiet",
                      { role: "presentation" },
                      `and ${(foundNow.length - shown.length).toLocaleString("en")} more; type more of the name`,
                  ),
              ]
            : []),
        ...(!foundNow.length && searchBox.value.trim()
            ? [h("li.quiet", { role: "presentation" }, "Nothing is called so")]
            : []),
    );
    foundList.hidden = !searchBox.value.trim();
    searchBox.setAttribute("aria-expanded", `${!foundList.hidden}`);
    choose(chosen);
}

/** @param {number} place */
function choose(place) {
    foundList.querySelector('[aria-selected="true"]')?.removeAttribute("aria-selected");
    chosen = place;
    const option = foundList.querySelector(`#found-${place}`);
    if (!option) {
        searchBox.removeAttribute("aria-activedescendant");
        return;
    }
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    searchBox.setAttribute("aria-activedescendant", option.id);
}

/** @param {Selected} what */
function take(what) {
    isFound = true;
    foundList.hidden = true;
    searchBox.setAttribute("aria-expanded", "false");
    searchBox.blur();
    if (location.hash === permalink(what)) void follow();
    else location.hash = permalink(what);
}

searchBox.addEventListener("input", lookUp);
searchBox.addEventListener("focus", () => {
    searchBox.select();
    lookUp();
});
searchBox.addEventListener("blur", () => {
    foundList.hidden = true;
    searchBox.setAttribute("aria-expanded", "false");
});
searchBox.addEventListener("keydown", (event) => {
    const last = Math.min(foundNow.length, 50) - 1;
    if (event.key === "ArrowDown") choose(Math.min(chosen + 1, last));
    else if (event.key === "ArrowUp") choose(Math.max(chosen - 1, 0));
    else if (event.key === "Enter" && foundNow[chosen]) take(foundNow[chosen]);
    else if (event.key === "Escape") {
        searchBox.value = "";
        lookUp();
        searchBox.blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
});

/*
 * Clicks and keys
 */

drawing.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    const link = target.closest("a");
    const cluster = target.closest("text")?.closest(".cluster");
    const [, group] = /^a_g(\d+)$/.exec(link?.parentElement?.id ?? "") ?? [];
    if (group) {
        event.preventDefault();
        void unfold(Number(group));
    } else if (link && link.getAttribute("href") === location.hash) {
        event.preventDefault();
        void follow();
    } else if (link) isClicked = true;
    else if (cluster) void fold(Number(cluster.id.slice(1)));
});
canvas.addEventListener("click", (event) => {
    if (event.target === canvas || event.target === drawing || event.target === drawn?.svg) clear();
});

document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const from = /** @type {HTMLElement} */ (event.target);
    const isTyping = from instanceof HTMLInputElement && from.type !== "checkbox";
    const isInGraph = drawing.contains(document.activeElement);
    if (event.key === "Escape") clear();
    else if (isTyping) return;
    else if (event.key === "/") searchBox.focus();
    else if (event.key === "+" || event.key === "=") zoomBy(1.3);
    else if (event.key === "-") zoomBy(1 / 1.3);
    else if (event.key === "0") fit(true);
    else if (isInGraph && event.key.startsWith("Arrow")) moveFocus(event.key);
    else if (isInGraph && (event.key === "Enter" || event.key === " ")) {
        document.activeElement?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    } else return;
    event.preventDefault();
});

/*
 * The rest of the page
 */

/** @param {string} words */
function busy(words) {
    element("busy").hidden = !words;
    element("busy").textContent = words;
}

let toastTimer = 0;

/** @param {string} words */
function say(words) {
    const toast = element("toast");
    toast.textContent = visible(words);
    toast.classList.add("shown");
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => toast.classList.remove("shown"), 6_000);
}

/** @param {string} text */
async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        say("Copied.");
    } catch {
        say("The browser does not let this page copy; select the text instead.");
    }
}

element("fit").addEventListener("click", () => fit(true));
element("zoom-in").addEventListener("click", () => zoomBy(1.3));
element("zoom-out").addEventListener("click", () => zoomBy(1 / 1.3));
element("print").addEventListener("click", () => window.print());
element("theme").addEventListener("click", () => {
    const isDark =
        getComputedStyle(document.documentElement).colorScheme === "dark" ||
        (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
});
element("toggle-side").addEventListener("click", () => {
    const isShown = document.body.classList.toggle("without-side");
    element("toggle-side").setAttribute("aria-expanded", `${!isShown}`);
});
element("show-licences").addEventListener("click", () => {
    selected = null;
    tell([
        h("h2", {}, "Licences"),
        h(
            "pre.licences",
            {},
            ...(element("licences").textContent ?? "").split("\n").flatMap((line) => [line, h("br")]),
        ),
    ]);
});
window.addEventListener("hashchange", () => void follow());

/** What tests look at. */
const forTests = {
    data,
    /** The address of what is selected. */
    selected: () => (selected ? permalink(selected) : null),
    /** The addresses of what is lit, in order; of what is lit in folded groups, how many by group. */
    lit: () => ({
        nodes: [...(drawn?.svg.querySelectorAll(".lit:not(.group)") ?? [])]
            .map((each) =>
                permalink(
                    each.id.startsWith("a_n")
                        ? selectedNode(Number(each.id.slice(3)))
                        : selectedObject(Number(each.id.slice(1))),
                ),
            )
            .sort(),
        groups: Object.fromEntries(
            [...(drawn?.svg.querySelectorAll(".lit.group") ?? [])].map((each) => [
                groupNamed(Number(each.id.replace(/^(a_)?g/, ""))),
                each instanceof SVGElement && Number(each.dataset.lit),
            ]),
        ),
    }),
    /** The ids of the boxes that are drawn. */
    visible: () => [...(drawn?.view.boxes.keys() ?? [])],
    /** How long the last drawing took. */
    timing: () => timing,
};
Object.defineProperty(window, "graph", { value: Object.freeze(forTests) });

async function start() {
    if (innerWidth < 1100) element("toggle-side").click();
    element("title").textContent = visible(data.title);
    element("headline").textContent = visible(data.headline);
    foldToBeRead(canvas.clientHeight);
    filters();
    tell();
    await redraw();
    fit();
    await follow();
    document.documentElement.dataset.ready = "";
}
void start();
