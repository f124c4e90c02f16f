// @ts-check
/*
 * The panel: what is to be told of what is selected, or of everything if nothing is. All of it is text, never markup.
 */

/** @param {Selected} selected @param {Child[]} chips @param {...Child} actions */
function title(selected, chips, ...actions) {
    const { namespace: n, origin: f, name: m } = data.objects[selected.o];
    const section = selected.node >= 0 && data.nodes[selected.node].section ? sectionWords(selected.node) : "";
    return h(
        "div.title",
        {},
        h("p.eyebrow", {}, kindOf(selected.o), n && ` in namespace ${n}`),
        h(
            "h2",
            {},
            section ? linkTo(selectedObject(selected.o), m) : m,
            section && h("span.quiet", {}, ` · ${section}`),
        ),
        h("p.chips", {}, ...chips, f && h("code.origin", { title: "Where it was read" }, f)),
        h("div.actions", {}, ...actions),
    );
}

/*
 * What is selected
 */

/** @param {Selected} selected @returns {Node[]} */
function policyPanel(selected) {
    const { state: s = "", words: w, mark: x } = data.objects[selected.o];
    const { affected, elsewhere, deletion: after } = data.reach[selected.o];
    const attachments = attachmentsOf.get(selected.o) ?? [];
    return [
        title(selected, [chip(s), markChip(x)], onlyButton(selected), ...foldButtons(selected)),
        ...(w && w !== data.states[s] ? [h("p.lead", {}, w)] : []),
        part(
            "Targets",
            attachments.length
                ? list(
                      "ul.plain",
                      attachments.map(([, node, state, reason, message]) =>
                          h(
                              "div",
                              {},
                              node === null ? h("b", {}, "Nothing that is there") : linkTo(selectedNode(node)),
                              ...trouble(state, reason, message),
                          ),
                      ),
                  )
                : h("p.quiet", {}, "It targets nothing."),
        ),
        part(
            "Blast radius",
            affected.length
                ? h(
                      "div",
                      {},
                      h("p.lead", {}, `It has an effect on ${count(affected.length, "place")}, lit in the graph.`),
                      byKind(affected),
                  )
                : h(
                      "p.quiet",
                      {},
                      elsewhere
                          ? "It has no effect on anything that this page shows."
                          : "It has no effect on anything.",
                  ),
            elsewhere > 0 && h("p.quiet", {}, `and on ${count(elsewhere, "place")} that this page does not show`),
        ),
        part("If it were deleted", deletion(after)),
    ];
}

/** @param {Selected} selected @returns {Node[]} */
function nodePanel(selected) {
    const place = data.nodes[selected.node];
    const { state: s, mark: x } = data.objects[selected.o];
    const positions = pathsThrough(selected);
    const attachments = (attachmentsTo.get(selected.node) ?? []).concat(
        place.section ? [] : places[selected.o].sections.flatMap((node) => attachmentsTo.get(node) ?? []),
    );
    const sections = place.section ? [] : places[selected.o].sections;
    const links = links_(selected);
    /** @type {Child[]} */
    const parts = [
        title(
            selected,
            [
                s && h("span.chip.absent", {}, icon("box"), s),
                markChip(place.section ? place.mark : x),
                place.settingsDiffer && h("span.chip.changed", {}, "settings differ"),
            ],
            onlyButton(selected),
            ...foldButtons(selected),
        ),
        place.details && place.details !== s && h("p.lead", {}, place.details),
        settings(selected, positions),
        attachments.length > 0 &&
            part(
                "Policies attached here",
                list(
                    "ul.plain",
                    attachments.map(([policy, node, state, reason, message]) =>
                        h(
                            "div",
                            {},
                            linkTo(selectedObject(policy)),
                            " ",
                            chip(data.objects[policy].state ?? ""),
                            node !== null && node !== selected.node && h("span.quiet", {}, ` on ${sectionWords(node)}`),
                            ...trouble(state, reason, message),
                        ),
                    ),
                ),
            ),
        sections.length > 0 &&
            part(
                "Inside",
                list(
                    "ul.plain",
                    sections.map((node) =>
                        h(
                            "div",
                            {},
                            linkTo(selectedNode(node), sectionWords(node)),
                            data.nodes[node].details && h("span.quiet", {}, ` ${data.nodes[node].details}`),
                        ),
                    ),
                ),
            ),
        links.up.length > 0 && part("Requests come from", list("ul.plain", links.up)),
        links.down.length > 0 && part("Requests go to", list("ul.plain", links.down)),
        positions.length > 0 && pathsPart(selected, positions),
    ];
    return /** @type {Node[]} */ (parts.filter(Boolean));
}

