// @ts-check
/*
 * The drawing: the SVG that Graphviz makes, put into the page without anything that could act; panning and zooming it,
 * what is lit and dimmed in it, and moving around in it by keyboard.
 */

const canvas = element("canvas");
const drawing = element("drawing");
/** Below this scale nobody can read the boxes; then namespaces alone are labelled. */
const READABLE = 0.4;

/** What is drawn now. @type {{view: View, svg: SVGSVGElement, width: number, height: number} | undefined} */
let drawn;
/** @type {{selected: Key | null, lit: Set<Key>, near: Set<Key>}} */
let marked = { selected: null, lit: new Set(), near: new Set() };

/** @param {string} id @returns {HTMLElement} */
function element(id) {
    return /** @type {HTMLElement} */ (document.getElementById(id));
}

/*
 * From DOT to elements
 */

/** Draw what is chosen. If all was in view, all is again; else one of some elements stays where it is on the screen.
 * @param {string[]} [anchors] ids of elements, of which those that are there before and after are compared
 * @returns {Promise<boolean>} whether that is drawn now: another drawing may have come first */
async function draw(anchors = []) {
    const view = viewOfChoice();
    if (!view.boxes.size) {
        drawn = undefined;
        drawing.replaceChildren();
        say(
            data.objects.length ? "Nothing is left to show: the filters hide everything." : "There is nothing to show.",
        );
        return true;
    }
    const began = performance.now();
    const late = setTimeout(() => busy(`Laying out ${count(view.boxes.size, "box", "boxes")} …`), 250);
    try {
        const text = await laidOut(dotOf(view, canvas.clientWidth, canvas.clientHeight));
        const svg = safeSvg(text);
        const wasInView = isAllInView();
        const before = anchors.map(onScreen).find(Boolean);
        show(view, svg);
        const after = anchors.map(onScreen).find(Boolean);
        if (wasInView) fit();
        else if (before && after) panBy(before.x - after.x, before.y - after.y);
        timing = { boxes: view.boxes.size, milliseconds: Math.round(performance.now() - began) };
        return true;
    } catch (error) {
        if (error instanceof Superseded) return false;
        say(`This could not be drawn: ${error instanceof Error ? error.message : error}`);
        return false;
    } finally {
        clearTimeout(late);
        if (!waiting) busy("");
    }
}
let timing = { boxes: 0, milliseconds: 0 };

/** The picture in a text, without scripts, foreign content, handlers, styles, and links to anything but this page.
 * @param {string} text @returns {SVGSVGElement} */
function safeSvg(text) {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    if (parsed.documentElement.localName !== "svg") throw new Error("the layout is no picture");
    const svg = /** @type {SVGSVGElement} */ (
        /** @type {unknown} */ (document.importNode(parsed.documentElement, true))
    );
    const known = new Set(["svg", "g", "title", "polygon", "polyline", "path", "ellipse", "text", "a"]);
    for (const each of [...svg.querySelectorAll("*")]) {
        if (!known.has(each.localName)) each.remove();
        for (const { name } of [...each.attributes]) {
            if (/^on|^style$|href$|^xlink:/i.test(name)) each.removeAttribute(name);
        }
    }
    return svg;
}

