// @ts-check
/*
 * What is shown: what is filtered out or folded, and from that the boxes and arrows, and their DOT.
 */

/** So many boxes, and rows in them, are laid out in a few seconds; more are not drawn at once. */
const MOST = 2_000;
const INK = "#1e293b";
const FAINT = "#64748b";
const RED = "#b91c1c";
const GREEN = "#15803d";
const AMBER = "#b45309";
/** What a picture of two states marks. @type {Record<string, string>} */
const MARK_COLOURS = { added: GREEN, removed: RED, changed: AMBER };
/** States of links and references of which nobody can know more. */
const UNSURE = new Set(["unknown", "target unknown", "not computed"]);
/** The kinds whose sections are drawn in any case: policies on listeners are about all that is behind these. */
const WITH_LISTENERS = /^(Gateway|X?ListenerSet)\b/;

/** What somebody chose to see. `only`: nothing but these objects. `singled` are drawn themselves in a folded group. */
const choice = {
    sections: true,
    /** @type {Set<number>} */ hiddenKinds: new Set(),
    /** @type {Set<string>} */ hiddenNamespaces: new Set(),
    /** @type {Set<string>} */ hiddenStates: new Set(),
    /** @type {Set<number>} */ folded: new Set(),
    /** @type {Set<number>} */ singled: new Set(),
    /** @type {Set<number> | null} */ only: null,
};

/** What is lit or dimmed as one: a node, or a policy (`~` its object). @typedef {number} Key */
/** @typedef {{id: string, object: number, group: number, number: number, cluster: number}} Box
 *   Drawn as one: an object, or `number` objects of a group (the other one is -1), in the cluster of a namespace. */
/** @typedef {{tail: string, head: string, sort: "traffic" | "policy", state: string, reason: string, mark: string,
 *   pairs: [tail: Key, head: Key, message: string][]}} Arrow */
/** @typedef {{boxes: Map<string, Box>, arrows: Arrow[], boxOf: (string | null)[], stackOf: Map<string, string>}} View
 *   What is drawn: boxes by their ids, arrows, the box of each object, and the stacks that some boxes are in. */

/** @param {Selected} selected @returns {Key} */
function keyOf({ o, node }) {
    return node < 0 ? ~o : node;
}

/** @param {Key} key @returns {Selected} */
function keyed(key) {
    return key < 0 ? selectedObject(~key) : selectedNode(key);
}

/** The namespace that something is shown in. @param {number} object */
function namespaceOf(object) {
    return data.groups[data.objects[object].group].namespace;
}

/** @param {number} object */
function isHidden(object) {
    const { kind: k, policy: p, state: s } = data.objects[object];
    return (
        choice.hiddenKinds.has(k) ||
        choice.hiddenNamespaces.has(namespaceOf(object)) ||
        Boolean(p && choice.hiddenStates.has(s ?? ""))
    );
}

/** A group and those around it, the outermost first. @param {number | null} group @returns {number[]} */
function chain(group) {
    return group === null ? [] : [...chain(data.groups[group].parent), group];
}

/** The group that stands for an object, or -1 if it is drawn itself. @param {number} object @param {Set<number>} [folded] */
function foldedInto(object, folded = choice.folded) {
    if (choice.only || choice.singled.has(object)) return -1;
    const { group: g } = data.objects[object];
    const { parent } = data.groups[g];
    return parent !== null && folded.has(parent) ? parent : folded.has(g) ? g : -1;
}

/** Whether the sections of an object are drawn if it is. @param {number} object */
function showsSections(object) {
    return choice.sections || WITH_LISTENERS.test(kindOf(object));
}

/** What is visible now. @returns {View} */
function viewOfChoice() {
    /** @type {Map<string, Box>} */
    const boxes = new Map();
    const boxOf = data.objects.map((thing, object) => {
        if (isHidden(object) || (choice.only && !choice.only.has(object))) return null;
        const group = foldedInto(object);
        const id = group < 0 ? `o${object}` : `g${group}`;
        const known = boxes.get(id);
        if (known) known.number += 1;
        else {
            const outermost = chain(thing.group)[0];
            const isAlone = outermost === group || !data.groups[outermost].namespace || !data.grouped;
            const cluster = isAlone ? -1 : outermost;
            boxes.set(id, { id, object: group < 0 ? object : -1, group, number: 1, cluster });
        }
        return id;
    });
    const arrows = together(arrowsBetween(boxOf), new Map());
    const stackOf = stacks(boxes, arrows);
    return { boxes, arrows: together(arrows, stackOf), boxOf, stackOf };
}