/** @param {string} state @param {string} reason @param {string} message @returns {Child[]} */
function trouble(state, reason, message) {
    if (state === "attached") return [];
    return [
        h("span.trouble", {}, ` ${[...new Set([state, reason].filter(Boolean))].join(" · ")}`),
        message && h("p.quiet", {}, message),
    ];
}

/** What is above and below, in other objects. @param {Selected} selected */
function links_(selected) {
    const nodes = data.nodes[selected.node].section ? [selected.node] : [selected.node, ...places[selected.o].sections];
    /** @param {Map<number, Link[]>} links @param {0 | 1} end */
    const told = (links, end) =>
        nodes
            .flatMap((node) => links.get(node) ?? [])
            .filter((link) => data.nodes[link[end]].object !== selected.o)
            .map((link) => h("div", {}, linkTo(selectedNode(link[end])), ...trouble(link[3], link[4], link[5])));
    return { up: told(above, 0), down: told(below, 1) };
}

/** @param {number[]} nodes */
function byKind(nodes) {
    const kinds = grouped(nodes, (node) => kindOf(data.nodes[node].object));
    return h(
        "div",
        {},
        ...[...kinds].map(([kind, inside]) =>
            h(
                "div.kind",
                {},
                h("h4", {}, `${kind} `, h("span.quiet", {}, inside.length.toLocaleString("en"))),
                placesList(inside),
            ),
        ),
    );
}

/** @param {number[]} nodes */
function placesList(nodes) {
    return list(
        "ul.links",
        nodes.map((node) => {
            const place = data.nodes[node];
            const section = place.section ? `, ${sectionWords(node)}` : "";
            return linkTo(selectedNode(node), `${nameOf(place.object)}${section}`);
        }),
    );
}

/** @type {Record<string, string>} */
const SORTS = { lost: "lost", changed: "changed", gained: "gained", moved: "same value" };

/** @param {Deletion} what */
function deletion({ headline, changes = [], command }) {
    if (command) {
        return h(
            "div",
            {},
            h("p.quiet", {}, "This was not worked out for every policy. To find out, run:"),
            h("pre", {}, command),
            button("Copy", () => copy(command)),
        );
    }
    const alike = grouped(changes, (change) => [change.kind, change.objects.join()].join("\n"));
    return h(
        "div",
        {},
        h("p", {}, headline ?? ""),
        ...[...alike.values()].map((each) => {
            const [{ kind, objects, number }] = each;
            const rows = each.map(({ sort, field, before, after }) =>
                h(
                    "tr",
                    {},
                    h("th", { scope: "row" }, h("code", {}, field), h(`div.sort.${sort}`, {}, SORTS[sort] ?? sort)),
                    h("td", {}, sideOf("", before), sideOf("→ ", after)),
                ),
            );
            return h(
                "div.outcome",
                {},
                h("h4", {}, `${kind} `, h("span.quiet", {}, `at ${count(number, "place")}`)),
                list(
                    "ul.links",
                    objects.map((node) => linkTo(selectedNode(node))),
                ),
                number > objects.length &&
                    h("p.quiet", {}, `and ${count(number - objects.length, "place")} that this page does not show`),
                h(
                    "table.settings",
                    {},
                    h(
                        "thead",
                        {},
                        h("tr", {}, h("th", { scope: "col" }, "Field"), h("th", { scope: "col" }, "Now → then")),
                    ),
                    h("tbody", {}, ...rows),
                ),
            );
        }),
    );
}

