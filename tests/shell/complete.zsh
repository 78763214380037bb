# complete.zsh FOLDER FILE... -- what zsh offers: for each line of standard input "LINE| WORDS",
# sorted. The folder has functions to find, the files have some to source. A second zsh runs on a
# terminal of its own, where ^T lists what there is and ^N gives the line up.
zmodload zsh/zpty || exit 1
export LC_ALL=C TERM=dumb
setup=$(mktemp) || exit 1
trap 'rm -f $setup' EXIT
cat >$setup <<END
PS1= RPS1= PROMPT_EOL_MARK=
fpath=(${(q)1} \$fpath)
autoload -Uz compinit
compinit -D -u
LISTMAX=10000
unsetopt always_last_prompt list_beep list_types
zstyle ':completion:*' list-colors
zstyle ':completion:*' list-separator '#'
bindkey '^T' list-choices '^N' kill-buffer
stty columns 300 rows 200 -echo
for file in ${(@q)@[2,-1]}; do source \$file; done
print BEGIN
END
zpty shell zsh -f -i
zpty -w shell "source $setup"
zpty -r shell out '*BEGIN*'
while IFS= read -r line; do
    zpty -w -n shell $line$'\C-T\C-N'"print -r EN''D"$'\n'
    zpty -r shell out '*END*'
    listed=(${(f)out//$'\r'/})
    listed=(${listed:#*(${(b)line}|END|EN\'\'D|$'\e')*})  # what was typed
    listed=(${=${(j: :)${listed%%\#*}}})                    # NAME NAME # what they are
    print -r -- "$line| ${(j: :)${(o)listed}}"
done
zpty -d shell
