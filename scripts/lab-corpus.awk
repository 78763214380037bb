# lab-corpus.awk -- the generated tasks of scripts/lab, the same on every machine.
#
#   awk -v task=mixed -v pairs=5000 -v seed=1 -v source=FILE -v target=FILE [-v gold=FILE] -f lab-corpus.awk
#
# A source is 4 to 9 letters of a to p, after the name of the task if the tasks are mixed. Its target:
#
#   copy      the letters
#   reverse   the letters from last to first
#   sort      the letters by key, where a letter's key depends on its position i, counted from 0:
#             (its place in the alphabet + 5 i) mod 16; equal keys by position
#   mixed     one of the three, by chance
#
# gold has the alignment, i-j for source word i and target word j: which letter became which.
function random(n) {    # a whole number from 0 to n-1: the minimal standard generator
    state = state * 16807 % 2147483647
    return int(state / 2147483647 * n)
}

# order[j] is the position, from 0, of the letter that the target has at j.
function arrange(task, n,  i, j, p) {
    for (j = 0; j < n; j++) order[j] = task == "reverse" ? n - 1 - j : j
    if (task != "sort") return
    for (j = 1; j < n; j++) {
        p = order[j]
        for (i = j - 1; i >= 0 && key(order[i]) > key(p); i--) order[i + 1] = order[i]
        order[i + 1] = p
    }
}
function key(i) { return (letter[i] + 5 * i) % 16 }

BEGIN {
    split("copy reverse sort", tasks, " ")
    state = 20261123 + 7919 * seed
    for (i = 0; i < 10; i++) random(2)
    printf "" >source
    printf "" >target
    for (pair = 0; pair < pairs; pair++) {
        this = task == "mixed" ? tasks[1 + random(3)] : task
        n = 4 + random(6)
        for (i = 0; i < n; i++) letter[i] = random(16)
        arrange(this, n)
        s = task == "mixed" ? this " " : ""
        t = links = ""
        for (j = 0; j < n; j++) {
            s = s (j ? " " : "") substr("abcdefghijklmnop", letter[j] + 1, 1)
            t = t (j ? " " : "") substr("abcdefghijklmnop", letter[order[j]] + 1, 1)
            links = links (j ? " " : "") order[j] + (task == "mixed") "-" j
        }
        print s >source
        print t >target
        if (gold != "") print links >gold
    }
}
