#compdef kubectl-policy
# Completion of kubectl-policy for zsh. Load it in ~/.zshrc, after compinit:
#     source <(kubectl-policy completion zsh)
# or keep it as _kubectl-policy in a folder of $fpath. Nothing that is typed or offered is evaluated.

_kubectl-policy() {
    local -a typed offered
    local line directive=4
    typed=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}")
    typed=("${(@)typed/#\~\//$HOME/}")
    for line in "${(@f)$(kubectl-policy __complete "${typed[@]}" 2>/dev/null)}"; do
        case $line in
        :<->) directive=${line#:} ;;
        ?*)
            line=${line//\\/\\\\}
            line=${line//:/\\:}
            offered+=("${line/$'\t'/:}")
            ;;
        esac
    done
    [[ $PREFIX != -*=* ]] || compset -P 1 '*='
    if ((directive & 16)); then
        _files -/
    elif ((directive & 8)); then
        _files -g "*.(${(j:|:)offered})"
    elif ((${#offered})); then
        local -a ending
        ((!(directive & 2))) || ending=(-S '')
        _describe -t values 'kubectl policy' offered "${ending[@]}"
    elif ((!(directive & 4))); then
        _files
    else
        return 1
    fi
}

if [[ ${funcstack[1]} == _kubectl-policy ]]; then
    _kubectl-policy "$@"
else
    compdef _kubectl-policy kubectl-policy
fi
