# Completions of overspill for fish. The program itself says what fits: see `overspill completions`.
function __overspill_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command overspill __complete fish '' -- $before[2..-1] "$current" 2>/dev/null)
    for line in $lines[2..-1]
        echo -- $line
    end
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case dirs
            __fish_complete_directories "$current"
        case 'command *'
            set -l rest (string escape -- $before[(math (string replace 'command ' '' -- $lines[1]) + 1)..-1])
            complete -C (string join ' ' -- $rest "$current")
    end
end
complete -c overspill -f -a '(__overspill_complete)'
