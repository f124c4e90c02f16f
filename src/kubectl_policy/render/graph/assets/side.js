// @ts-check
/*
 * What is beside the graph: filters, the list of everything, and the legend below it.
 */

/** The checkboxes. */
function filters() {
    const policies = data.objects.filter(({ policy }) => policy);
    const inKinds = [...grouped(data.objects.keys(), (object) => data.objects[object].kind)];
    const inNamespaces = [...grouped(data.objects.keys(), namespaceOf)].sort(([one], [other]) =>
        collator.compare(one, other),
    );
    const states = grouped(policies, ({ state = "" }) => state);
    element("filters").replaceChildren(
        checks(
            "Kinds",
            choice.hiddenKinds,
            inKinds.map(([kind, all]) => [kind, data.kinds[kind], all.length, null]),
        ),
        checks(
            "Namespaces",
            choice.hiddenNamespaces,
            inNamespaces.map(([name, all]) => [name, name || "(cluster-wide)", all.length, null]),
        ),
        checks(
            "Policies that are",
            choice.hiddenStates,
            Object.entries(data.states)
                .filter(([state]) => states.has(state))
                .map(([state, words]) => [
                    state,
                    words,
                    states.get(state)?.length ?? 0,
                    icon(STATE_SHAPES[state], `icon ${state}`),
                ]),
        ),
        check("Rules and ports", choice.sections, (isOn) => {
            choice.sections = isOn;
            void redraw(selected ? [`o${selected.o}`] : []);
        }),
    );
}

/**
 * @template Value
 * @param {string} heading @param {Set<Value>} hidden
 * @param {[value: Value, words: string, number: number, icon: Element | null][]} values
 */
function checks(heading, hidden, values) {
    if (!values.length) return h("div");
    const boxes = values.map(([value, words, number, picture]) =>
        check(
            words,
            !hidden.has(value),
            (isOn) => {
                if (isOn) hidden.delete(value);
                else hidden.add(value);
                void redraw();
            },
            picture,
            number,
        ),
    );
    const all = button(hidden.size ? "all" : "none", () => {
        if (hidden.size) hidden.clear();
        else for (const [value] of values) hidden.add(value);
        filters();
        void redraw();
    });
    all.setAttribute("aria-label", `${heading}: ${hidden.size ? "all" : "none"}`);
    return h("fieldset", {}, h("legend", {}, heading, " ", values.length > 1 && all), h("div.checks", {}, ...boxes));
}

/** @param {string} words @param {boolean} isOn @param {(isOn: boolean) => void} act @param {Element | null} [picture]
 * @param {number} [number] */
function check(words, isOn, act, picture = null, number) {
    const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", change: () => act(box.checked) }));
    box.checked = isOn;
    return h(
        "label",
        {},
        box,
        picture,
        h("span.words", {}, words),
        number !== undefined && h("span.quiet", {}, number.toLocaleString("en")),
    );
}

/*
 * The list of everything, for those who rather read than look
 */

/** Which groups are open in the list. @type {Set<number>} */
const opened = new Set(data.objects.length <= 60 ? data.groups.keys() : []);

function outline() {
    const seen = data.objects.length - (drawn?.view.boxOf.filter((box) => box === null).length ?? 0);
    element("outline-count").textContent =
        seen < data.objects.length
            ? `${seen.toLocaleString("en")} of ${data.objects.length.toLocaleString("en")}`
            : seen.toLocaleString("en");
    element("outline").replaceChildren(
        ...[...(subgroups.get(null) ?? [])]
            .sort((one, other) => collator.compare(data.groups[one].namespace, data.groups[other].namespace))
            .map(outlineGroup)
            .filter((each) => each !== null),
    );
}

/** @param {number} group @returns {HTMLElement | null} */
function outlineGroup(group) {
    const { label, namespace, parent } = data.groups[group];
    const inside = (members.get(group) ?? []).filter(
        (object) => !isHidden(object) && (!choice.only || choice.only.has(object)),
    );
    const groups = subgroups.get(group) ?? [];
    if (!inside.length && !groups.some((each) => outlineGroup(each))) return null;
    const words = parent === null ? (namespace ? `namespace ${namespace}` : "cluster-wide") : label;
    const isFolded = choice.folded.has(group);
    const made = /** @type {HTMLDetailsElement} */ (
        h(
            "details",
            {},
            h(
                "summary",
                {},
                words,
                " ",
                sizeOf(group) > 1 &&
                    !choice.only &&
                    h(
                        "button.fold",
                        {
                            type: "button",
                            "aria-label": `${isFolded ? "Unfold" : "Fold"} ${words} in the graph`,
                            click: () => void (isFolded ? unfold(group) : fold(group)),
                        },
                        isFolded ? "unfold" : "fold",
                    ),
            ),
        )
    );
    const fill = () => {
        if (made.childElementCount > 1) return;
        made.append(
            ...groups.map(outlineGroup).filter((each) => each !== null),
            list(
                "ul.links",
                inside.map((object) =>
                    h(
                        "a",
                        {
                            href: permalink(selectedObject(object)),
                            ...(selected?.o === object ? { "aria-current": "true" } : {}),
                        },
                        data.objects[object].name,
                    ),
                ),
            ),
        );
    };
    made.open = opened.has(group);
    if (made.open) fill();
    made.addEventListener("toggle", () => {
        if (made.open) opened.add(group);
        else opened.delete(group);
        fill();
    });
    return made;
}

/** What shapes and lines stand for, of those that are drawn. */
function legend() {
    if (!drawn) return;
    const boxes = [...drawn.view.boxes.values()];
    const things = boxes.filter(({ object }) => object >= 0).map(({ object }) => data.objects[object]);
    const { arrows } = drawn.view;
    const nodes = things.filter(({ policy }) => !policy);
    const inStates = new Set(things.filter(({ policy }) => policy).map(({ state }) => state));
    const marks = new Set([...things.map(({ mark }) => mark), ...arrows.map(({ mark }) => mark)].filter(Boolean));
    /** @type {[shape: string, classes: string, words: string][]} */
    const entries = [];
    if (nodes.length) entries.push(["table", "object", "an object, with what is inside"]);
    if (nodes.some(({ state }) => state === "does not exist")) entries.push(["box", "missing", "does not exist"]);
    if (nodes.some(({ state }) => state === "not read")) entries.push(["box", "unread", "was not read"]);
    if (boxes.some(({ object }) => object < 0)) entries.push(["box3d", "group", "several, folded: click to unfold"]);
    for (const [state, words] of Object.entries(data.states)) {
        if (inStates.has(state)) entries.push([STATE_SHAPES[state], state, `policy, ${words}`]);
    }
    for (const each of marks) entries.push(["box", `mark-${each}`, `${each}`]);
    /** @param {string} classes @param {string} words */
    const line = (classes, words) => h("li", {}, h(`span.line.${classes}`, { "aria-hidden": "true" }), words);
    element("legend").replaceChildren(
        ...entries.map(([shape, classes, words]) => h("li", {}, icon(shape, `icon ${classes}`), words)),
        ...[
            arrows.some(({ sort, state }) => sort === "traffic" && state === "attached") &&
                line("runs", "requests run there"),
            arrows.some(({ sort }) => sort === "policy") && line("policy", "what a policy targets"),
            arrows.some(({ state }) => state !== "attached" && state !== "broken" && !UNSURE.has(state)) &&
                line("refused", "refused, and why"),
            arrows.some(({ state }) => state === "broken") && line("broken", "leads nowhere"),
            arrows.some(({ state }) => UNSURE.has(state)) && line("unsure", "not known"),
        ].filter((each) => each !== false),
    );
}