/** @param {View} view @param {SVGSVGElement} svg */
function show(view, svg) {
    const { width, height } = svg.viewBox.baseVal;
    svg.setAttribute("width", `${width}`);
    svg.setAttribute("height", `${height}`);
    for (const title of svg.querySelectorAll("title")) title.remove();
    for (const link of svg.querySelectorAll("a")) {
        // Graphviz calls it so: a_n3 is the node 3, or what of its box is its own; a_o3 a policy, a_g3 a group.
        const group = /** @type {Element} */ (link.parentElement);
        const [, sort, digits] = /^a_([nog])(\d+)$/.exec(group.id) ?? [];
        const index = Number(digits);
        if (sort === "g") {
            const box = /** @type {Box} */ (view.boxes.get(`g${index}`));
            group.classList.add("group");
            if (view.stackOf.has(box.id)) group.classList.add("row");
            link.setAttribute("role", "button");
            named(link, `${groupWords(box)}, folded: unfold`);
        } else {
            const selected = sort === "n" ? selectedNode(index) : selectedObject(index);
            link.setAttribute("href", permalink(selected));
            link.setAttribute("role", "link");
            if (sort === "n" && data.nodes[index].section) group.classList.add("row");
            named(link, wordsAbout(selected));
        }
        link.setAttribute("tabindex", "-1");
    }
    view.arrows.forEach((arrow, index) => {
        const path = svg.querySelector(`#e${index}`);
        if (path) tooltip(path, arrowWords(arrow));
    });
    colours(svg);
    fitLetters(svg);
    const focused = drawing.contains(document.activeElement) ? document.activeElement?.parentElement?.id : "";
    drawing.replaceChildren(svg);
    drawn = { view, svg, width, height };
    limitZoom();
    mark(marked);
    const entry = (focused && svg.querySelector(`#${focused} > a`)) || svg.querySelector(".node a");
    entry?.setAttribute("tabindex", "0");
    if (focused && entry instanceof SVGElement) entry.focus({ preventScroll: true });
}

/** @param {Element} element @param {string} words */
function named(element, words) {
    element.setAttribute("aria-label", visible(words));
    tooltip(element, words);
}

/** @param {Element} element @param {string} words */
function tooltip(element, words) {
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = words.split("\n").map(visible).join("\n");
    element.prepend(title);
}

/** Everything about something in one line, for those who do not see it. @param {Selected} selected */
function wordsAbout(selected) {
    const { policy: p, state: s = "", words: w, mark: x } = data.objects[selected.o];
    const { section, details: d, mark: m } = data.nodes[selected.node] ?? {};
    const state = p ? w || data.states[s] : section ? "" : s;
    return [wordsOf(selected), state, d, section ? m : x].filter(Boolean).join(" · ");
}

/** @param {Box} box */
function groupWords({ group, number }) {
    return `${number < sizeOf(group) ? `${number} of ` : ""}${groupNamed(group)}`;
}

/** @param {number} group */
function groupNamed(group) {
    const { label, namespace } = data.groups[group];
    return `${label}${namespace ? ` in namespace ${namespace}` : ""}`;
}

/** @param {Arrow} arrow */
function arrowWords({ sort, state, reason, pairs }) {
    const verb = sort === "policy" ? "targets" : "→";
    const told = pairs.slice(0, 8).map(([tail, head, message]) => {
        const why = state === "attached" ? "" : `: ${[state, reason, message].filter(Boolean).join(", ")}`;
        return `${wordsOf(keyed(tail))} ${verb} ${wordsOf(keyed(head))}${why}`;
    });
    return [...told, ...(pairs.length > 8 ? [`and ${(pairs.length - 8).toLocaleString("en")} more`] : [])].join("\n");
}

/*
 * Letters: Graphviz lays out those of Helvetica, which has the widths of Arial. Where there is neither, others are wider.
 */

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
/** How wide these are in Helvetica, in sizes of the font. */
const WIDTHS = { normal: 18.286, bold: 19.563 };
/** @type {Map<string, number>} */
const shrinking = new Map();

/** @param {SVGSVGElement} svg */
function fitLetters(svg) {
    for (const text of svg.querySelectorAll("text")) {
        const weight = text.getAttribute("font-weight") === "bold" ? "bold" : "normal";
        const factor = shrinking.get(weight) ?? shrink(weight);
        shrinking.set(weight, factor);
        if (factor < 1) text.setAttribute("font-size", `${factor * Number(text.getAttribute("font-size"))}`);
    }
}

/** @param {"normal" | "bold"} weight */
function shrink(weight) {
    const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    context.font = `${weight} 100px Helvetica, Arial, sans-serif`;
    return Math.min(1, (100 * WIDTHS[weight]) / context.measureText(LETTERS).width + 0.005);
}

/*
 * Colours: those of the picture in the light, and what becomes of them in the dark
 */

