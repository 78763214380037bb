# TAB offers the options that --help names, and files: _longopt is of bash-completion.
complete -F _longopt qkv-train qkv-translate qkv-serve
