# lab-report.awk -- the report of scripts/lab in Markdown, from scripts/lab-experiments, the figures
# (experiment, variant, corpus, seed, value, figure) and the losses (experiment, variant, loss …).
#
# A verdict compares the medians over the seeds. The spread is the larger range (highest less lowest) of the two.
#   A < B   borne out if B exceeds A by more than the spread, not borne out if A exceeds B by more than that
#   A = B   borne out if the difference and the spread together are less than a tenth, not borne out if the
#           difference less the spread is more than a tenth
#   else    not here: these runs cannot tell
function amount(x) { sub(/^>/, "", x); return x + 0 }
function show(x,  a) {
    a = x < 0 ? -x : x
    return a == 0 ? "0" : a < 0.001 ? sprintf("%.0e", x) : a < 1 ? sprintf("%.3f", x) : a < 10 ? sprintf("%.2f", x) : a < 100 ? sprintf("%.1f", x) : sprintf("%.0f", x)
}
# Sets median, range, lowest, highest of a value of a variant; returns the number of seeds.
function gather(e, variant, value,  n, i, j, x, t) {
    if (variant == "") { lowest = highest = median = value; range = 0; return 99 }    # a number
    n = split(figures[e, variant, value], x, " ")
    for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (amount(x[j]) < amount(x[i])) { t = x[i]; x[i] = x[j]; x[j] = t }
    lowest = x[1]; highest = x[n]
    median = n % 2 ? x[(n + 1) / 2] : (amount(x[n / 2]) + amount(x[n / 2 + 1])) / 2
    range = amount(highest) - amount(lowest)
    return n
}
function bound(x) { return x ~ /^>/ ? "> " amount(x) : show(x) }
function cell(e, variant, value,  n) {
    n = gather(e, variant, value)
    return !n ? "–" : n == 1 ? bound(median) : bound(median) " (" bound(lowest) " to " bound(highest) ")"
}
# The losses as a line of blocks, on a logarithmic scale from the lowest to the highest of the experiment.
function curve(e, variant,  n, x, i, s, at) {
    n = split(losses[e, variant], x, " ")
    for (i = 1; i <= n; i += n > 24 ? n / 24 : 1) {
        at = high[e] > low[e] ? int(7.99 * (log(x[int(i)]) - log(low[e])) / (log(high[e]) - log(low[e]))) : 0
        s = s block[at + 1]
    }
    return s
}
function judge(e, c,  f, a, b, nb, a_median, spread, d, limit) {
    split(claim[e, c], f, " ")
    split(f[1], a, ":"); split(f[3], b, ":")
    seeds = gather(e, a[2], a[1])
    a_median = median; spread = range
    nb = gather(e, b[2], b[1])
    if (nb < seeds) seeds = nb
    if (!seeds) { evidence = "–"; return "not measured" }
    if (range > spread) spread = range
    evidence = bound(a_median) " and " bound(median) (seeds > 1 ? ", spread " show(spread) : ", one seed")
    # The differences between two that never reach the loss is unknown.
    if (a_median ~ /^>/ && median ~ /^>/) return "not here"
    d = amount(median) - amount(a_median)
    if (f[2] == ">") d = -d
    if (seeds < 2) return "one seed only"
    if (f[2] == "=") {
        if (d < 0) d = -d
        limit = (amount(median) + amount(a_median)) / 20
        return d + spread < limit ? "borne out" : d - spread > limit ? "not borne out" : "not here"
    }
    return d > spread ? "borne out" : d < -spread ? "not borne out" : "not here"
}
BEGIN {
    FS = "\t"
    while ((getline <commands) > 0) command[$1] = $2
    split("▁ ▂ ▃ ▄ ▅ ▆ ▇ █", block, " ")
}
FILENAME == figures_file {
    figures[$1, $2, $5] = figures[$1, $2, $5] $6 " "
    corpus[$1, $2] = $3
    measured[$1]++
    if (!(($1, $5) in has)) { has[$1, $5]; columns[$1] = columns[$1] $5 " " }
    next
}
FILENAME == losses_file {
    for (i = 3; i <= NF; i++) {
        losses[$1, $2] = losses[$1, $2] $i " "
        if (!($1 in low) || $i < low[$1]) low[$1] = $i
        if ($i > high[$1]) high[$1] = $i
    }
    next
}
{ word = $0; sub(/ .*/, "", word); rest = $0; sub(/^[a-z]+ +/, "", rest); key = rest; sub(/ .*/, "", key)
  text = rest; sub(/^[^ ]+ +/, "", text) }