const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [sheet];
/** @type {Set<string>} */
const coloured = new Set();
/** @type {Record<string, string>} */
const IN_THE_DARK = {
    "#ffffff": "#1e293b",
    white: "#1e293b",
    black: "#e2e8f0",
    "#1e293b": "#e2e8f0",
    "#64748b": "#94a3b8",
    "#cbd5e1": "#33415a",
    "#e2e8f0": "#334155",
    "#f1f5f9": "#233047",
    "#f8fafc": "#131c2e",
    "#b91c1c": "#f87171",
    "#15803d": "#6ee79a",
    "#b45309": "#f0b13c",
    "#fef3c7": "#4a3a12",
    "#fef9c3": "#454012",
    "#fee2e2": "#571f28",
    "#dbeafe": "#20396b",
    "#dcfce7": "#17482f",
    "#ede9fe": "#382f66",
};

/** @param {SVGSVGElement} svg */
function colours(svg) {
    for (const name of /** @type {const} */ (["fill", "stroke"])) {
        for (const each of svg.querySelectorAll(`[${name}]`)) {
            const colour = each.getAttribute(name) ?? "";
            const dark = IN_THE_DARK[colour] ?? darkened(colour);
            if (!dark || coloured.has(name + colour)) continue;
            coloured.add(name + colour);
            sheet.insertRule(`#drawing [${name}="${colour}"] { ${name}: light-dark(${colour}, ${dark}) }`);
        }
    }
}

/** A colour with its lightness turned around, as the eye sees it (Oklab). @param {string} colour */
function darkened(colour) {
    const [, ...digits] = /^#(..)(..)(..)$/.exec(colour) ?? [];
    if (!digits.length) return undefined;
    const [r, g, b] = digits.map((two) => (parseInt(two, 16) / 255) ** 2.2);
    const [l, m, s] = [
        0.4122 * r + 0.5363 * g + 0.0514 * b,
        0.2119 * r + 0.6807 * g + 0.1074 * b,
        0.0883 * r + 0.2817 * g + 0.63 * b,
    ].map(Math.cbrt);
    const lightness = 0.2105 * l + 0.7936 * m - 0.0041 * s;
    const towardsRed = 1.978 * l - 2.4286 * m + 0.4506 * s;
    const towardsYellow = 0.0259 * l + 0.7828 * m - 0.8087 * s;
    const strength = lightness > 0.9 ? 1.7 : 1; // what is pale would be grey
    return `oklab(${(1.16 - 0.86 * lightness).toFixed(3)} ${(towardsRed * strength).toFixed(3)} ${(towardsYellow * strength).toFixed(3)})`;
}

/*
 * Panning and zooming
 */

// @ts-expect-error - zoom.js leaves it behind
const { zoom, zoomIdentity, select } = globalThis.d3;
const zooming = zoom()
    .clickDistance(4)
    .on("start", () => drawing.classList.add("moving"))
    .on("zoom", (/** @type {{transform: {x: number, y: number, k: number}}} */ { transform }) => {
        const { x, y, k } = transform;
        drawing.style.transform = `translate(${x}px, ${y}px) scale(${k})`;
        drawing.classList.toggle("far", k < READABLE);
    })
    .on("end", (/** @type {{transform: {k: number}}} */ { transform }) => {
        drawing.classList.remove("moving");
        drawing.style.setProperty("--k", `${transform.k}`);
    });
const pannable = select(canvas).call(zooming).on("dblclick.zoom", null);

/** @returns {{x: number, y: number, k: number}} */
function transform() {
    // @ts-expect-error - d3 keeps it there
    return canvas.__zoom;
}

/** @param {number} x @param {number} y @param {number} k @param {boolean} [slowly] */
function panTo(x, y, k, slowly = false) {
    const still = !slowly || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const moving = still ? pannable.interrupt() : pannable.transition().duration(350);
    moving.call(zooming.transform, zoomIdentity.translate(x, y).scale(k));
}

/** @param {number} dx @param {number} dy */
function panBy(dx, dy) {
    const { x, y, k } = transform();
    panTo(x + dx, y + dy, k);
}

/** @param {number} factor */
function zoomBy(factor) {
    pannable.transition().duration(150).call(zooming.scaleBy, factor);
}