/** @param {string} sign @param {Side} side */
function sideOf(sign, side) {
    return h(
        "div",
        {},
        sign,
        side ? h("code.value", {}, side.value) : h("span", {}, "nothing"),
        side && h("div.by.quiet", {}, side.source),
    );
}

/*
 * Settings in force, and on which paths
 */

/** @param {Selected} selected @param {number[]} positions */
function settings(selected, positions) {
    const effects = data.effects[selected.o];
    if (!effects) return null;
    const isHere = new Set(positions);
    const told = effects.inForce
        .map(([outcome, all]) => ({ outcome: data.outcomes[outcome], on: all.filter((each) => isHere.has(each)) }))
        .filter(({ on }) => on.length);
    if (!told.length)
        return part(
            "Settings in force",
            h("p.quiet", {}, positions.length ? "No policy sets anything here." : "No requests come here."),
        );
    return part(
        "Settings in force",
        ...told.map(({ outcome, on }) =>
            h(
                "div.outcome",
                {},
                h(
                    "h4",
                    {},
                    outcome.kind,
                    outcome.own && h("span.chip.passes", {}, "of the object itself"),
                    outcome.passesDown && h("span.chip.passes", {}, "passes down to what is below"),
                ),
                on.length < positions.length && scope(selected, on, positions),
                outcome.settings.length
                    ? settingsTable(outcome)
                    : outcome.summary.length > 0 && h("p", {}, outcome.summary.join(", ")),
                !outcome.settings.length &&
                    outcome.policies.length > 0 &&
                    h("p", {}, "Set by ", ...listed(outcome.policies.map((policy) => linkTo(selectedObject(policy))))),
                outcome.withoutEffect.length > 0 &&
                    h(
                        "ul.beaten",
                        {},
                        ...outcome.withoutEffect.map((each) =>
                            h(
                                "li",
                                {},
                                `${each.source} sets ${each.field} to ${valueWords(each.value)} to no effect${each.why ? `: ${each.why}` : ""}`,
                            ),
                        ),
                    ),
                ...outcome.assumed.map((words) => h("p.note", {}, `Assumed: ${words}`)),
                ...outcome.doubts.map((words) => h("p.note.doubt", {}, `Not certain: ${words}`)),
            ),
        ),
    );
}

/** @param {Outcome} outcome */
function settingsTable(outcome) {
    const rows = outcome.settings.map(({ field, value, source, origin, certain, removed, insteadOf }) =>
        h(
            "tr",
            {},
            h("th", { scope: "row" }, h("code", {}, field)),
            h(
                "td",
                {},
                h(
                    "div",
                    {},
                    removed ? h("i", {}, "removed") : h("code.value", {}, valueWords(value)),
                    !certain && h("span.doubt", {}, " not certain"),
                ),
                h("div.by", {}, policyNamed(source, outcome.policies), origin && h("code.origin", {}, origin)),
                ...insteadOf.map((each) => h("div.beaten", {}, beatenWords(each))),
            ),
        ),
    );
    return h(
        "table.settings",
        {},
        h(
            "thead",
            {},
            h("tr", {}, h("th", { scope: "col" }, "Field"), h("th", { scope: "col" }, "Value, and who sets it")),
        ),
        h("tbody", {}, ...rows),
    );
}

/** A link to the policy that a source names, if it is one of those in force. @param {string} source @param {number[]} policies */
function policyNamed(source, policies) {
    const found = policies.find((policy) => source.split(" → ")[0] === wordsOf(selectedObject(policy)));
    if (found === undefined) return source;
    const [policy, ...targets] = source.split(" → ");
    return h(
        "span",
        {},
        linkTo(selectedObject(found), policy),
        ...targets.map((target) => h("span.quiet", {}, ` → ${target}`)),
    );
}

/** @param {unknown} value */
function valueWords(value) {
    return typeof value === "string" ? value : JSON.stringify(value);
}

/** @param {Beaten} beaten */
function beatenWords({ value, source, why }) {
    return `instead of ${valueWords(value)}, ${source}${why ? ` (${why})` : ""}`;
}