/** Namespaces that are folded and to which the same arrows lead are stacked: one below the other, they would be a column
 * of which nobody sees both ends. @param {Map<string, Box>} boxes @param {Arrow[]} arrows */
function stacks(boxes, arrows) {
    /** @type {Map<string, Set<string>>} */
    const ends = new Map();
    for (const { id, group } of boxes.values())
        if (group >= 0 && data.groups[group].parent === null) ends.set(id, new Set());
    for (const { tail, head, ...how } of arrows) {
        const words = Object.values({ ...how, pairs: "" }).join();
        ends.get(head)?.add(`from ${tail.split(":")[0]} ${words}`);
        ends.get(tail)?.add(`to ${head.split(":")[0]} ${words}`);
    }
    /** @type {Map<string, string>} */
    const found = new Map();
    for (const inside of grouped(ends, ([, each]) => [...each].sort().join("\n")).values()) {
        if (inside.length > 1) for (const [id] of inside) found.set(id, `s${inside[0][0]}`);
    }
    return found;
}

/** @param {Arrow[]} arrows @param {Map<string, string>} stackOf @returns {Arrow[]} */
function together(arrows, stackOf) {
    /** @type {Map<string, Arrow>} */
    const found = new Map();
    for (const arrow of arrows) {
        const [tail, head] = [arrow.tail, arrow.head].map((end) => stackOf.get(end) ?? end);
        const key = [tail, head, arrow.sort, arrow.state, arrow.reason, arrow.mark].join("\n");
        const known = found.get(key);
        if (known) known.pairs.push(...arrow.pairs);
        else found.set(key, { ...arrow, tail, head, pairs: [...arrow.pairs] });
    }
    return [...found.values()].filter(({ tail, head }) => tail !== head);
}
/** @param {(string | null)[]} boxOf @returns {Arrow[]} */
function arrowsBetween(boxOf) {
    /** @type {Arrow[]} */
    const found = [];
    /** @param {string | null} tail @param {string | null} head @param {Omit<Arrow, "tail" | "head">} how */
    const add = (tail, head, how) => {
        if (tail && head && tail.split(":")[0] !== head.split(":")[0]) found.push({ tail, head, ...how });
    };
    /** @param {number} node */
    const end = (node) => {
        const { object: o, section: s } = data.nodes[node];
        const box = boxOf[o];
        return box && s && box.startsWith("o") && showsSections(o) ? `${box}${portOf(node)}` : box;
    };
    for (const [tail, head, , state, reason, message, mark] of data.links) {
        add(end(tail), end(head), { sort: "traffic", state, reason, mark, pairs: [[tail, head, message]] });
    }
    for (const [policy, node, state, reason, message] of data.attachments) {
        if (node === null) continue;
        const { mark: x = "" } = data.objects[policy];
        const mark = x === "changed" ? "" : x;
        add(boxOf[policy], end(node), { sort: "policy", state, reason, mark, pairs: [[~policy, node, message]] });
    }
    return found;
}

/** Where the rows of sections are, by their nodes. @type {Map<number, string>} */
const ports = new Map(
    data.objects.flatMap(({ dot: [, , rows] }) => rows.map(([, node], place) => [node, `:p${place}`])),
);

/** `:p3` @param {number} node */
function portOf(node) {
    return ports.get(node) ?? "";
}

/** How many boxes and rows there would be if groups were folded in another way. @param {Set<number>} folded */
function thingsIf(folded) {
    const groups = new Set();
    let number = 0;
    for (const object of data.objects.keys()) {
        if (isHidden(object)) continue;
        const group = foldedInto(object, folded);
        if (group >= 0) groups.add(group);
        else number += thingsIn(object);
    }
    return number + groups.size;
}

/** A box and its rows. @param {number} object */
function thingsIn(object) {
    return 1 + (showsSections(object) ? data.objects[object].dot[2].length : 0);
}

/** Fold as little as it takes to have all of it in view, and be read: sections first, then what is of a kind in a
 * namespace, then namespaces. @param {number} height of where it is seen */
function foldToBeRead(height) {
    const groups = [...data.groups.keys()].filter((group) => sizeOf(group) >= FEW);
    const gateways = new Set([...data.groups.keys()].filter(areGateways).map((group) => data.groups[group].parent));
    const kinds = groups.filter(
        (group) => data.groups[group].parent !== null && !(areGateways(group) && sizeOf(group) <= 8),
    );
    const namespaces = groups.filter(
        (group) => data.groups[group].parent === null && data.groups[group].namespace && !gateways.has(group),
    );
    /** @type {[boolean, number[]][]} */
    const ways = [
        [true, []],
        [false, []],
        [false, kinds],
        [false, [...kinds, ...namespaces]],
    ];
    for (const [sections, folded] of ways) {
        choice.sections = sections;
        choice.folded = new Set(folded);
        if (heightOf(viewOfChoice()) * COMFORTABLE < height) break;
    }
}

