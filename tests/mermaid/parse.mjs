// Reads files with Mermaid's own parser: a line for each, with the type of its diagram or what is wrong with it.
import { readFileSync } from "node:fs";
import { Window } from "happy-dom";

// DOMPurify, which Mermaid asks about every label, wants a browser's document.
const window = new Window();
Object.assign(globalThis, { window, document: window.document });
for (const name of ["DocumentFragment", "DOMParser", "Element", "HTMLElement", "HTMLFormElement", "HTMLTemplateElement",
  "NamedNodeMap", "Node", "NodeFilter"]) {
  globalThis[name] = window[name];
}
const { default: mermaid } = await import("mermaid");

for (const file of process.argv.slice(2)) {
  try {
    const { diagramType } = await mermaid.parse(readFileSync(file, "utf8"));
    console.log(`${file}: ${diagramType}`);
  } catch (error) {
    console.log(`${file}: ${String(error).replaceAll("\n", " ")}`);
  }
}
process.exit(0);
