# make            ./train, ./translate and ./serve, for any x86-64: the kernels are chosen at start-up
# make test       every test; ends with "N passed, N failed". T=loss: those whose path matches it
# make asan       the same under AddressSanitizer and UndefinedBehaviorSanitizer
# make tsan       both programs under ThreadSanitizer, in build/tsan; make test then runs them, too
# make fuzz       the fuzzers of tests/fuzz, with clang's libFuzzer; scripts/fuzz runs them
# make page       build/page/qkv.html: the toy's model in one page for browsers; own.html, which ./translate --page
#                 fills with another (clang, lld, wasi-libc)
# make reference  build/reference/transformer: the whole network in one file
# make exercise E=3    makes and checks an exercise of docs/exercises.md
# make check-all  the slow checks: sanitizers, valgrind, coverage, clang, … (scripts/check-all --help)
# make bench      speed of training, translating, starting (scripts/benchmark --help)
# make golden     recomputes the golden vectors with PyTorch (python3-torch); redraws the golden pictures
# make format     formats the sources (clang-format 14)
# make install    installs qkv-train, qkv-translate, qkv-serve, the library, man pages, completion and documents
#                 in DESTDIR/PREFIX (PREFIX: /usr/local). make uninstall removes them
# make deb        Debian packages in build/deb (debhelper, dh-python)
# make compile_commands.json    for editors and clang-tidy
# MPI=1 requires Open MPI, for training on several machines; MPI=0 leaves it out; default: if found
CC      ?= cc
CXX     ?= c++
# The checks of buffers and of the stack, and addresses that cannot be written, cost less than 1 %.
CFLAGS  ?= -O3 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong
CXXFLAGS ?= $(CFLAGS)
LDFLAGS ?= -Wl,-z,relro,-z,now
BUILD   ?= build
BIN     ?= .
# The compiler's own ar, nm and objcopy. RUN starts a program for another processor (CONTRIBUTING.md).
TOOL     = $(shell $(CC) -print-prog-name=$1)
RUN     ?=

# Where it is installed. qkv-train looks for its toy corpus in BINDIR/../share.
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR  ?= $(DATADIR)/man
DOCDIR  ?= $(DATADIR)/doc/qkv
UNITDIR ?= $(PREFIX)/lib/systemd/system
BLANKS   = $(strip $(foreach d,PREFIX BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR DOCDIR UNITDIR,$(if $(word 2,$($d)),$d)))
$(if $(and $(filter %install,$(MAKECMDGOALS)),$(BLANKS)),$(error give folders without blanks: $(BLANKS). Only DESTDIR may have some))

PACKAGES = libpng zlib sentencepiece jansson expat pangocairo icu-uc icu-i18n gumbo
# Everything but these goals needs the packages.
ifneq ($(filter-out help format clean uninstall bench check-all deb,$(or $(MAKECMDGOALS),all)),)
NEEDED   = $(PACKAGES) libmicrohttpd openblas $(if $(filter test% asan,$(MAKECMDGOALS)),cmocka)
MISSING := $(shell for p in pkg-config $(firstword $(CC)) $(firstword $(CXX)); do \
                 command -v $$p >/dev/null || echo $$p; done; \
             for p in $(NEEDED); do pkg-config --exists $$p 2>/dev/null || echo $$p; done)
