// @ts-check
/*
 * Layout: Graphviz, in a worker, so that the page answers meanwhile; where a page may have none, in the page itself.
 */

/** After so long, nobody waits any more. */
const PATIENCE_MS = 30_000;

/** @type {Promise<{layout(dot: string): string}> | undefined} */
let graphvizHere;
/** @type {Worker | undefined} */
let worker;
/** @type {{resolve: (svg: string) => void, reject: (reason: Error) => void, timer: number} | undefined} */
let waiting;

/** That a layout is no longer wanted, as another one is. */
class Superseded extends Error {}

/** The SVG of a graph. One that is still in the making is given up. @param {string} dot @returns {Promise<string>} */
function laidOut(dot) {
    if (waiting) {
        giveUp(new Superseded());
    }
    return new Promise((resolve, reject) => {
        const timer = setTimeout(
            () => giveUp(new Error("the layout takes too long; fold, filter or select less")),
            PATIENCE_MS,
        );
        waiting = { resolve, reject, timer };
        try {
            worker ??= startWorker();
            worker.postMessage(dot);
        } catch {
            layOutHere(dot);
        }
        lastDot = dot;
    });
}
let lastDot = "";

/** @returns {Worker} */
function startWorker() {
    const script = `${graphvizSource()}
    const ready = Graphviz.load();
    onmessage = async ({ data }) => {
      try { postMessage({ svg: (await ready).layout(data, "svg", "dot") }); }
      catch (error) { postMessage({ error: String(error && error.message || error) }); }
    };`;
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const started = new Worker(address);
    started.onmessage = ({ data: answer }) => settle(answer);
    // What a browser does that starts no workers here.
    started.onerror = (event) => {
        event.preventDefault();
        if (started === worker && waiting) layOutHere(lastDot);
    };
    return started;
}

function graphvizSource() {
    return /** @type {HTMLElement} */ (document.getElementById("graphviz")).textContent ?? "";
}

/** @param {string} dot */
async function layOutHere(dot) {
    graphvizHere ??= (async () => {
        const script = document.createElement("script");
        script.textContent = graphvizSource(); // which the policy of the page allows by its hash
        document.head.append(script);
        // @ts-expect-error - what the script leaves behind
        return globalThis.Graphviz.load();
    })();
    try {
        settle({ svg: (await graphvizHere).layout(dot) });
    } catch (error) {
        settle({ error: String(error) });
    }
}

/** @param {{svg?: string, error?: string}} answer */
function settle({ svg, error }) {
    const asked = waiting;
    waiting = undefined;
    if (!asked) return;
    clearTimeout(asked.timer);
    if (svg === undefined) asked.reject(new Error(error));
    else asked.resolve(svg);
}

/** @param {Error} reason */
function giveUp(reason) {
    worker?.terminate();
    worker = undefined;
    const asked = waiting;
    waiting = undefined;
    if (!asked) return;
    clearTimeout(asked.timer);
    asked.reject(reason);
}