/** @param {number} group */
function areGateways(group) {
    return WITH_LISTENERS.test(kindOf(insideOf(group)[0])) && data.groups[group].parent !== null;
}

/** To fold so few objects of a kind hides more than it clears up. */
const FEW = 3;
/** The smallest scale at which a picture is shown without being asked for, if that can be done. */
const COMFORTABLE = 0.5;

/** How high a picture will be, roughly: in each namespace, what there is most of is one column. @param {View} view */
function heightOf(view) {
    const [high, row, frame] = [52, 22, 60];
    let all = 0;
    for (const inside of grouped(view.boxes.values(), ({ cluster, id }) => (cluster < 0 ? id : cluster)).values()) {
        const columns = grouped(
            inside,
            ({ object, group }) => data.objects[object < 0 ? insideOf(group)[0] : object].kind,
        );
        const heights = [...columns.values()].map((boxes) =>
            boxes.reduce((sum, { object }) => sum + high + (object < 0 ? 0 : row * (thingsIn(object) - 1)), 0),
        );
        all += Math.max(...heights) + frame;
    }
    return all;
}

/** How many objects are in a group. @param {number} group @returns {number} */
function sizeOf(group) {
    return insideOf(group).length;
}

/** The objects in a group, and in those within it. @param {number} group @returns {number[]} */
function insideOf(group) {
    return [...(members.get(group) ?? []), ...(subgroups.get(group) ?? []).flatMap(insideOf)];
}

/*
 * DOT
 */

/** Compiled for browsers, Graphviz knows how wide the letters of this one are; of a list of fonts it knows nothing. */
const FONT = 'fontname="Arial"';

/** @param {View} view @param {number} width @param {number} height of where it is seen */
function dotOf(view, width, height) {
    const { graph, nodes, edges } = data.dot;
    const lines = [
        "digraph {",
        `graph [${graph}, ${FONT}, bgcolor=transparent, pad=0.2]`,
        `node [${nodes}, ${FONT}]`,
        `edge [${edges}, ${FONT}]`,
    ];
    const single = [...view.boxes.values()].filter(({ id }) => !view.stackOf.has(id));
    for (const [cluster, inside] of grouped(single, (box) => box.cluster)) {
        if (cluster >= 0)
            lines.push(`subgraph cluster_${cluster} { graph [id="c${cluster}", ${data.groups[cluster].cluster}]`);
        lines.push(...inside.map(statementOf), ...(cluster < 0 ? [] : ["}"]));
    }
    lines.push(...stackStatements(view, width / height), ...view.arrows.map(arrowStatement), "}");
    return lines.join("\n");
}

/** @param {Box} box */
function statementOf({ id, object, group, number }) {
    if (object < 0) {
        const [attributes] = data.groups[group].dot;
        const colours = arePolicies(group) ? `, ${POLICY_COLOURS}` : "";
        return `${id} [id="${id}", URL="#${id}", ${attributes}${colours}, label=<${groupLabel(group, number)}>]`;
    }
    const [attributes, head, rows, foot = ""] = data.objects[object].dot;
    const label = [head, ...(showsSections(object) ? rows.map(([row]) => opaque(row)) : []), foot].join("");
    return `${id} [id="${id}", ${attributes}, label=<${label}>]`;
}

const collator = new Intl.Collator("en", { numeric: true });

/** @param {[box: string, stack: string]} one @param {[box: string, stack: string]} other */
function byNamespace([one], [other]) {
    const [first, second] = [one, other].map((box) => data.groups[Number(box.slice(1))].namespace);
    return collator.compare(first, second);
}