word == "value" { sub(/^[^ ]+ +/, "", text); label[key] = text }
word == "experiment" { e = key; order[++experiments] = e; title[e] = text }
word == "source" || word == "train" || word == "note" || word == "reading" { about[e, word] = rest }
word == "target" { target[e, key] = text }
word == "variant" { variant[e, ++variants[e]] = key; sub(/^[^ ]+ */, "", text); options[e, key] = text }
word == "picture" { picture[e, ++pictures[e]] = key; shown[e, key] = text }
word == "claim" { claim[e, ++claims[e]] = rest }
END {
    print "# The lab: what is said of attention, judged by experiment\n"
    print "`scripts/lab` trained the models, measured them and wrote this page; [lab.tsv](lab.tsv) has every figure. The comparisons and the"
    print "rules of the verdicts were written down, in [scripts/lab-experiments](../scripts/lab-experiments), before the figures of seeds"
    print "2 and 3 were seen; sizes, learning rates and the losses to reach were set by trial runs with seed 1."
    print "Small models and short trainings can answer only for themselves: *not here* says that these runs cannot tell.\n"
    print "Figures are medians over the seeds 1 to " most_seeds ", with the lowest and the highest in parentheses. Models are compared by the updates"
    print "that they need to reach a validation loss (nats a token, interpolated between validations), since most reach nearly the"
    print "same in the end. The *spread* is the larger range of the two that are compared. **A < B** is *borne out* if the medians"
    print "differ in this direction by more than the spread, and *not borne out* if in the other. **A = B** is *borne out* if difference"
    print "and spread together are less than a tenth, and *not borne out* if the difference less the spread is more than a tenth. Otherwise:"
    print "*not here*. Below each experiment, two sentences say what we read from it; they were written after the figures were seen."
    print "`> 400` means that the loss was not reached in 400 updates; for a verdict it counts as 400.\n"
    print "Measured on " machine ". Another processor rounds differently; training amplifies that.\n"
    print "| claim | verdict |\n| --- | --- |"
    for (i = 1; i <= experiments; i++) for (c = 1; c <= claims[order[i]]; c++) if (measured[order[i]]) {
        verdict = judge(order[i], c)
        split(claim[order[i], c], f, " "); text = claim[order[i], c]; sub(/^[^ ]+ [^ ]+ [^ ]+ +/, "", text)
        print "| [" text "](#" order[i] ") | " (verdict == "borne out" ? "**" verdict "**" : verdict) " |"
    }
    for (i = 1; i <= experiments; i++) {
        e = order[i]
        if (!measured[e]) { missing = missing (missing == "" ? "" : ", ") e; continue }
        print "\n<a id=\"" e "\"></a>\n## " title[e] "\n\nSource: " about[e, "source"] "."
        if ((e, "note") in about) print about[e, "note"]
        print "\n```console\n$ scripts/lab " e "\n```\n\nIts first run: `" command[e] "`.\n"
        n = split(columns[e], column, " ")
        printf "| variant | corpus | `./train` |"
        for (k = 1; k <= n; k++) printf " %s |", label[column[k]]
        printf (e in low) ? " loss by updates, seed 1 |\n|" : "\n|"
        for (k = 1; k <= n + 3 + (e in low); k++) printf " --- |"
        print ""
        for (v = 1; v <= variants[e]; v++) {
            name = variant[e, v]
            if (!((e, name) in corpus)) continue
            printf "| %s | %s | %s |", name, corpus[e, name] ((e, corpus[e, name]) in target ? ", loss " target[e, corpus[e, name]] : ""),
                options[e, name] == "" ? "" : "`" options[e, name] "`"
            for (k = 1; k <= n; k++) printf " %s |", cell(e, name, column[k])
            print (e in low) ? " " curve(e, name) " |" : ""
        }
        for (k = 1; k <= pictures[e]; k++) if ((e, picture[e, k]) in corpus) {
            file = picture[e, k]; gsub("/", "-", file)
            print "\nAttention of *" picture[e, k] "*, seed 1, as it translates \"" shown[e, picture[e, k]] "\":"
            print "\n![Attention of " picture[e, k] "](lab-" e "-" file ".png)"
        }
        print "\n| claim | compared | medians | verdict |\n| --- | --- | --- | --- |"
        for (c = 1; c <= claims[e]; c++) {
            verdict = judge(e, c)
            split(claim[e, c], f, " "); text = claim[e, c]; sub(/^[^ ]+ [^ ]+ [^ ]+ +/, "", text)
            print "| " text " | " f[1] " " f[2] " " f[3] " | " evidence " | *" verdict "* |"
        }
        if ((e, "reading") in about) print "\n" about[e, "reading"]
    }
    if (missing != "") print "\nNot measured: " missing "."
}
