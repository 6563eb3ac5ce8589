
# Values of a prompt's arguments come from its server: switchboard prompts get SERVER PROMPT name=<TAB>
_switchboard_values() {
    local line=("${COMP_WORDS[@]:1:COMP_CWORD}") current=""
    # Bash takes a word apart at `=`; it is put together again here.
    if [[ ${COMP_LINE:0:COMP_POINT} =~ [^[:space:]]*$ ]]; then current="${BASH_REMATCH[0]}"; fi
    if [[ ${line[0]} == prompt* && ${line[1]} == get && $COMP_CWORD -gt 4 && $current == *=* ]]; then
        local name="${current%%=*}" value
        COMPREPLY=()
        while IFS= read -r value; do
            COMPREPLY+=("$(printf '%q' "$value")")
        done < <(switchboard complete --quiet "${line[2]}" "${line[3]}" "$name=${current#*=}" 2>/dev/null)
        return
    fi
    _switchboard "$@"
}
complete -F _switchboard_values -o nosort -o bashdefault -o default switchboard
