# options.sh -- what every script here does with its arguments before anything else. -h and --help
# print the comment at the script's head. An argument that is not in $accepted is wrong use, status 2;
# WORDS in it stands for all arguments that are no options.
for argument; do
    case $argument in
    -h | --help)
        sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    -*) word=$argument ;;
    *) word=WORDS ;;
    esac
    case " ${accepted:-} " in *" $word "* | *" $argument "*) continue ;; esac
    echo "${0##*/}: unknown argument '$argument': see --help" >&2
    exit 2
done