$(if $(MISSING),$(error missing: $(MISSING). Run scripts/setup$(if $(filter cmocka,$(MISSING)), --tests)))
endif
MACHINE := $(shell $(CC) -dumpmachine)
WARNINGS = -Wall -Wextra -Wshadow -Wno-pass-failed
MATHS    = -fopenmp-simd -fno-math-errno -fno-trapping-math -ffp-contract=fast
# gcc 12 for arm64 crashes where it vectorises the maximum of floats as doubles.
MATHS   += $(if $(filter aarch64%,$(MACHINE)),-fno-builtin-fmax)
# The same objects make programs and libqkv.so (-fPIC …), and the same files in every folder (-ffile-prefix-map).
PLACE    = -fPIC -fno-semantic-interposition -ftls-model=initial-exec -ffile-prefix-map="$(CURDIR)=."
PACKAGE_FLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
PACKAGE_LIBS  := $(shell pkg-config --libs $(PACKAGES:pangocairo=glib-2.0) 2>/dev/null)
COMMON   = $(CPPFLAGS) $(MATHS) $(WARNINGS) $(PLACE) -pthread -MMD -MP -I. -D_GNU_SOURCE $(PACKAGE_FLAGS)
FLAGS    = $(CFLAGS) $(COMMON)
MPI     ?= $(if $(shell command -v mpicc 2>/dev/null),1,0)
ifeq ($(MPI),1)
$(if $(shell command -v mpicc 2>/dev/null),,$(error MPI=1 needs mpicc of Open MPI (libopenmpi-dev)))
MPI_FLAGS := -DWITH_MPI $(shell mpicc --showme:compile)
MPI_LIBS  := -Wl,--as-needed $(shell mpicc --showme:link)
endif
# Detects languages for ./serve, if it is there.
CLD2    := $(if $(wildcard /usr/include/cld2/public/compact_lang_det.h /usr/local/include/cld2/public/compact_lang_det.h),1)
CSTD     = -std=c11 -Wstrict-prototypes -Wvla
LIBS     = $(PACKAGE_LIBS) -lstdc++ -lm -pthread $(MPI_LIBS)

FOLDERS  = base kernels model training data inference scores plots explain commands commands/train \
           commands/translate commands/serve manual
