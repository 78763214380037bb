# complete.fish FILE... -- what fish offers: for each line of standard input "LINE| WORDS",
# sorted; of --name=VALUE the value. The files have completion that fish does not find by itself.
for file in $argv
    source $file
end
while read -l line
    set -l words (complete -C $line | string replace -r '\t.*' '' | string replace -r '^--[^=]*=' '')
    echo "$line| "(printf '%s\n' $words | LC_ALL=C sort | string join ' ')
end