/** @param {Child[]} items @returns {Child[]} */
function listed(items) {
    return items.flatMap((item, place) =>
        place === 0 ? [item] : place < items.length - 1 ? [", ", item] : [" and ", item],
    );
}

/** On which of the paths, by what tells these from the others. @param {Selected} selected @param {number[]} on
 * @param {number[]} positions */
function scope(selected, on, positions) {
    return h(
        "div.scope",
        {},
        `on ${on.length} of ${count(positions.length, "path")}: `,
        list(
            "ul.links",
            on.map((position) => pathButton(selected, position, positions)),
        ),
    );
}

/** @param {Selected} selected @param {number} position @param {number[]} positions */
function pathButton(selected, position, positions) {
    const { paths } = data.effects[selected.o];
    const nodes = data.paths[paths[position]];
    return button(
        pathWords(
            nodes,
            positions.map((each) => data.paths[paths[each]]),
        ),
        () => lightPath(selected, nodes),
        {
            title: "Light up this path",
            class: "path",
        },
    );
}

/** What is on a path and not on all others; all of it if it is alone. @param {number[]} nodes @param {number[][]} others */
function pathWords(nodes, others) {
    const telling = others.length > 1 ? nodes.filter((node) => !others.every((other) => other.includes(node))) : nodes;
    // A section tells its object as well; and an object of which a section is told needs no mention.
    const brief = telling.filter(
        (node) =>
            data.nodes[node].section ||
            !telling.some((each) => each !== node && data.nodes[each].object === data.nodes[node].object),
    );
    return (brief.length ? brief : nodes)
        .map((node) => {
            const { object: o, section: s } = data.nodes[node];
            return s ? `${nameOf(o)} ${sectionWords(node)}` : nameOf(o);
        })
        .join(" ▸ ");
}

/** @param {Selected} selected @param {number[]} positions */
function pathsPart(selected, positions) {
    return h(
        "details",
        {},
        h("summary", {}, `${count(positions.length, "path")} of requests`),
        list(
            "ol.paths",
            positions.map((position) => pathButton(selected, position, [position])),
        ),
    );
}

/*
 * Buttons, and what is told when nothing is selected
 */

/** @param {Selected} selected */
function onlyButton(selected) {
    if (choice.only) return button("Show everything", () => showOnly(null));
    return button("Only what is connected", () => showOnly(connected(selected)));
}

/** @param {Selected} selected @returns {HTMLElement[]} */
function foldButtons(selected) {
    const { group: g } = data.objects[selected.o];
    const group = data.groups[g];
    if (!group || choice.only || sizeOf(g) < 2) return [];
    return [
        choice.folded.has(g)
            ? button(`Unfold ${group.label}`, () => unfold(g))
            : button(`Fold ${group.label}`, () => fold(g)),
    ];
}

