#!/bin/sh
# Fetches the libraries of the page from npm and writes graphviz.js, zoom.js and licences.txt anew: see README.md.
# To take newer versions: change the numbers here, run this, then the tests in tests/browser.
set -eu
GRAPHVIZ=1.29.2
# In the order in which they need each other. zoom is what is used; the others are what it depends on.
ZOOM="d3-color@3.1.1 d3-dispatch@3.0.2 d3-ease@3.0.2 d3-interpolate@3.0.2 d3-timer@3.0.2 d3-selection@3.0.1
      d3-drag@3.0.1 d3-transition@3.0.2 d3-zoom@3.0.1"

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fetch() { # package@version -> the folder "package" with what npm holds of it, which npm checks by its hash
    rm -rf package
    tar -xzf "$(npm pack --silent "$1")"
}
licence() {
    printf '%s\n\n' "==== $1 ===="
    cat package/LICENSE
    echo
}

fetch "@hpcc-js/wasm-graphviz@$GRAPHVIZ"
{
    echo "// @hpcc-js/wasm-graphviz $GRAPHVIZ, Apache-2.0: Graphviz compiled to WebAssembly. Not edited here but for its"
    echo "// exports (update-libraries.sh): as a classic script, it leaves the class Graphviz behind. See licences.txt."
    echo "(() => {"
    # Its only export statement, at its end; no reference to a source map, which a browser would look for; and nothing
    # that the log of a CI would obey (`##[`), which is always in a string here, and would be rewritten on its way out.
    sed -e 's/##/#\\x23/g' -e '/^\/\/# sourceMappingURL=/d' -e 's/export{\([^}]*,\)\{0,1\}\([A-Za-z0-9_$]\{1,\}\) as Graphviz[,}].*$/globalThis.Graphviz=\2;/' \
        package/dist/index.js
    echo "})();"
} > "$here/graphviz.js"
{
    licence "@hpcc-js/wasm-graphviz $GRAPHVIZ"
    echo "==== Graphviz, which is compiled into it ===="
    echo
    echo "Eclipse Public License: https://www.eclipse.org/legal/epl/. Its sources, and which version of the licence is that"
    echo "of which part, are at https://gitlab.com/graphviz/graphviz. It is provided without warranty, as the licence says."
    echo
} > "$here/licences.txt"

: > "$here/zoom.js"
for each in $ZOOM; do
    fetch "$each"
    cat "package/dist/${each%@*}.min.js" >> "$here/zoom.js"
    echo >> "$here/zoom.js"
    licence "${each%@*} ${each#*@}" >> "$here/licences.txt"
done

# What an inline script may not hold, and what would mean that the export was not found.
if grep -qi '</script\|<script\|<!--\|^export\|}export{' "$here/graphviz.js" "$here/zoom.js"; then
    echo "a library cannot be put into a page as it is" >&2
    exit 1
fi
grep -q 'globalThis.Graphviz=[A-Za-z]' "$here/graphviz.js"
