# Completion of kubectl-policy for fish. Load it in ~/.config/fish/config.fish:
#     kubectl-policy completion fish | source
# or keep it as ~/.config/fish/completions/kubectl-policy.fish. Nothing that is typed or offered is evaluated.

function __kubectl_policy_complete
    set -l typed (commandline -opc) ""
    set -l word (commandline -ct)
    set typed[-1] "$word"
    set -l plain (string unescape -- "$word"); and set typed[-1] "$plain"
    set typed (string replace -r '^~/' "$HOME/" -- $typed)
    set -l option (string match -r -- '^-[^=]*=' $typed[-1])
    set -l value (string replace -r -- '^-[^=]*=' '' $typed[-1])

    set -l lines (kubectl-policy __complete $typed[2..-1] 2>/dev/null)
    set -l directive 4
    set -l offered
    for line in $lines
        if string match -qr '^:[0-9]+$' -- $line
            set directive (string sub -s 2 -- $line)
        else if test -n "$line"
            set -a offered $line
        end
    end
    set -l files
    set -l folders (math "floor($directive / 16) % 2")
    set -l filtered (math "floor($directive / 8) % 2")
    set -l no_files (math "floor($directive / 4) % 2")
    if test $folders -eq 1
        set files (__fish_complete_directories "$value" '')
        set offered
    else if test $filtered -eq 1; or test $no_files -eq 0
        test $filtered -eq 1; and set offered
        set -q offered[1]; or set files (__fish_complete_path "$value")
    end
    string match -q '~/*' -- "$word"; and set files (string replace -- "$HOME/" '~/' $files)
    for line in $offered $files
        printf '%s%s\n' "$option" $line
    end
end

complete -c kubectl-policy -e
complete -c kubectl-policy -f -a '(__kubectl_policy_complete)'
