# Completions of overspill for bash, from 3.2 on. The program itself says what fits: see `overspill completions`.
_overspill() {
    local line kind= at
    local cur=${COMP_WORDS[COMP_CWORD]}
    local -a ids
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
    done < <(command overspill __complete bash "$COMP_WORDBREAKS" -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    case $kind in
        words) type compopt &>/dev/null && compopt +o default ;;
        parts) type compopt &>/dev/null && compopt +o default -o nospace ;;
        files | dirs)
            # Without ids, or within quotes, readline completes file names by itself, and quotes them.
            if [[ ${#COMPREPLY[@]} -gt 0 && $cur != *[\'\"\\]* ]] && type compopt &>/dev/null; then
                compopt -o filenames
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
            fi ;;
        command*)
            for ((at = 1; at < COMP_CWORD; at++)); do [[ ${COMP_WORDS[at]} == -- ]] && break; done
            ((at < COMP_CWORD)) && ((at++)) || at=${kind#command }
            if type _command_offset &>/dev/null; then
                _command_offset "$at"
            elif ((at == COMP_CWORD)); then
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$cur")
            fi ;;
    esac
}
complete -o default -F _overspill overspill
