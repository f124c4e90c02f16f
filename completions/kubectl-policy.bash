# Completion of kubectl-policy for bash. Load it in ~/.bashrc:
#     source <(kubectl-policy completion bash)
# Nothing that is typed or offered is evaluated. It works with bash 3.2, and without the package bash-completion.

__kubectl_policy_complete() {
    local rest=${COMP_LINE:0:COMP_POINT} typed=() last=-1 i word line
    # Bash also takes words apart at = and :, so what has no space in between is one word. What is behind the cursor is
    # left out.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        line=${rest#"${rest%%[![:space:]]*}"}
        word=${COMP_WORDS[i]}
        ((i < COMP_CWORD)) || word=$line
        if ((last >= 0)) && [[ $line == "$rest" ]]; then
            typed[last]+=$word
        else
            typed[++last]=$word
        fi
        rest=${line#"$word"}
    done
    for ((i = 1; i <= last; i++)); do
        word=${typed[i]//[\"\'\\]/}
        [[ $word != "~/"* ]] || word=$HOME/${word#"~/"}
        typed[i]=$word
    done

    local directive=4 offered=() said=() tab=$'\t'
    while IFS= read -r line; do
        case $line in
        :*) directive=${line#:} ;;
        ?*) offered+=("${line%%"$tab"*}") said+=("$line") ;;
        esac
    done < <(kubectl-policy __complete "${typed[@]:1}" 2>/dev/null)
    [[ $directive =~ ^[0-9]+$ ]] || directive=4

    local word=${typed[last]} options=()
    [[ $word != -*=* ]] || word=${word#*=}
    COMPREPLY=()
    if ((directive & 16)); then
        options=(-o filenames)
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$word")
    elif ((directive & 8)); then
        options=(-o filenames)
        while IFS= read -r line; do
            for i in "${offered[@]}"; do
                if [[ -d $line || $line == *."$i" ]]; then
                    COMPREPLY+=("$line")
                    break
                fi
            done
        done < <(compgen -f -- "$word")
    else
        ((!(directive & 4))) || options=(+o default)
        ((!(directive & 2))) || options+=(-o nospace)
        # What is inserted, or shown one by one, has nothing beside it.
        if ((${#offered[@]} == 1 || COMP_TYPE == 37 || COMP_TYPE == 42)); then
            COMPREPLY=("${offered[@]}")
        else
            __kubectl_policy_describe
        fi
    fi
    ((!${#options[@]})) || ! type compopt >/dev/null 2>&1 || compopt "${options[@]}"
    # Readline replaces what stands behind the last = or :, where it takes words apart.
    line=${word%"${word##*[=:]}"}
    if [[ $line == *= && $COMP_WORDBREAKS == *=* ]] || [[ $line == *: && $COMP_WORDBREAKS == *:* ]]; then
        for ((i = 0; i < ${#COMPREPLY[@]}; i++)); do COMPREPLY[i]=${COMPREPLY[i]#"$line"}; done
    fi
}

# Candidates in a column, what is said of them beside it, as far as there is room.
__kubectl_policy_describe() {
    local longest=0 room about
    for word in "${offered[@]}"; do ((${#word} <= longest)) || longest=${#word}; done
    room=$((${COLUMNS:-80} - longest - 5))
    for ((i = 0; i < ${#offered[@]}; i++)); do
        word=${offered[i]} about=${said[i]#"${offered[i]}"} about=${about#"$tab"}
        if [[ -n $about ]] && ((room > 8)); then
            ((${#about} <= room)) || about=${about:0:room - 1}…
            printf -v word '%-*s  (%s)' "$longest" "$word" "$about"
        fi
        COMPREPLY+=("$word")
    done
    word=${typed[last]}
    [[ $word != -*=* ]] || word=${word#*=}
}

complete -o default -F __kubectl_policy_complete kubectl-policy