function limitZoom() {
    if (!drawn) return;
    const { width, height } = drawn;
    const smallest = Math.min(canvas.clientWidth / width, canvas.clientHeight / height, 1);
    zooming.scaleExtent([smallest * 0.8, 4]).translateExtent([
        [-width - 400, -height - 400],
        [2 * width + 400, 2 * height + 400],
    ]);
}

/** All of it, no larger than is comfortable. @param {boolean} [slowly] */
function fit(slowly = false) {
    if (!drawn) return;
    const { width, height } = drawn;
    const { clientWidth, clientHeight } = canvas;
    const k = Math.min((clientWidth - 24) / width, (clientHeight - 24) / height, 1.35);
    panTo((clientWidth - k * width) / 2, (clientHeight - k * height) / 2, k, slowly);
}

/** Whether nothing of the drawing is outside, as when somebody has not yet zoomed in. */
function isAllInView() {
    if (!drawn) return true;
    const { left, top, right, bottom } = drawn.svg.getBoundingClientRect();
    const around = canvas.getBoundingClientRect();
    return left >= around.left - 1 && top >= around.top - 1 && right <= around.right + 1 && bottom <= around.bottom + 1;
}

/** Bring what is called for into the middle, if it is not in view. @param {Key} key */
function bringIntoView(key) {
    const found = elementOf(key)?.getBoundingClientRect();
    if (!found) return;
    const around = canvas.getBoundingClientRect();
    const { x, y, k } = transform();
    const isInside =
        found.left > around.left &&
        found.right < around.right &&
        found.top > around.top &&
        found.bottom < around.bottom;
    if (isInside && k >= READABLE) return;
    const to = Math.max(k, 0.8);
    const middleX = (found.left + found.right) / 2 - around.left;
    const middleY = (found.top + found.bottom) / 2 - around.top;
    panTo(around.width / 2 - ((middleX - x) / k) * to, around.height / 2 - ((middleY - y) / k) * to, to, true);
}

/** @param {string} id @returns {{x: number, y: number} | undefined} */
function onScreen(id) {
    const found = boxElement(id)?.getBoundingClientRect();
    return found && { x: found.left + found.width / 2, y: found.top + found.height / 2 };
}

/*
 * What is lit
 */

/** Where something is drawn: its row, its box, or the box of the group that it is folded into. @param {Key} key */
function elementOf(key) {
    if (!drawn) return null;
    const { o, node } = keyed(key);
    const box = drawn.view.boxOf[o];
    if (!box) return null;
    const isRow = node >= 0 && data.nodes[node].section && box.startsWith("o");
    const row = isRow ? drawn.svg.querySelector(`#a_n${node}`) : null;
    return row ?? boxElement(box);
}

/** A box, or the cell of a stack. @param {string} box */
function boxElement(box) {
    return drawn?.svg.querySelector(`#${box}`) ?? drawn?.svg.querySelector(`#a_${box}`) ?? null;
}

/** Show what is selected, light some things, leave what is near as it is, and dim the rest.
 * @param {{selected: Key | null, lit: Set<Key>, near: Set<Key>}} what */
function mark(what) {
    marked = what;
    if (!drawn) return;
    const { svg, view } = drawn;
    for (const each of svg.querySelectorAll(".lit, .near, .sel, .part, .on")) {
        each.classList.remove("lit", "near", "sel", "part", "on");
    }
    for (const each of svg.querySelectorAll(".badge")) each.remove();
    const { selected, lit, near } = what;
    svg.classList.toggle("focused", selected !== null);
    /** @type {Map<Element, number>} */
    const inGroups = new Map();
    for (const [keys, name] of /** @type {const} */ ([
        [near, "near"],
        [lit, "lit"],
        [new Set(selected === null ? [] : [selected]), "sel"],
    ])) {
        for (const key of keys) {
            const found = elementOf(key);
            if (!found) continue;
            found.classList.add(name);
            found.closest(".node")?.classList.add("part");
            if (name === "lit" && found.classList.contains("group"))
                inGroups.set(found, (inGroups.get(found) ?? 0) + 1);
        }
    }
    for (const [group, number] of inGroups) badge(group, number);
    const all = new Set([...near, ...lit, ...(selected === null ? [] : [selected])]);
    /** @param {Key} key */
    const isOn = (key) => all.has(key) || (key >= 0 && all.has(places[data.nodes[key].object].node));
    view.arrows.forEach(({ pairs }, index) => {
        if (pairs.some(([tail, head]) => isOn(tail) && isOn(head)))
            svg.querySelector(`#e${index}`)?.classList.add("on");
    });
}

