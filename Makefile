# make demo      shows the main job with real processes
# make test      runs every test
# make kill-test kills servers and devices fifty times in each kill test (KILLS=n), where make test kills a few times, tries
#                10,000 right passwords beside kills and 10,000 wrong PINs, has more rounds of programs at once, for each policy
#                and kind of key, more random requests for each operation of the API and more evaluations of a program that nobody
#                attacks, reads all hostile pictures, and holds the end of what is under way for a suspended user to a second
# make history-test  runs 100,000 random histories of two servers against a model of the rules (HISTORIES=n), and 300 on PostgreSQL;
#                make test runs as many as fit into half a minute, and 60 on PostgreSQL
# make mutation-test  takes each rule of Tests/Mutations out of a copy, and sees that the histories or a named test find it
# make bench     measures, beside raw limits and other implementations (OPTIONS of Scripts/bench)
# make fuzz      feeds every parser of outside input with malformed input, a minute each (SECONDS_EACH)
# make compare-builds  compares signet-check unoptimised with signet-check as an app that depends on the package compiles it (COUNT
#                inputs of each kind)
# make check     format and documents, that every parser has a fuzz target, that suites which can wait have a time limit, that the page
#                of audit events is what the sources say, that the tables of settings are what their schema says, and that the patches
#                of Tests/Mutations fit and their tests are there
# make release   builds the commands as they are installed; make install puts them in place (PREFIX, DESTDIR, SYSCONFDIR), with a
#                manifest that is signed by the release's key (RELEASE_KEY), and signet with a group of its own (GROUP)
# signet-check is not installed: it compares vectors with other implementations, and is of use with the source and its documents.
# demo, test, kill-test, history-test, mutation-test, bench, fuzz, compare-builds and release install the Debian packages that are missing.
# All of them take SWIFT, the compiler's command.

SWIFT ?= swift
export SWIFT
PREFIX ?= /usr/local

.PHONY: demo test kill-test history-test mutation-test check compare-builds format release install bench fuzz clean

demo:
	Scripts/setup demo
ifdef PROGRAMS
	Scripts/demo $(PROGRAMS)
else
	Scripts/release
	Scripts/demo
endif

test:
	Scripts/setup test
	BUILD="$(BUILD)" Scripts/test

kill-test:
	Scripts/setup test
	SIGNET_KILLS=$(or $(KILLS),50) BUILD="$(BUILD)" Scripts/test SignetVaultTests 'AttemptKillTests/|wrongPINs|noVerifier'
	SIGNET_KILLS=$(or $(KILLS),50) BUILD="$(BUILD)" Scripts/test SignetTests 'UAFInterruptionTests/'
	SIGNET_KILLS=$(or $(KILLS),50) BUILD="$(BUILD)" Scripts/test SignetIntegrityTests 'AttackTests/clean'
	SIGNET_KILLS=$(or $(KILLS),50) BUILD="$(BUILD)" Scripts/test EndToEndTests \
	  'KillTests/|KilledAttemptTests/|ConcurrentAttemptTests/|TwoProcessTests/|DatabaseServerTests/|OffboardingTests/|ProcessHistoryTests/|survivesKills|AcrossProcessesAndKills|LastWriteTests/|APIDescriptionCheckTests/|HostilePictureTests/|InterruptedDerivationTests/'

	# Where the two sides did not agree once.
	for seed in 14447726510751658896 16536636072437533682; do \
	  SIGNET_SEED=$$seed SIGNET_KILLS=$(or $(KILLS),50) BUILD="$(BUILD)" Scripts/test EndToEndTests UAFKillTests/ || exit; done

history-test:
	Scripts/setup test
	SIGNET_HISTORIES=$(or $(HISTORIES),100000) BUILD="$(BUILD)" Scripts/test SignetSimulationTests 'histories|finds'

mutation-test:
	Scripts/setup test
	Scripts/mutation-test

bench:
	Scripts/setup bench
	Scripts/bench $(OPTIONS)

fuzz:
	Scripts/setup build
	Scripts/fuzz --seconds $(or $(SECONDS_EACH),60)

compare-builds:
	Scripts/setup build
	Scripts/compare-builds --count $(or $(COUNT),100000)

check:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks/Sources Fuzz/Package.swift Fuzz/Sources
	Scripts/check-docs
	Scripts/check-fuzz
	Scripts/check-time-limits
	Scripts/audit-page --check
	Scripts/settings-tables --check
	Scripts/mutation-test --check

format:
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Benchmarks/Sources Fuzz/Package.swift Fuzz/Sources

release:
	Scripts/setup build
	Scripts/release

install:
	PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" SYSCONFDIR="$(SYSCONFDIR)" Scripts/install

clean:
	rm -rf .build Fuzz/.build
