// @ts-check
/*
 * What panels and lists are made of. All that is told is text, never markup.
 */

/** So many things of a list are shown at first. */
const AT_FIRST = 12;

/** @typedef {Node | string | false | null | undefined} Child */

/** An element. @param {string} tag `name.class` @param {Record<string, string | (() => void)>} attributes
 * @param {...Child} children */
function h(tag, attributes = {}, ...children) {
    const [name, ...classes] = tag.split(".");
    const made = document.createElement(name);
    if (classes.length) made.className = classes.join(" ");
    for (const [key, value] of Object.entries(attributes)) {
        if (typeof value === "function") made.addEventListener(key, value);
        else made.setAttribute(key, value);
    }
    for (const child of children) if (child) made.append(typeof child === "string" ? visible(child) : child);
    return made;
}

/** A button. @param {string} words @param {() => void} act @param {Record<string, string>} attributes */
function button(words, act, attributes = {}) {
    return h("button", { type: "button", ...attributes, click: act }, words);
}

/** @param {Selected} selected @param {string} [words] */
function linkTo(selected, words = wordsOf(selected)) {
    return h("a", { href: permalink(selected) }, words);
}

/** A list whose end is behind a button. @param {string} tag @param {Child[]} items */
function list(tag, items) {
    const shown = items.slice(0, items.length > AT_FIRST + 3 ? AT_FIRST : items.length);
    const rest = items.slice(shown.length);
    const made = h(tag, {}, ...shown.map((item) => h("li", {}, item)));
    if (rest.length) {
        const more = button(`Show ${rest.length.toLocaleString("en")} more`, () => {
            more.remove();
            made.append(...rest.splice(0, 500).map((item) => h("li", {}, item)));
            if (rest.length) made.after(more);
        });
        more.className = "more";
        return h("div", {}, made, more);
    }
    return made;
}

/** @param {string} heading @param {...Child} content */
function part(heading, ...content) {
    return h("section", {}, h("h3", {}, heading), ...content);
}

/** The state of a policy: its shape and its words. @param {string} state */
function chip(state) {
    return h(`span.chip.${state}`, {}, icon(STATE_SHAPES[state]), data.states[state] ?? state);
}

/** In which shape Graphviz draws a policy in a state. @type {Record<string, string>} */
const STATE_SHAPES = {
    Enforced: "note",
    PartiallyEnforced: "tab",
    Overridden: "folder",
    Conflicted: "octagon",
    TargetNotFound: "hexagon",
    NotPermitted: "hexagon",
    Invalid: "hexagon",
    NoEffect: "ellipse",
    Unknown: "ellipse",
};
/** The shapes of Graphviz, in small. @type {Record<string, string>} */
const SHAPES = {
    note: "M1 2h14l4 4v8H1zM15 2v4h4",
    tab: "M1 4V1h7v3h11v10H1zM1 4h7",
    folder: "M1 14V4h10l1-3h6l1 3v10z",
    octagon: "M6 1h8l5 4v6l-5 4H6l-5-4V5z",
    hexagon: "M5 1h10l4 7-4 7H5L1 8z",
    ellipse: "M1 8a9 6 0 0 1 18 0a9 6 0 0 1-18 0z",
    box3d: "M1 4h15v10H1zM1 4l3-3h15v10l-3 3M16 4l3-3",
    box: "M1 2h18v12H1z",
    table: "M1 1h18v14H1zM1 6h18M1 10.500h18",
};

/** @param {string} shape @param {string} [name] */
function icon(shape, name = "icon") {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    svg.setAttribute("viewBox", "0 0 20 16");
    svg.setAttribute("class", name);
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", SHAPES[shape] ?? SHAPES.box);
    svg.append(path);
    return svg;
}

/** @param {string | undefined} mark */
function markChip(mark) {
    return mark ? h(`span.chip.mark.${mark}`, {}, mark) : null;
}