/** How many things are lit in a box that stands for several. @param {Element} group @param {number} number */
function badge(group, number) {
    const { x, y, width } = /** @type {SVGGElement} */ (group).getBBox();
    const words = number.toLocaleString("en");
    const half = 5 + 3.3 * words.length;
    const [made, pill, text] = ["g", "rect", "text"].map((name) =>
        document.createElementNS("http://www.w3.org/2000/svg", name),
    );
    made.setAttribute("class", "badge");
    const places = { x: x + width - half, y: y - 8, width: 2 * half, height: 16, rx: 8 };
    for (const [name, value] of Object.entries(places)) pill.setAttribute(name, `${value}`);
    text.setAttribute("x", `${x + width}`);
    text.setAttribute("y", `${y + 4}`);
    text.setAttribute("text-anchor", "middle");
    text.textContent = words;
    tooltip(made, `${words} affected`);
    made.append(pill, text);
    /** @type {SVGGElement} */ (group).dataset.lit = `${number}`;
    drawn?.svg.firstElementChild?.append(made); // after all else, which would hide it
}

/*
 * Moving around
 */

/** Go from what has the focus to what is next in a direction. @param {string} key */
function moveFocus(key) {
    const from = document.activeElement?.closest("#drawing a");
    if (!drawn || !from) return;
    const { svg, view } = drawn;
    const here = from.getBoundingClientRect();
    /** @type {Element[]} */
    let candidates;
    if (key === "ArrowRight" || key === "ArrowLeft") {
        const cell = from.parentElement?.id ?? "";
        const stack = view.stackOf.get(cell.slice(2));
        const box = stack ?? from.closest(".node")?.id ?? "";
        const node = Number(cell.replace(/^a_n/, ""));
        const ends = view.arrows.map(({ tail, head }) => (key === "ArrowRight" ? [tail, head] : [head, tail]));
        const exact = ends.filter(([end]) => end === `${box}${portOf(node)}`);
        const chosen = exact.length ? exact : ends.filter(([end]) => end.split(":")[0] === box);
        candidates = chosen.map(([, end]) => atEnd(end)).filter((found) => found !== null);
    } else {
        candidates = [...svg.querySelectorAll(".node a")].filter((each) => {
            const { left, right, top } = each.getBoundingClientRect();
            const isBeside = left < here.right && right > here.left;
            return each !== from && isBeside && (key === "ArrowDown" ? top > here.top : top < here.top);
        });
    }
    const next = candidates.sort((one, other) => distance(one, here) - distance(other, here))[0];
    if (next) focusOn(/** @type {SVGElement} */ (next));
}

/** @param {string} end `o1:p2` @returns {Element | null} */
function atEnd(end) {
    const [box, port] = end.split(":");
    const row = port ? data.objects[Number(box.slice(1))].dot[2][Number(port.slice(1))] : undefined;
    return drawn?.svg.querySelector(row ? `#a_n${row[1]} > a` : `#${box} a, #a_${box} > a`) ?? null;
}

/** @param {Element} element @param {DOMRect} here */
function distance(element, here) {
    const { left, top } = element.getBoundingClientRect();
    return Math.hypot(left - here.left, 3 * (top - here.top));
}

/** Tab leads into the graph once, to where somebody was. @param {SVGElement} link */
function focusOn(link) {
    for (const each of drawing.querySelectorAll('[tabindex="0"]')) each.setAttribute("tabindex", "-1");
    link.setAttribute("tabindex", "0");
    link.focus({ preventScroll: true });
    const found = link.getBoundingClientRect();
    const around = canvas.getBoundingClientRect();
    const dx = Math.max(0, around.left + 20 - found.left) - Math.max(0, found.right - around.right + 20);
    const dy = Math.max(0, around.top + 20 - found.top) - Math.max(0, found.bottom - around.bottom + 20);
    if (dx || dy) panBy(dx, dy);
}
