# complete.bash FILE... -- what bash offers: for each line of standard input "LINE| WORDS", sorted.
# The files have the completion; the last word of a line is the one that is completed.
LC_ALL=C
for file; do
    # shellcheck disable=SC1090
    source "$file"
done
while IFS= read -r line; do
    read -ra COMP_WORDS <<<"${line//=/ = }" # as readline cuts it: = is a word
    [[ $line == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    function=$(complete -p "${COMP_WORDS[0]}" 2>/dev/null) || function='nothing-F no_function'
    function=${function#*-F }
    COMPREPLY=()
    "${function%% *}" 2>/dev/null
    mapfile -t sorted < <(printf '%s\n' "${COMPREPLY[@]}" | sort)
    echo "$line| ${sorted[*]}"
done
