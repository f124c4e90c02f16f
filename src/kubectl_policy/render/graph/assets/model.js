// @ts-check
/*
 * What the page knows: the data, what things are called, what is connected to what, and what is found by some words.
 * The page has model.js, view.js, layout.js, drawing.js, elements.js, panel.js, side.js and page.js, in this order.
 */

/**
 * @typedef {[attributes: string, head: string, rows: [row: string, node: number][], foot?: string]} BoxDot
 *   A box in DOT: its attributes, and its label in Graphviz's HTML, of an object with a row for each section.
 * @typedef {{kind: number, namespace: string, name: string, group: number, dot: BoxDot, policy?: boolean,
 *   state?: string, words?: string, origin?: string, mark?: string}} Thing  An object of the hierarchy, or a policy; the
 *   state is that of a policy, or says that an object is not there; the mark is how it differs between two states.
 * @typedef {{object: number, section?: string, title?: string, details?: string, mark?: string,
 *   settingsDiffer?: boolean}} Place  An object, or a section of it: what that is called, and what it says itself.
 * @typedef {[tail: number, head: number, relation: string, state: string, reason: string, message: string,
 *   mark: string]} Link
 * @typedef {[policy: number, node: number | null, state: string, reason: string, message: string]} Attachment
 * @typedef {{label: string, parent: number | null, namespace: string, dot: BoxDot, cluster: string}} Group
 * @typedef {{field: string, value: unknown, source: string, why: string}} Beaten
 * @typedef {{field: string, value: unknown, source: string, origin: string, certain: boolean, removed: boolean,
 *   insteadOf: Beaten[]}} Setting
 * @typedef {{kind: string, own: boolean, summary: string[], policies: number[], passesDown: boolean,
 *   settings: Setting[], withoutEffect: Beaten[], assumed: string[], doubts: string[]}} Outcome
 * @typedef {{paths: number[], inForce: [outcome: number, positions: number[]][]}} Effects
 * @typedef {{value: string, source: string} | null} Side
 * @typedef {{sort: string, kind: string, field: string, before: Side, after: Side, objects: number[],
 *   number: number}} Change
 * @typedef {{headline?: string, changes?: Change[], command?: string}} Deletion
 * @typedef {{affected: number[], elsewhere: number, deletion: Deletion}} Reach
 * @typedef {{title: string, headline: string, grouped: boolean, dot: {graph: string, nodes: string, edges: string},
 *   states: Record<string, string>, unseen: {what: string, reason: string, remedy: string}[],
 *   problems: {severity: string, message: string, where: string, about: string}[],
 *   kinds: string[], objects: Thing[], nodes: Place[], links: Link[], attachments: Attachment[], groups: Group[],
 *   paths: number[][], outcomes: Outcome[], effects: Record<string, Effects>,
 *   reach: Record<string, Reach>}} Data
 */

/** @type {Readonly<Data>} */
const data = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("data")).textContent || "{}");

/** Of each object, the node that it is itself (-1: a policy), and those that are its sections.
 * @type {{node: number, sections: number[]}[]} */
const places = data.objects.map(() => ({ node: -1, sections: [] }));
data.nodes.forEach((place, index) => {
    if (place.section) places[place.object].sections.push(index);
    else places[place.object].node = index;
});
/** Of each node, the links in which it is the tail, and those in which it is the head. */
const below = byEnd(0);
const above = byEnd(1);
/** The attachments of each policy, and to each node, by index. */
const attachmentsOf = grouped(data.attachments, (each) => each[0]);
const attachmentsTo = grouped(data.attachments, (each) => each[1]);
/** What is in each group, by index, and the groups within each. */
const members = grouped([...data.objects.keys()], (index) => data.objects[index].group);
const subgroups = grouped([...data.groups.keys()], (index) => data.groups[index].parent);

/** @param {0 | 1} end @returns {Map<number, Link[]>} */
function byEnd(end) {
    return grouped(data.links, (link) => link[end]);
}

/**
 * @template Value, Key
 * @param {Iterable<Value>} values
 * @param {(value: Value) => Key} keyOf
 * @returns {Map<Key, Value[]>}
 */
function grouped(values, keyOf) {
    const found = new Map();
    for (const value of values) {
        const key = keyOf(value);
        const known = found.get(key);
        if (known) known.push(value);
        else found.set(key, [value]);
    }
    return found;
}

/*
 * Names
 */

/** What can be selected: an object, or one of its sections. @typedef {{o: number, node: number}} Selected */

/** @param {number} object @returns {Selected} */
function selectedObject(object) {
    return { o: object, node: places[object].node };
}

/** @param {number} node @returns {Selected} */
function selectedNode(node) {
    return { o: data.nodes[node].object, node };
}

/** @param {number} object */
function kindOf(object) {
    return data.kinds[data.objects[object].kind];
}

/** `baker/menu` @param {number} object */
function nameOf(object) {
    const { namespace, name } = data.objects[object];
    return namespace ? `${namespace}/${name}` : name;
}

/** `HTTPRoute baker/menu`, and its section. @param {Selected} selected */
function wordsOf({ o, node }) {
    const section = node >= 0 && data.nodes[node].section ? `, ${sectionWords(node)}` : "";
    return `${kindOf(o)} ${nameOf(o)}${section}`;
}