/** @returns {Node[]} */
function overview() {
    const policies = [...data.objects.keys()].filter((object) => data.objects[object].policy);
    const states = grouped(policies, (object) => data.objects[object].state ?? "");
    const absent = [...data.objects.keys()].filter((object) => {
        const { policy, state } = data.objects[object];
        return !policy && state;
    });
    const broken = data.links.filter((link) => link[3] !== "attached");
    const failing = data.attachments.filter((attachment) => attachment[2] !== "attached" && attachment[1] !== null);
    /** @type {Child[]} */
    const parts = [
        h(
            "div.title",
            {},
            h("h2", {}, "Overview"),
            h(
                "p.quiet",
                {},
                "Select a box for its policies and settings; select a policy to light up what it affects.",
            ),
        ),
        differing(),
        data.unseen.length > 0 &&
            part(
                `Not seen · ${data.unseen.length}`,
                list(
                    "ul.findings",
                    data.unseen.map(({ what, reason, remedy }) =>
                        h(
                            "div",
                            {},
                            h("b", {}, what),
                            reason && h("p", {}, reason),
                            remedy && h("p.quiet", {}, remedy),
                        ),
                    ),
                ),
            ),
        data.problems.length > 0 &&
            part(
                `Diagnostics · ${data.problems.length}`,
                list(
                    "ul.findings",
                    data.problems.map(({ severity, message, where, about }) =>
                        h(
                            "div",
                            {},
                            h(`b.${severity}`, {}, severity),
                            about && ` ${about}`,
                            h("p", {}, message),
                            where && h("code.origin", {}, where),
                        ),
                    ),
                ),
            ),
        ...Object.keys(data.states)
            .filter((state) => states.has(state))
            .map((state) => {
                const all = states.get(state) ?? [];
                return h(
                    "details.states",
                    state === "Enforced" && policies.length > 20 ? {} : { open: "" },
                    h("summary", {}, chip(state), h("span.quiet", {}, ` ${all.length.toLocaleString("en")}`)),
                    list(
                        "ul.plain",
                        all.map((object) =>
                            h(
                                "div",
                                {},
                                linkTo(selectedObject(object)),
                                data.objects[object].words !== data.states[state] &&
                                    h("p.quiet", {}, data.objects[object].words),
                            ),
                        ),
                    ),
                );
            }),
        absent.length > 0 &&
            part(
                `Named, but not there · ${absent.length}`,
                list(
                    "ul.plain",
                    absent.map((object) =>
                        h(
                            "div",
                            {},
                            linkTo(selectedObject(object)),
                            h("span.trouble", {}, ` ${data.objects[object].state}`),
                        ),
                    ),
                ),
            ),
        broken.length > 0 &&
            part(
                `Links that requests do not take · ${broken.length}`,
                list(
                    "ul.plain",
                    broken.map((link) =>
                        h(
                            "div",
                            {},
                            linkTo(selectedNode(link[0])),
                            " → ",
                            linkTo(selectedNode(link[1])),
                            ...trouble(link[3], link[4], link[5]),
                        ),
                    ),
                ),
            ),
        failing.length > 0 &&
            part(
                `References of policies that fail · ${failing.length}`,
                list(
                    "ul.plain",
                    failing.map(([policy, node, state, reason, message]) =>
                        h(
                            "div",
                            {},
                            linkTo(selectedObject(policy)),
                            " → ",
                            node !== null && linkTo(selectedNode(node)),
                            ...trouble(state, reason, message),
                        ),
                    ),
                ),
            ),
    ];
    return /** @type {Node[]} */ (parts.filter(Boolean));
}

/** What differs between the two states of a picture, if it is of two. */
function differing() {
    const marks = /** @type {const} */ (["removed", "changed", "added"]).map(
        (word) =>
            /** @type {const} */ ([
                word,
                [...data.objects.keys()].filter((object) => data.objects[object].mark === word),
            ]),
    );
    const places = [...data.nodes.keys()].filter((node) => data.nodes[node].settingsDiffer);
    if (!places.length && marks.every(([, objects]) => !objects.length)) return null;
    return part(
        "What differs",
        ...marks
            .filter(([, objects]) => objects.length)
            .map(([word, objects]) =>
                h(
                    "div.kind",
                    {},
                    h("h4", {}, markChip(word), " ", h("span.quiet", {}, `${objects.length}`)),
                    list(
                        "ul.links",
                        objects.map((object) => linkTo(selectedObject(object))),
                    ),
                ),
            ),
        places.length > 0 &&
            h(
                "div.kind",
                {},
                h("h4", {}, "Other settings in force at ", h("span.quiet", {}, `${places.length}`)),
                byKind(places),
            ),
    );
}

/** @param {number} group @returns {Node[]} */
function groupPanel(group) {
    const { label, namespace, parent } = data.groups[group];
    const inside = insideOf(group);
    return [
        h(
            "div.title",
            {},
            h("p.eyebrow", {}, "Folded"),
            h(
                "h2",
                {},
                parent === null && namespace ? `namespace ${namespace}` : label,
                parent !== null && namespace && h("span.quiet", {}, ` in namespace ${namespace}`),
            ),
            h(
                "div.actions",
                {},
                choice.folded.has(group) ? button("Unfold", () => unfold(group)) : button("Fold", () => fold(group)),
            ),
        ),
        part(
            "Inside",
            list(
                "ul.links",
                inside.map((object) => linkTo(selectedObject(object))),
            ),
        ),
    ];
}