SOURCES  = $(filter-out %/generate.c,$(wildcard $(FOLDERS:%=%/*.c)))
# The files that compute, and the kinds of processors for which each is compiled (kernels/kind.h).
VECTORS  = $(wildcard $(addsuffix .c,$(addprefix kernels/,bf16 gemm int8 matrix panels tile) \
           $(addprefix model/,addnorm attention checkpoint dropout embedding feedforward head layernorm linear loss scorefunction) \
           $(addprefix inference/,beam cache choices predictor sampling scoring screening search)))
KINDS    = $(if $(filter x86_64%,$(MACHINE)),plain avx2 avx512)
OPTIONS_avx2   = -mavx2 -mfma
OPTIONS_avx512 = $(OPTIONS_avx2) -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=256
OBJECTS  = $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(if $(KINDS),$(VECTORS)),$(SOURCES))) \
           $(patsubst %.cc,$(BUILD)/%.o,$(wildcard data/*.cc commands/serve/*.cc)) $(KINDS:%=$(BUILD)/%.o) \
           $(if $(KINDS),$(BUILD)/kinds.o)
LIBRARY  = $(patsubst %.c,$(BUILD)/%.o,$(filter-out %/example.c,$(wildcard library/*.c)))
DOUBLES  = $(patsubst %.c,$(BUILD)/double/%.o,$(wildcard base/*.c kernels/*.c model/*.c))
TESTS    = $(patsubst %.c,$(BUILD)/%,$(filter-out tests/fixtures/%,$(wildcard tests/*/*.c)))
CHECKS   = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/model/gradients/*.c))
TOOLS    = $(BUILD)/data/toy/generate
# The type of processor and the options for it. Other ones compile everything again, so that make install does not take what an
# earlier make CFLAGS=-march=native made.
PROCESSOR := processor$(shell echo ' $(MACHINE) $(filter -m%,$(CFLAGS) $(CXXFLAGS) $(CPPFLAGS))' | tr -c 'a-z0-9=\n' -)
VERSION := $(shell sed -n 's/.*QKV_VERSION "\(.*\)"/\1/p' base/options.h)
SONAME  := libqkv.so.$(firstword $(subst ., ,$(VERSION)))
BENCH    = $(patsubst %.c,$(BUILD)/%.o,$(wildcard benchmark/*.c))
TOY      = $(patsubst %.c,$(BUILD)/%.o,$(wildcard data/toy/*.c))
MANUAL   = $(addprefix $(BUILD)/manual/,qkv-train.1 qkv-translate.1 qkv-serve.1 qkv.3)

all: $(BIN)/train $(BIN)/translate $(BIN)/serve $(BUILD)/libqkv.a $(BUILD)/$(SONAME) $(MANUAL)

# Only ./train can be a rank of several.
$(BUILD)/training/single.o: training/distributed.c $(BUILD)/$(PROCESSOR)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(FLAGS) -c $< -o $@
$(BIN)/translate: $(BUILD)/training/single.o
$(BIN)/train $(BIN)/translate: $(BIN)/%: $(BUILD)/%.o $(BUILD)/all.a
	$(CC) $(FLAGS) -pie $(filter %.o,$^) $(BUILD)/all.a -o $@ $(LDFLAGS) $(LIBS)
$(BIN)/serve: $(BUILD)/serve.o $(BUILD)/library/qkv.o $(BUILD)/training/single.o $(BUILD)/all.a
	$(CC) $(FLAGS) -pie $^ -o $@ $(LDFLAGS) $(LIBS) $(shell pkg-config --libs libmicrohttpd) $(CLD2:%=-lcld2)

$(BUILD)/all.a: $(OBJECTS)
	rm -f $@ && $(call TOOL,ar) rcs $@ $^
$(BUILD)/double.a: $(DOUBLES)
	rm -f $@ && $(call TOOL,ar) rcs $@ $^

# All VECTORS of a kind as one object. Its function f becomes f.KIND; its tables are those of the first kind.
define kind
$(BUILD)/$1/%.o: %.c $(BUILD)/$$(PROCESSOR)
	@mkdir -p $$(@D)
	$$(CC) $$(CSTD) $$(FLAGS) $$(OPTIONS_$1) -c $$< -o $$@
$(BUILD)/$1.o: $(VECTORS:%.c=$(BUILD)/$1/%.o) Makefile
	$$(CC) -r -nostdlib $$(filter %.o,$$^) -o $$@
	$$(call TOOL,nm) -g --defined-only $$@ | awk '$$$$2 == "T" { print $$$$3, $$$$3 ".$1" }' >$(BUILD)/$1.names
	$$(call TOOL,nm) -g --defined-only $$@ | awk '$$$$2 != "T" { print $$$$3 }' >$(BUILD)/$1.tables
	$$(call TOOL,objcopy) --redefine-syms=$(BUILD)/$1.names \
	    $(if $(filter $1,$(firstword $(KINDS))),,--localize-symbols=$(BUILD)/$1.tables) $$@
endef
$(foreach k,$(KINDS),$(eval $(call kind,$k)))
# What kernels/kind.c chooses from: a row of functions for each kind, and for each function its name, which
# jumps to the chosen one. The names are weak, so that exercises and tests can define them otherwise.
$(BUILD)/kinds.s: $(KINDS:%=$(BUILD)/%.o)
	awk -v kinds='$(KINDS)' '{ name[n++] = $$1 } \
	    function row(kind) { for (i = 0; i < n; i++) print ".quad", name[i] "." kind } \
	    END { print ".section .note.GNU-stack\n.text"; \
	          for (i = 0; i < n; i++) \
	              printf ".weak %s\n.type %s, @function\n%s: jmp *kind_chosen+%d(%%rip)\n", \
	                     name[i], name[i], name[i], 8 * i; \
	          print ".globl kind_chosen, kind_table, kind_functions\n.data\n.balign 8\nkind_chosen:"; \
	          k = split(kinds, kind, " "); row(kind[1]); \
	          print ".section .data.rel.ro, \"aw\"\n.balign 8\nkind_functions: .quad", n; \
	          print "kind_table:"; for (j = 1; j <= k; j++) row(kind[j]) }' $(BUILD)/$(firstword $(KINDS)).names >$@
$(BUILD)/kinds.o: $(BUILD)/kinds.s
	$(CC) -c $< -o $@

# The library: its face and what that needs, as one object in which all but qkv_… is local.
$(BUILD)/libqkv.a: $(LIBRARY) $(BUILD)/all.a
	$(CC) -r -nostdlib $^ -o $(BUILD)/qkv.o
	$(call TOOL,nm) -g --defined-only $(BUILD)/qkv.o | awk '$$3 !~ /^qkv_/ && ($$2 ~ /[TDBRC]/ || $$2 == "W" && $$3 !~ /^_Z|^__clang/) { print $$3 }' \
	    >$(BUILD)/qkv.local
	$(call TOOL,objcopy) --localize-symbols=$(BUILD)/qkv.local $(BUILD)/qkv.o
	rm -f $@ && $(call TOOL,ar) rcs $@ $(BUILD)/qkv.o
$(BUILD)/$(SONAME): $(BUILD)/libqkv.a
	echo '{ global: qkv_*; local: *; };' >$(BUILD)/qkv.map
	$(CC) $(FLAGS) -shared $(BUILD)/qkv.o -o $@ $(LDFLAGS) -Wl,-soname,$(SONAME) -Wl,--version-script=$(BUILD)/qkv.map \
	    -Wl,--as-needed $(PACKAGE_LIBS) -lstdc++ -lm -pthread
	ln -sf $(SONAME) $(BUILD)/libqkv.so

$(BUILD)/training/distributed.o: CSTD += $(MPI_FLAGS)
# Files that are new whenever MPI or PROCESSOR is another than in the last build.
$(BUILD)/training/distributed.o: $(BUILD)/mpi-$(MPI)
$(foreach f,mpi-$(MPI) $(PROCESSOR),$(shell test -e $(BUILD)/$f || \
    { mkdir -p $(BUILD) && rm -f $(BUILD)/$(firstword $(subst -, ,$f))-* && touch $(BUILD)/$f; }))

# The page of --attention OUT.html: HTML with its style and scripts inside, as bytes for C.
PAGE = $(addprefix plots/page/,data.js heat.js heads.js model.js neuron.js save.js page.js)
$(BUILD)/plots/page.inc: plots/page/page.html plots/page/page.css $(PAGE)
	@mkdir -p $(@D)
	cat $(PAGE) >$(BUILD)/plots/page.js
	sed -e '/@style@/{r plots/page/page.css' -e 'd;}' -e '/@script@/{r $(BUILD)/plots/page.js' \
	    -e 'd;}' $< | od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g' >$@
$(BUILD)/explain/page.o $(BUILD)/wasm/explain/page.o: $(BUILD)/plots/page.inc
$(BUILD)/explain/page.o: FLAGS += -I$(BUILD)

# The page of ./serve: the same, with two fields, for texts that the server translates.
$(BUILD)/plots/serve.inc: $(BUILD)/plots/page.inc $(addprefix plots/page/,serve.html http.js serve.js)
	sed -e '/@style@/{r plots/page/page.css' -e 'd;}' -e '/@script@/{r $(BUILD)/plots/page.js' -e 'd;}' \
	    -e "s/script-src 'unsafe-inline'/&; connect-src 'self'/" \
	    -e 's|<h1 id="title">.*|<h1>Translate</h1><p id="title" class="sr"></p>|' -e '/^<\/header>/r plots/page/serve.html' \
	    -e '/^<\/body>/{s/.*/<script>/;r plots/page/http.js' -e 'r plots/page/serve.js' -e '}' -e 's/^<\/html>/<\/script>\n<\/body>\n&/' \
	    plots/page/page.html | od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g' >$@