/** `listener https`, `rule cart`, `port 8080` @param {number} node */
function sectionWords(node) {
    return data.nodes[node].title ?? data.nodes[node].section ?? "";
}

/** `#HTTPRoute/baker/menu/cream` @param {Selected} selected */
function permalink({ o, node }) {
    const { namespace, name } = data.objects[o];
    const section = node < 0 ? undefined : data.nodes[node].section;
    const parts = [kindOf(o), namespace, name, ...(section ? [section] : [])];
    return `#${parts.map(inAddress).join("/")}`;
}

/** @param {string} text */
function inAddress(text) {
    return encodeURIComponent(text).replace(/%(5B|5D|3A|2C|40)/g, (code) => decodeURIComponent(code));
}

/** @type {Map<string, Selected>} */
const byPermalink = new Map();
for (const object of data.objects.keys()) byPermalink.set(permalink(selectedObject(object)), selectedObject(object));
for (const node of data.nodes.keys()) byPermalink.set(permalink(selectedNode(node)), selectedNode(node));

/** What an address is about, however it was encoded. @param {string} hash @returns {Selected | undefined} */
function atAddress(hash) {
    try {
        return byPermalink.get(
            `#${hash.replace(/^#/, "").split("/").map(decodeURIComponent).map(inAddress).join("/")}`,
        );
    } catch {
        return undefined; // it is not an encoded text
    }
}

/** A text with all written out that would be obeyed or hidden: control characters, those that turn the direction of
 * writing around, halves of characters. @param {string} text */
function visible(text) {
    return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, (character) => {
        const code = /** @type {number} */ (character.codePointAt(0));
        return `\\u${code > 0xffff ? `{${code.toString(16)}}` : code.toString(16).padStart(4, "0")}`;
    });
}

/** @param {number} number @param {string} noun @param {string} [plural] */
function count(number, noun, plural = `${noun}s`) {
    return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}

/*
 * What is connected
 */

/** The nodes on the paths of an object, or on those that go through a section: what is lit when it is selected.
 * @param {Selected} selected @returns {number[]} */
function pathsThrough({ o, node }) {
    const paths = data.effects[o]?.paths ?? [];
    if (node < 0 || !data.nodes[node].section) return [...paths.keys()];
    return [...paths.keys()].filter((position) => data.paths[paths[position]].includes(node));
}

/** All objects above and below something with the policies on them, or all that a policy has an effect on with what is
 * above that: what `Only what is connected` shows. @param {Selected} selected @returns {Set<number>} */
function connected(selected) {
    const targets = (attachmentsOf.get(selected.o) ?? []).flatMap(([, node]) => (node === null ? [] : [node]));
    const starts = selected.node < 0 ? [...targets, ...data.reach[selected.o].affected] : [selected.node];
    const reached = [...walk(starts, true), ...(selected.node < 0 ? [] : walk(starts, false))];
    for (const position of pathsThrough(selected))
        reached.push(...data.paths[data.effects[selected.o].paths[position]]);
    /** @type {Set<number>} */
    const found = new Set([selected.o]);
    for (const node of reached) {
        found.add(data.nodes[node].object);
        for (const [policy] of attachmentsTo.get(node) ?? []) found.add(policy);
    }
    return found;
}

/** @param {number[]} starts @param {boolean} up @returns {Set<number>} */
function walk(starts, up) {
    const reached = new Set(starts);
    for (const node of reached) {
        const links = (up ? above : below).get(node) ?? [];
        for (const link of links) reached.add(link[up ? 0 : 1]);
        const { node: whole, sections } = places[data.nodes[node].object];
        // Down from an object into its sections, up from a section to its object; a start is both.
        if (node === whole && (!up || starts.includes(node))) for (const section of sections) reached.add(section);
        if (node !== whole && up) reached.add(whole);
    }
    return reached;
}

/*
 * Search
 */

/** @type {{selected: Selected, name: string, all: string}[] | undefined} */
let searchable;

/** What has all the words somewhere, best first: what is called so, then what begins so; from the root downward.
 * @param {string} words @returns {Selected[]} */
function search(words) {
    searchable ??= [
        ...[...data.objects.keys()].map(selectedObject),
        ...[...data.nodes.keys()].map(selectedNode).filter(({ node }) => data.nodes[node].section),
    ].map((selected) => {
        const thing = data.objects[selected.o];
        const place = data.nodes[selected.node];
        const name = (place?.section || thing.name).toLowerCase();
        return {
            selected,
            name,
            all: [wordsOf(selected), thing.words, thing.state, thing.origin, place?.details].join(" ").toLowerCase(),
        };
    });
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    if (!wanted.length) return [];
    const last = wanted[wanted.length - 1];
    return searchable
        .filter(({ all }) => wanted.every((word) => all.includes(word)))
        .map(({ selected, name }) => {
            const near = name === last ? 0 : name.startsWith(last) ? 1 : name.includes(last) ? 2 : 3;
            return { selected, rank: 2 * near + (data.nodes[selected.node]?.section ? 1 : 0) };
        })
        .sort((one, other) => one.rank - other.rank)
        .map(({ selected }) => selected);
}