/** Stacks, as tables of so many columns that all is seen at the largest scale. @param {View} view @param {number} aspect */
function stackStatements({ boxes, stackOf }, aspect) {
    const stacks = grouped([...stackOf].sort(byNamespace), ([, stack]) => stack);
    const [wide, high, left] = [210, 44, 450];
    let [number, best] = [1, 0];
    for (let columns = 1; columns <= 12; columns += 1) {
        const rows = [...stacks.values()].reduce((sum, inside) => sum + Math.ceil(inside.length / columns) + 0.5, 0);
        const scale = Math.min(aspect / (left + columns * wide), 1 / (rows * high));
        if (scale > best) [number, best] = [columns, scale];
    }
    return [...stacks].map(([stack, inside]) => {
        const cells = inside.map(([id]) => {
            const { group, number: size } = /** @type {Box} */ (boxes.get(id));
            const [, fill = "#f1f5f9"] = /fillcolor="([^"]*)"/.exec(data.groups[group].dot[0]) ?? [];
            return `<TD ID="${id}" HREF="#${id}" BGCOLOR="${fill}">${groupLabel(group, size)}</TD>`;
        });
        const rows = cells.flatMap((_, place) =>
            place % number ? [] : [`<TR>${cells.slice(place, place + number).join("")}</TR>`],
        );
        const table = `<TABLE BORDER="0" CELLBORDER="1" CELLSPACING="5" CELLPADDING="5" COLOR="${FAINT}">${rows.join("")}</TABLE>`;
        return `${stack} [shape=plain, class="stack", label=<${table}>]`;
    });
}

/** A row with a background, all of which is clicked on, and lit. @param {string} row */
function opaque(row) {
    return row.includes(' BGCOLOR="') ? row : row.replace("<TD ", '<TD BGCOLOR="#ffffff" ');
}

const POLICY_COLOURS = `fillcolor="#fef3c7", color="${AMBER}"`;

/** @param {number} group */
function arePolicies(group) {
    return insideOf(group).every((object) => data.objects[object].policy);
}

/** What is in a group, and which of its policies need to be looked at. @param {number} group @param {number} number */
function groupLabel(group, number) {
    const { label, parent, namespace } = data.groups[group];
    const inside = insideOf(group);
    const text = wrapped(number < inside.length ? `${number.toLocaleString("en")} of ${label}` : label, 40);
    const states = grouped(
        inside.filter((object) => data.objects[object].policy),
        (object) => data.objects[object].state ?? "",
    );
    const bad = BAD.filter((state) => states.has(state)).map(
        (state) => `${states.get(state)?.length} ${data.states[state]}`,
    );
    const lines =
        parent === null && namespace
            ? [`<B>${inDot(`namespace ${namespace}`)}</B>`, ...text.map((line) => small(line, FAINT))]
            : text.map((line) => `<B>${inDot(line)}</B>`);
    return [...lines, ...bad.map((line) => small(line, RED))].join("<BR/>");
}

/** States in which a policy does not do what somebody meant it to. */
const BAD = ["Conflicted", "TargetNotFound", "NotPermitted", "Invalid"];

/** @param {string} text @param {string} colour */
function small(text, colour) {
    return `<FONT POINT-SIZE="9" COLOR="${colour}">${inDot(text)}</FONT>`;
}

/** @param {Arrow} arrow @param {number} index */
function arrowStatement({ tail, head, sort, state, reason, mark, pairs }, index) {
    const isPolicy = sort === "policy";
    const isRefused = state !== "attached" && !UNSURE.has(state);
    const line = UNSURE.has(state) ? "dotted" : isRefused && state !== "broken" ? "dashed" : "solid";
    const colour = MARK_COLOURS[mark] ?? (isRefused ? RED : isPolicy ? AMBER : INK);
    const shape = isPolicy ? "arrowhead=dot, arrowsize=0.5" : "arrowhead=normal";
    const number = pairs.length > 1 ? [pairs.length.toLocaleString("en")] : [];
    const told = [...[mark, reason].filter(Boolean).flatMap((words) => wrapped(words, 30)), ...number];
    const label = told.length ? `, label=<${told.map(inDot).join("<BR/>")}>, fontcolor="${colour}"` : "";
    const width = mark ? 2 : isPolicy ? 0.8 : 1.4;
    return `${tail}:e -> ${head}:w [id="e${index}", class="${sort}", style=${line}, color="${colour}", ${shape}, penwidth=${width}${label}]`;
}

/** A text in Graphviz's HTML, where `\\N` would be the name of the node. @param {string} text */
function inDot(text) {
    return visible(text)
        .replaceAll("\\", "\\\\")
        .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** @param {string} text @param {number} width @returns {string[]} */
function wrapped(text, width) {
    const lines = [""];
    for (const word of text.split(" ")) {
        const line = lines[lines.length - 1];
        if (line && line.length + word.length >= width) lines.push(word);
        else lines[lines.length - 1] = line ? `${line} ${word}` : word;
    }
    return lines.length > 4 ? [...lines.slice(0, 4), "…"] : lines;
}
