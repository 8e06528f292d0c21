# Forwards to CMake, CTest and the scripts. `make` alone prints this list.
##   make demo       build one application and compare its load balancers on this machine, on one screen; about a minute
##   make test       build everything (with CUDA if nvcc is found), run all tests; BALLAST_DATA=DIR adds the data sets
##   make prove      explore all small clients of every queue and protocol under weak memory, and small clusters; 20 minutes on two cores
##   make mutants    weaken every memory order by one step: a client must fail, or a written reason explains why not
##   make bench      build and run the benchmarks: other libraries, the suites of `ballast bench` (BENCH_FLAGS=--quick)
##   make report     build, run the suites with --quick, and write the page $(BUILD)/report/report.html
##   make fuzz       build with address and undefined sanitizers, fuzz every reader for FUZZ_SECONDS=20, JOBS at a time
##   make sanitize   build with the address, undefined and thread sanitizers and run the tests with each
##   make coverage   build with counters, run the tests, and print the line and branch coverage of the library (lcov)
##   make format     clang-format over all sources
##   make install    into PREFIX=/usr/local; install-library: without the tool, which takes most of the time to build
##   make docs       the documentation as pages, with a reference from the headers: $(BUILD)/site/index.html
##   make packages   Debian packages of the library, its headers and the tool, in build-packages/
##   make clean      remove everything that these commands built
##
## CMAKE_FLAGS: options for cmake; JOBS: parallel jobs; BUILD: build folder; BALLAST_INSTALL=no: install no packages.

BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE_FLAGS ?=
BENCH_FLAGS ?= --quick
PROVE_FLAGS ?=
FUZZ_SECONDS ?= 20
packages = # all; the demo and the library need fewer

ifdef BALLAST_DATA
export BALLAST_DATA
endif

.PHONY: help dependencies configure build demo test prove mutants bench report fuzz sanitize coverage \
        format install install-library docs packages clean

help:
	@sed -n 's/^##//p' Makefile

dependencies:
	@scripts/install-dependencies $(packages)

configure: dependencies
	cmake -S . -B $(BUILD) $(CMAKE_FLAGS)

build: configure
	cmake --build $(BUILD) --parallel $(JOBS)

demo: packages = --required
demo: configure
	cmake --build $(BUILD) --parallel $(JOBS) --target ballast_demo
	$(BUILD)/ballast_demo

test: build
	ctest --test-dir $(BUILD) --output-on-failure --no-tests=error --parallel $$(($(JOBS) + 1)) # some mostly wait

prove: configure
	cmake --build $(BUILD) --parallel $(JOBS) --target ballast_prove test_cluster
	$(BUILD)/ballast_prove --jobs $(JOBS) $(PROVE_FLAGS)
	$(BUILD)/test_cluster --deep

mutants: configure
	cmake --build $(BUILD) --parallel $(JOBS) --target ballast_prove
	$(BUILD)/ballast_prove --mutants --jobs $(JOBS) $(PROVE_FLAGS)

bench: build
	for peers in $(BUILD)/*_peers; do $$peers || exit 1; done
	for suite in $$($(BUILD)/ballast bench | sed -n '/^  peers /d; s/^  \([a-z0-9-]*\) .*/\1/p'); do \
		$(BUILD)/ballast bench $$suite $(BENCH_FLAGS) || exit 1; done

report: configure
	cmake --build $(BUILD) --parallel $(JOBS) --target ballast_tool
	for suite in $$($(BUILD)/ballast bench | sed -n 's/^  \([a-z0-9-]*\) .*/\1/p'); do \
		$(BUILD)/ballast bench $$suite $(BENCH_FLAGS) --out $(BUILD)/report --force || exit 1; done
	for scheduler in static abp; do \
		$(BUILD)/ballast run octree --distribution tube --scheduler $$scheduler --repeat 3 \
			--trace $(BUILD)/report/octree-tube-$$scheduler.trace.json || exit 1; done
	$(BUILD)/ballast report $(BUILD)/report --force

fuzz: dependencies
	JOBS=$(JOBS) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

sanitize: dependencies
	JOBS=$(JOBS) scripts/sanitize

coverage: dependencies
	JOBS=$(JOBS) CMAKE_FLAGS='$(CMAKE_FLAGS)' scripts/coverage

format:
	git ls-files '*.c' '*.h' '*.cpp' '*.cu' | xargs clang-format -i

install: configure
	cmake --build $(BUILD) --parallel $(JOBS) --target ballast_installed
	cmake --install $(BUILD) --prefix $(PREFIX)

# The two components in one call would need CMake 3.31.
install-library: packages = --required
install-library: configure
	cmake --build $(BUILD) --parallel $(JOBS) --target ballast_static ballast_shared
	cmake --install $(BUILD) --prefix $(PREFIX) --component ballast_runtime
	cmake --install $(BUILD) --prefix $(PREFIX) --component ballast_development

docs: dependencies
	scripts/site $(BUILD)/site

packages: dependencies
	cmake -S . -B build-packages -DBALLAST_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr $(CMAKE_FLAGS)
	cmake --build build-packages --parallel $(JOBS)
	cd build-packages && cpack -G DEB

clean:
	rm -rf $(BUILD) build-plain build-installed build-packages build-sanitize-* build-fuzz build-coverage