$(BUILD)/commands/serve/drawing.o: $(BUILD)/plots/serve.inc
$(BUILD)/commands/serve/drawing.o: FLAGS += -I$(BUILD)
$(BUILD)/commands/serve/language.o: COMMON += $(CLD2:%=-DWITH_CLD2)

# The page that translates by itself, for any browser: the C as WebAssembly (library/web/web.c), without the files
# that need a library, threads or a file system, and the toy's model. Weights are base64 because HTML is text.
WASM     = $(filter-out $(addprefix base/,block.c columns.c file.c options-json.c workers.c) \
             $(addprefix data/,augment.c dictionary.c encoding.c html.c segments.c spans.c text.c textprofile.c typography.c words.c) inference/marian.c library/web/pack.c, \
             $(wildcard $(addsuffix /*.c,base kernels model training data inference explain library/web)) \
             $(addprefix data/toy/,choose.c corpus.c lexicon.c say.c) plots/colormap.c)
WASM_FLAGS = --target=wasm32-wasi -O3 -msimd128 $(MATHS) $(WARNINGS) $(CSTD) -I. -I$(BUILD) -Ilibrary/web/include \
             -D_GNU_SOURCE -D_WASI_EMULATED_SIGNAL -ffunction-sections -fdata-sections -MMD -MP
LIVE     = $(addprefix plots/page/,engine.js worker.js learn.js live.js)
$(BUILD)/wasm/%.o: %.c
	@mkdir -p $(@D)
	clang $(WASM_FLAGS) -c $< -o $@
WASI     = $(and $(wildcard /usr/include/wasm32-wasi/stdio.h),$(shell command -v clang),$(shell command -v wasm-ld))
$(BUILD)/page/qkv.wasm: $(WASM:%.c=$(BUILD)/wasm/%.o)
	@mkdir -p $(@D)
	clang --target=wasm32-wasi -mexec-model=reactor -Wl,--gc-sections,-s,-z,stack-size=1048576,--export=malloc,--export=free $^ -o $@
$(BUILD)/page/pack: $(BUILD)/library/web/pack.o $(BUILD)/all.a
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $^ -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/page/qkv.html: $(BUILD)/page/qkv.wasm $(BUILD)/page/pack $(BIN)/translate scripts/page plots/page/live.html plots/page/learn.html $(LIVE)
	BUILD=$(BUILD) BIN=$(BIN) RUN="$(RUN)" scripts/page $(LIVE)
# The page of ./translate --page, without a model.
$(BUILD)/page/own.html: $(BUILD)/page/qkv.wasm $(BUILD)/plots/page.inc $(addprefix plots/page/,serve.html engine.js own.js serve.js)
	gzip -9nc $< | base64 -w 0 >$(BUILD)/page/qkv.base64
	sed -e '/@style@/{r plots/page/page.css' -e 'd;}' -e '/@script@/{r $(BUILD)/plots/page.js' -e 'd;}' \
	    -e "s/script-src 'unsafe-inline'/& 'wasm-unsafe-eval'/" \
	    -e 's|<h1 id="title">.*|<h1>Translate</h1><p id="title" class="sr"></p>|' -e '/^<\/header>/r plots/page/serve.html' \
	    -e '/^<\/body>/{s/.*/@model@<script type="text\/plain" id="program">/;r $(BUILD)/page/qkv.base64' -e '}' \
	    -e '/^<\/html>/{s/.*/<\/script>\n<script>/;r plots/page/engine.js' -e 'r plots/page/own.js' -e 'r plots/page/serve.js' -e '}' \
	    plots/page/page.html >$@
	printf '</script>\n</body>\n</html>\n' >>$@
page: $(BIN)/translate $(if $(filter page,$(MAKECMDGOALS)),$(if $(WASI),,$(error make page needs clang, lld and wasi-libc: scripts/setup --tests)))
page:
	@$(MAKE) -s --no-print-directory $(BUILD)/page/qkv.html $(BUILD)/page/own.html
	@echo "$(abspath $(BUILD)/page/qkv.html)"

# Man pages, from the tables of options.
$(BUILD)/manual/generate: $(BUILD)/manual/generate.o $(BUILD)/all.a
	$(CC) $(FLAGS) $^ -o $@ $(LDFLAGS) $(LIBS)
$(MANUAL): $(BUILD)/manual/generate $(wildcard manual/*.in)
	$(RUN) $< $(@F) >$@

$(BUILD)/double/%.o: %.c $(BUILD)/$(PROCESSOR)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(FLAGS) -DREAL_IS_DOUBLE -c $< -o $@
$(BUILD)/%.o: %.c $(BUILD)/$(PROCESSOR)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(FLAGS) -c $< -o $@
$(BUILD)/%.o: %.cc $(BUILD)/$(PROCESSOR)
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(CXXFLAGS) $(COMMON) -c $< -o $@

# What only tests need is built as fast as it can be: with little optimisation, and linked by gold if it is there.
$(BUILD)/tests/%.o: CFLAGS = -O1
GOLD    := $(if $(shell command -v $(call TOOL,ld.gold)),-fuse-ld=gold)
$(CHECKS): $(BUILD)/%: $(BUILD)/double/%.o $(BUILD)/double.a
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $^ -o $@ $(LDFLAGS) $(GOLD) $(LIBS) -lcmocka
$(filter-out %/derivatives,$(TESTS)): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/all.a
	$(CC) $(FLAGS) $^ -o $@ $(LDFLAGS) $(GOLD) $(LIBS) -lcmocka
# The network in one file, which includes nothing of the rest; DERIVATIVES checks it, or a file of exercises/ (scripts/exercise).
REFERENCE = $(CSTD) $(CPPFLAGS) $(CFLAGS) $(MATHS) $(WARNINGS) -MMD -MP -I. $< -o $@ $(LDFLAGS) \
            $(shell pkg-config --cflags --libs openblas libpng zlib) -lm
DERIVATIVES = -DREFERENCE='"$(filter %.c,$(word 2,$^))"' -Wno-unused
$(BUILD)/reference/transformer $(BUILD)/reference/double: reference/transformer.c
	@mkdir -p $(@D)
	$(CC) $(if $(filter %double,$@),-DREAL_IS_DOUBLE) $(REFERENCE)
$(BUILD)/reference/short.c: reference/transformer.c
	@mkdir -p $(@D)
	sed 's/UPDATES = [0-9]*/UPDATES = 60/' $< >$@
$(BUILD)/reference/short: $(BUILD)/reference/short.c
	$(CC) $(REFERENCE)
$(BUILD)/tests/reference/derivatives: tests/reference/derivatives.c reference/transformer.c
	@mkdir -p $(@D)
	$(CC) $(DERIVATIVES) $(REFERENCE)
$(BUILD)/exercises/%: tests/reference/derivatives.c exercises/%.c
	@mkdir -p $(@D)
	$(CC) $(DERIVATIVES) $(REFERENCE)
# The program's own numbers, to be compared with the reference's: in float, and in double.
ORACLE   = $(BUILD)/tests/fixtures/oracle $(BUILD)/double/tests/fixtures/oracle
$(BUILD)/tests/fixtures/oracle: $(BUILD)/tests/fixtures/oracle.o $(BUILD)/all.a
	$(CC) $(FLAGS) $^ -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/double/tests/fixtures/oracle: $(BUILD)/double/tests/fixtures/oracle.o \
    $(patsubst %.c,$(BUILD)/double/%.o,$(wildcard training/*.c)) $(BUILD)/double.a $(patsubst %,$(BUILD)/%.o,$(basename $(wildcard data/*.c data/*.cc)))
	$(CC) $(FLAGS) $^ $(BUILD)/double.a -o $@ $(LDFLAGS) $(LIBS)
reference: $(BUILD)/reference/transformer
exercise:
	@BUILD=$(BUILD) scripts/exercise $(E)
$(TOOLS): $(TOY) $(BUILD)/all.a
	$(CC) $(FLAGS) $^ -o $@ $(LDFLAGS) $(LIBS)
$(BUILD)/kernels/openblas.o $(BUILD)/benchmark/peak.o: COMMON += $(shell pkg-config --cflags openblas)
$(BUILD)/benchmark/benchmark: $(BENCH) $(BUILD)/all.a
	$(CC) $(FLAGS) $^ -o $@ $(LDFLAGS) $(LIBS) $(shell pkg-config --libs openblas)
$(BUILD)/tests/data/toy: | $(TOOLS)
$(BUILD)/tests/data/vocabulary: $(BUILD)/tests/fixtures/sentencepiece-model.o
$(BUILD)/tests/library/library: $(BUILD)/libqkv.a
# The page's tokenizer under other names, to be compared with SentencePiece's.
$(BUILD)/tests/fixtures/web-tokenizer.o: library/web/tokenizer.c $(BUILD)/$(PROCESSOR)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(FLAGS) $(foreach f,load free encode_begins,-Dtokenizer_$f=web_$f) -c $< -o $@
$(BUILD)/tests/library/encoder: $(addprefix $(BUILD)/tests/fixtures/,web-tokenizer.o sentencepiece-model.o)

tests: $(addprefix $(BUILD)/reference/,transformer double short) $(ORACLE) $(TESTS) $(CHECKS) $(TOOLS) $(BUILD)/benchmark/benchmark
test: all tests $(if $(filter test,$(MAKECMDGOALS)),$(if $(WASI),page))
	@BUILD=$(BUILD) BIN=$(BIN) T='$(T)' tests/run
asan:
	$(MAKE) BUILD=build/asan BIN=build/asan test \
	    CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
# As on a processor that is not x86-64: with one kind of kernels.
tsan:
	$(MAKE) BUILD=build/tsan BIN=build/tsan MPI=0 KINDS= CFLAGS="-O0 -g1 -fsanitize=thread" \
	    build/tsan/train build/tsan/translate
# The fuzzers tests/fuzz/*.c with libFuzzer, which only clang has; scripts/fuzz runs them.
fuzz:
	@command -v clang >/dev/null || { echo "skipped the fuzzers: clang is missing"; exit; }; \
	$(MAKE) BUILD=build/fuzz CC=clang CXX=clang++ MPI=0 LDFLAGS=-fsanitize=fuzzer \
	    CFLAGS="-O1 -g -DLIBFUZZER -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=vptr,function \
	    -fno-sanitize-recover=undefined" $(patsubst %.c,build/fuzz/%,$(wildcard tests/fuzz/*.c))
check-all:
	@scripts/check-all
bench:
	@scripts/benchmark
golden: $(BUILD)/tests/plots/pictures
	/usr/bin/python3 tests/fixtures/golden/make-golden.py
	GOLDEN_PICTURES=write $(BUILD)/tests/plots/pictures
format:
	@find . -path ./build -prune -o -name '*.[ch]' -print -o -name '*.cc' -print -o -name '*.hh' -print | \
	    xargs $(shell command -v clang-format-14 || echo clang-format) -i

# What is installed: FILE:WHERE.
PROGRAMS = $(foreach p,train translate serve,$(BIN)/$p:$(BINDIR)/qkv-$p)
DOCS     = README.md CONTRIBUTING.md CHANGELOG.md LICENSE $(wildcard docs/*.md docs/*.png docs/*.tsv docs/by-hand/* reference/*.c) \
           checkpoints/README.md data/toy/README.md model/README.md training/README.md $(wildcard library/example.*) library/qkv.h library/qkv.py
TEXTS    = $(foreach p,qkv-train qkv-translate qkv-serve,\
             $(BUILD)/manual/$p.1:$(MANDIR)/man1/$p.1 \
             manual/qkv.bash:$(DATADIR)/bash-completion/completions/$p) \
           manual/_qkv:$(DATADIR)/zsh/site-functions/_qkv \
           $(foreach f,$(wildcard data/toy/*.gz data/toy/*.en data/toy/*.fr data/toy/*.align data/toy/*.safetensors),\
             $f:$(DATADIR)/qkv/toy/$(notdir $f)) \
           $(foreach f,$(DOCS),$f:$(DOCDIR)/$f) $(foreach f,$(wildcard $(BUILD)/page/own.html),$f:$(DATADIR)/qkv/own.html) \
           library/qkv.h:$(INCLUDEDIR)/qkv.h $(BUILD)/libqkv.a:$(LIBDIR)/libqkv.a \
           $(BUILD)/$(SONAME):$(LIBDIR)/$(SONAME) library/qkv.py:$(DATADIR)/qkv/qkv.py \
           $(BUILD)/qkv.pc:$(LIBDIR)/pkgconfig/qkv.pc \
           $(BUILD)/qkv-serve.service:$(UNITDIR)/qkv-serve.service $(BUILD)/manual/qkv.3:$(MANDIR)/man3/qkv.3
define put
install -D -m $1 $(subst :, "$(DESTDIR),$2)"

endef
$(BUILD)/qkv.pc: library/qkv.pc.in base/options.h .FORCE
	sed -e 's|@prefix@|$(PREFIX)|; s|@libdir@|$(LIBDIR)|; s|@includedir@|$(INCLUDEDIR)|' \
	    -e 's|@version@|$(VERSION)|' $< >$@
$(BUILD)/qkv-serve.service: packages/qkv-serve.service.in .FORCE
	sed 's|@bindir@|$(BINDIR)|' $< >$@
install: all $(BUILD)/qkv.pc $(BUILD)/qkv-serve.service
	$(foreach f,$(PROGRAMS),$(call put,755,$f))
	$(foreach f,$(TEXTS),$(call put,644,$f))
	ln -sf $(SONAME) "$(DESTDIR)$(LIBDIR)/libqkv.so"
uninstall:
	rm -f $(foreach f,$(PROGRAMS) $(TEXTS),"$(DESTDIR)$(lastword $(subst :, ,$f))") "$(DESTDIR)$(LIBDIR)/libqkv.so"
	for folder in "$(DESTDIR)$(DATADIR)/qkv" "$(DESTDIR)$(DOCDIR)"; do \
	    ! test -d "$$folder" || find "$$folder" -depth -type d -empty -delete; done
clean:
	rm -rf build train translate serve compile_commands.json
# The Debian packages qkv, libqkv1, libqkv-dev and python3-qkv, of what is committed.
deb:
	rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb/qkv && git archive HEAD | tar x -C $(BUILD)/deb/qkv
	cd $(BUILD)/deb/qkv && cp -r packages/debian debian && \
	    printf 'qkv ($(VERSION)) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- The qkv authors <qkv@qkv.invalid>  %s\n' \
	        "$$(git -C "$(CURDIR)" log -1 --format=%cD)" >debian/changelog && dpkg-buildpackage -us -uc -b
help:
	@sed -n '/^#/!q; s/^# //p' Makefile

COMPILED = $(SOURCES) $(wildcard *.c library/*.c benchmark/*.c data/toy/*.c reference/*.c tests/*/*.c tests/model/gradients/*.c)
compile_commands.json: .FORCE
	@{ printf '['; \
	   printf '{"directory":"$(CURDIR)","file":"%s","command":"$(CC) $(CSTD) $(subst $(PLACE),,$(FLAGS)) -Ilibrary -I$(BUILD) -c %s"},\n' \
	       $(foreach f,$(COMPILED) library/web/pack.c,$f $f); \
	   for f in $(if $(WASI),$(filter library/web/%,$(WASM))); do \
	       echo "{\"directory\":\"$(CURDIR)\",\"file\":\"$$f\",\"command\":\"clang $(WASM_FLAGS) -c $$f\"},"; done; } | sed '$$s/,$$/]/' >$@

.PHONY: all deb page test tests asan tsan fuzz reference exercise check-all bench golden format install uninstall clean help .FORCE
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
