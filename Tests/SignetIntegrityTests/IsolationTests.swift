#if os(Linux)
  import Foundation
  import SignetIntegrity
  import SignetJSON
  import SignetTestKit
  import Synchronization
  import Testing

  /// Guards that fail, crash and hang, in the process and in a child process.
  ///
  /// The clock that limits them advances only when a test says so, and a child has a minute to answer. A busy machine changes no
  /// result.
  @Suite(.serialized, .timeLimit(.minutes(10))) struct IsolationTests {
    private struct Acting: Guard {
      let name: String
      var placement: GuardPlacement = .child(limit: .seconds(60))
      let act: @Sendable () throws -> [Evidence]
      func examine() throws -> [Evidence] { try act() }
    }

    private let finding = Finding("test.seen", .hook, weight: 0.4)

    private func integrity(_ guards: any Guard..., clock: VirtualTimer = VirtualTimer()) throws -> Integrity {
      try Integrity(guards: guards, settings: .init(reaction: .report), clock: clock)
    }

    private func report(_ acting: Acting) async throws -> IntegrityReport {
      try await integrity(acting).evaluate()
    }

    /// The file in which children record themselves.
    private struct Register {
      private let folder: TemporaryFolder
      let path: String

      init() throws {
        folder = try TemporaryFolder()
        path = folder.file("children")
      }

      /// Records this process.
      static func note(_ path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var id = getpid()
        write(file, &id, MemoryLayout<pid_t>.size)
        close(file)
      }

      /// All recorded processes.
      var children: [pid_t] {
        let bytes = FileManager.default.contents(atPath: path) ?? Data()
        return stride(from: 0, to: bytes.count, by: 4).map { offset in
          bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | pid_t($1) }
        }
      }

      /// The recorded processes that still exist.
      var remaining: [pid_t] { children.filter { kill($0, 0) == 0 } }
    }

    @Test("findings of a guard in a separate process are returned, also an empty list")
    func answers() async throws {
      let parent = getpid()
      let seen = try await report(
        Acting(name: "far") { [finding] in [Evidence(finding, getpid() == parent ? "here" : "in a child")] })
      #expect(seen.evidence == [Evidence(finding, "in a child")])
      #expect(try await report(Acting(name: "quiet") { [] }).evidence.isEmpty)
      let wrapped = IsolatedGuard(
        Acting(name: "near", placement: .inProcess()) { [finding] in
          [Evidence(finding, getpid() == parent ? "here" : "in a child")]
        }, limit: .seconds(60))
      let isolated = try await self.integrity(wrapped).evaluate()
      #expect(isolated.evidence.map(\.explanation) == ["in a child"] && isolated.guards == ["near"])
    }

    @Test(
      "a guard that crashes in a child process does not end the program and is evidence",
      arguments: [
        ("a bad address", "was ended by signal \(SIGSEGV)"), ("a trap", "was ended by signal"),
        ("an abort", "was ended by signal \(SIGABRT)"), ("an exit", "ended by itself with status 3"),
        ("no answer", "ended by itself with status 0"),
      ])
    func crashes(_ way: String, _ text: String) async throws {
      let register = try Register()
      let found = try await report(
        Acting(name: "crashing") { [path = register.path] in
          Register.note(path)
          switch way {
          case "a bad address":
            kill(getpid(), SIGSEGV)
            pause()
          case "a trap": preconditionFailure("on purpose")
          case "an abort": abort()
          case "an exit": _exit(3)
          default: _exit(0)
          }
          return []
        })
      let piece = try #require(found.evidence.first)
      #expect(piece.finding == .crashedGuard && piece.explanation.contains(text), "\(piece)")
      #expect(found.score == Finding.crashedGuard.weight)
      #expect(!register.children.isEmpty && register.remaining.isEmpty)
    }

    @Test("two failing guards of ten are tolerated; three count as tampering", arguments: [0, 1, 2, 3, 10])
    func silenced(_ count: Int) async throws {
      let guards = (0..<10).map { index in
        Acting(name: "guard\(index)", placement: index == 1 ? .child(limit: .seconds(60)) : .inProcess()) {
          if index == 1, count > 1 { _exit(3) }
          if index < count { throw GuardFailure("no right") }
          return []
        }
      }
      let gate = IntegrityGate(
        try Integrity(
          guards: guards, flavour: .release, settings: .standard(for: .release), clock: VirtualTimer()))
      guard count >= 3 else {
        let admitted = try await gate.admit()
        #expect(admitted.undecided.count == count && !admitted.isTampered)
        return
      }
      let failure = await #expect(throws: IntegrityFailure.self) { try await gate.admit() }
      guard case .tampered(let found)? = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
      #expect(found.score == Finding.silencedGuards.weight)
      let told = try #require(found.weighty.first)
      #expect(told.explanation.hasPrefix("\(count) of 10 guards could not run (guard0, guard1, guard2"))
    }

    @Test("a guard that hangs in a child is ended, after four tries, and leaves no process")
    func hangs() async throws {
      let register = try Register()
      let found = try await report(
        Acting(name: "hanging", placement: .child(limit: .milliseconds(300))) { [path = register.path] in
          Register.note(path)
          while true { sleep(1) }
        })
      #expect(found.evidence.map(\.finding) == [.slowGuard])
      #expect(found.evidence.first?.explanation.contains("took longer than 0.3 seconds") == true)
      #expect(found.duration >= .milliseconds(4 * 300), "\(found.duration)")
      // On a busy machine a child may be ended before its first line.
      #expect(register.children.count <= 4 && register.remaining.isEmpty)
    }

    @Test(
      "a hanging guard is abandoned, and not restarted before it returns")
    func hangsHere() async throws {
      let starts = Mutex(0)
      let gate = DispatchSemaphore(value: 0)
      let timer = VirtualTimer()
      let integrity = try self.integrity(
        Acting(name: "stuck", placement: .inProcess(limit: .milliseconds(100))) {
          starts.withLock { $0 += 1 }
          gate.wait()
          return []
        }, clock: timer)
      async let first = integrity.evaluate()
      #expect(await timer.untilSomeoneSleeps() == .milliseconds(100))
      timer.advance(by: .milliseconds(100))
      #expect(await first.evidence.map(\.finding) == [.slowGuard])
      // It is not waited for, since the time does not advance.
      let second = await integrity.evaluate()
      #expect(second.evidence.map(\.finding) == [.slowGuard])
      for _ in 0..<2 { gate.signal() }
      while await !integrity.evaluate().evidence.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
      #expect(starts.withLock { $0 } == 2)
    }

    @Test("concurrent evaluations cause no evidence")
    func together() async throws {
      let count = 8
      let missing = DispatchGroup()
      for _ in 0..<count { missing.enter() }
      let integrity = try self.integrity(
        Acting(name: "meeting", placement: .inProcess()) {
          missing.leave()
          missing.wait()
          return []
        })
      await withTaskGroup(of: [Evidence].self) { group in
        for _ in 0..<count { group.addTask { await integrity.evaluate().evidence } }
        for await evidence in group { #expect(evidence.isEmpty, "\(evidence)") }
      }
    }

    @Test("a guard that throws is evidence, in process and in a child", arguments: [true, false])
    func throwing(isolated: Bool) async throws {
      let found = try await report(
        Acting(name: "failing", placement: isolated ? .child(limit: .seconds(60)) : .inProcess()) {
          throw GuardFailure("no right")
        })
      #expect(found.evidence.map(\.finding) == [.failedGuard])
      #expect(found.evidence.first?.explanation == "the guard failing could not run: no right")
    }

    @Test(
      "if a guard cannot look, the result is undecided unless the others found enough",
      arguments: [true, false])
    func indeterminate(isolated: Bool) async throws {
      struct Fixed: Guard {
        let name = "fixed"
        let weight: Double
        func examine() -> [Evidence] { [Evidence(Finding("test.fixed", .hook, weight: weight), "hooked")] }
      }
      let ways: [@Sendable () throws -> [Evidence]] =
        isolated ? [{ abort() }, { while true { sleep(1) } }] : [{ throw GuardFailure("no right") }]
      for way in ways {
        let failing = Acting(
          name: "failing", placement: isolated ? .child(limit: .milliseconds(100)) : .inProcess(), act: way)
        for (weight, verdict) in [
          (0.0, IntegrityVerdict.indeterminate), (0.7, .indeterminate), (0.9, .tampered),
        ] {
          let report = try await self.integrity(Fixed(weight: weight), failing).evaluate()
          #expect(report.verdict == verdict && report.undecided.count == 1, "\(report.evidence)")
          #expect(try report.json.string("verdict") == verdict.rawValue)
        }
        // A weight makes such a failure lead to a refusal.
        let strict = try await Integrity(
          guards: [failing], settings: .init(reaction: .refuse, weights: ["guardFailure": 0.8]),
          clock: VirtualTimer()
        ).evaluate()
        #expect(strict.verdict == .tampered)
      }
      #expect(try await report(Acting(name: "quiet") { [] }).verdict == .untouched)
    }

    @Test("a child has no descriptor of this process but the standard ones, and writes no core")
    func descriptors() async throws {
      let file = open("/dev/null", O_RDONLY)
      defer { close(file) }
      let found = try await report(
        Acting(name: "looking") { [finding] in
          var limit = rlimit()
          getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
          // Only the pipe for the answer is open.
          let open = (3..<65_536).filter { fcntl(Int32($0), F_GETFD) >= 0 }.count
          return [Evidence(finding, "\(open) open, \(limit.rlim_cur) of core")]
        })
      #expect(found.evidence.map(\.explanation) == ["1 open, 0 of core"])
    }

    @Test(
      "children answer while other threads allocate, lock and make types; none is reported as hanging")
    func amongThreads() async throws {
      let threads = (0..<4).map { number in
        Task.detached {
          var sum = 0
          while !Task.isCancelled {
            let words = (0..<50).map { "\(number) \($0)" }
            sum += Dictionary(grouping: words, by: \.count).count
            sum += ((["words": .array(words.map { .string($0) })] as JSONObject).bytes).count
            await Task.yield()
          }
          return sum
        }
      }
      let integrity = try self.integrity(
        Acting(name: "busy", placement: .child(limit: .seconds(60))) {
          _ = String(describing: (0..<20).map { "\($0)" })
          return []
        })
      for _ in 0..<100 {
        let report = await integrity.evaluate()
        #expect(report.evidence.isEmpty, "\(report.evidence)")
      }
      for thread in threads { thread.cancel() }
      for thread in threads { #expect(await thread.value > 0) }
    }
  }
#endif
