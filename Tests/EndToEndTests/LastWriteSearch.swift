#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetTestKit
  import Synchronization
  import Testing

  /// A search for secrets in the whole memory of commands when they write their results and when they end.
  ///
  /// The commands close their memory to their user, so the test needs root.
  final class LastWriteSearch: Sendable {
    /// Six kinds: long, short, with spaces, composed, decomposed, and without a Latin letter.
    static let passwords = [
      "kT4#vb-Qz8!mWc9pLr2_xYf7Hd5+Js3Ng6Ue1Ra", "winter-garden-42", "nine corks 7 under the old staircase",
      "kT4#vb-Qz8!mWc9pLr2_xYf7Hd5+Js3Ng6\u{E9}\u{E9}", "kT4#vb-Qz8!mWc9pLr2_xYf7Hd5+Js3Ng6e\u{301}",
      "\u{417}\u{435}\u{43B}\u{451}\u{43D}\u{44B}\u{439}-4821-\u{6F22}\u{5B57}\u{304B}\u{306A}",
    ]

    /// Indicates whether each command is tried with each kind of password, as in `make kill-test`.
    ///
    /// Otherwise each command gets one kind, and many commands none.
    static let triesAll = KillCount.wanted != nil

    /// The passwords of a turn: each kind has each position once in six turns.
    static func kinds(_ turn: Int) -> [String] { (0..<6).map { passwords[($0 + turn) % 6] } }

    /// A secret other than a password.
    struct Secret: Sendable {
      let name: String
      let bytes: [UInt8]
    }

    /// The ending of a command.
    enum Ending: Sendable {
      case success
      /// Status 1: a negative result of a completed command.
      case no
      /// Any other status.
      case failure
    }

    private let scenario: PasswordUse.Scenario?
    private let searched = Mutex<Set<String>>([])
    private let secrets = Mutex<[Secret]>([])
    /// Secrets that servers share with devices and apps are searched too.
    let served = ServedSecrets()

    /// - Parameter scenario: The scenario whose commands are searched; `nil` for a test outside the scenarios.
    init(_ scenario: PasswordUse.Scenario?) { self.scenario = scenario }

    /// Adds a secret to the search in all further commands.
    func add(_ name: String, _ bytes: [UInt8]) {
      secrets.withLock { $0.append(Secret(name: name, bytes: bytes)) }
    }

    private static let vault = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Interop/vault.py").standardized.path

    /// Adds the device's master key, whose file must exist, and the master keys that the device or a password opens.
    func addMasterKeys(of device: InstalledSignet, openedBy passwords: [String] = []) throws {
      let key = try #require(FileManager.default.contents(atPath: "\(device.data)/software-keystore.key"))
      add("master key", Array(key.suffix(32)))
      let python = try #require(
        ProcessInfo.processInfo.environment["SIGNET_PYTHON"],
        "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
      let opened = try ChildCommand(
        [python, Self.vault, device.data, "--keys"],
        input: .bytes(Array(passwords.joined(separator: "\n").utf8))
      ).finish()
      let keys = try JSONDecoder().decode([String: String].self, from: Data(opened.output.utf8))
      try #require(passwords.isEmpty || !keys.isEmpty, "\(opened.output) \(opened.errorOutput)")
      for (domain, key) in keys { add("master key of \(domain)", try Hex.decode(key)) }
    }

    /// Searches a process for passwords and added secrets, and returns those found.
    ///
    /// - Throws: Errors of the search, and an error if the control, which is not secret, is not found.
    func found(in process: Int32, _ texts: [String], control: String) throws -> [String: Int] {
      let search = try MemorySearch(process: process)
      for (index, text) in texts.enumerated() where !text.isEmpty {
        let prepared = text.precomposedStringWithCanonicalMapping
        search.add("password \(index)", SecretBytes(copying: Array(text.utf8)))
        if Array(prepared.utf8) != Array(text.utf8) {
          search.add("prepared \(index)", SecretBytes(copying: Array(prepared.utf8)))
        }
        if prepared.utf8.count >= 24 {
          search.add(charactersOf: "characters \(index)", SecretBytes(copying: Array(prepared.utf8)))
        }
      }
      for secret in try secrets.withLock(\.self) + served.all() {
        search.add(secret.name, SecretBytes(copying: secret.bytes))
      }
      search.add("control", SecretBytes(copying: Array(control.utf8)))
      let found = try search.found()
      try #require(found.keys.contains { $0.hasPrefix("control") })
      return found.filter { !$0.key.hasPrefix("control") }
    }

    private static let diskCalls = ["fdatasync", "fsync"]

    /// Runs a command that reads lines from `--password-fd`, searches for the passwords among them and for added secrets, and
    /// expects an ending.
    ///
    /// With `storing`, the command is also held at each write to the disk, where the search must find the secrets that it stores.
    @discardableResult
    func expectClean(
      _ device: InstalledSignet, _ words: [String], _ passwords: [String] = [], after lines: [String] = [],
      _ ending: Ending = .success, storing: Bool = false,
      sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ServerCommand.Result {
      let trap = try HoldTrap(
        ["write", "exit_group"] + (storing ? Self.diskCalls : []),
        of: device.program ?? InstalledSignet.executable())
      var held = device
      held.launcher = trap.launcher + held.launcher
      let process = try held.process(words, passwords: lines + passwords).start()
      try await watch(trap, process, device, words, passwords, ending, sourceLocation) { true }
      let result = try await process.result()
      let isRight =
        switch ending {
        case .success: result.status == 0
        case .no: result.status == 1
        case .failure: result.status > 1
        }
      #expect(isRight, "\(words): \(result.summary)", sourceLocation: sourceLocation)
      return result
    }

    /// The same for passwords that are typed at a terminal.
    func expectClean(
      atTerminal device: InstalledSignet, _ words: [String], typed: [String],
      sourceLocation: SourceLocation = #_sourceLocation,
      _ person: @escaping @Sendable (ControllingTerminal) throws -> Void
    ) async throws {
      let trap = try HoldTrap(["write", "exit_group"], of: device.program ?? InstalledSignet.executable())
      var held = device
      held.launcher = trap.launcher + held.launcher
      let terminal = try ControllingTerminal(held, words)
      let typing = Thread.result { try person(terminal) }
      // Until the typing is done, writes are prompts, and not all passwords are typed.
      try await watch(trap, terminal.process, device, words, typed, .success, sourceLocation) {
        typing.isFinished
      }
      try await typing.value()
      let ended = try await terminal.end()
      #expect(ended.status == 0, "\(words): \(ended.shown)", sourceLocation: sourceLocation)
    }

    /// Searches at each write to the output, at the last message if the command fails, and at the end.
    private func watch(
      _ trap: HoldTrap, _ process: ChildProcess, _ device: InstalledSignet, _ words: [String],
      _ passwords: [String], _ ending: Ending, _ sourceLocation: SourceLocation,
      isGiven: () -> Bool = { true }
    ) async throws {
      if let command = PasswordUse.command(of: words) { searched.withLock { _ = $0.insert(command) } }
      var last: HoldTrap.Call?
      var lastMessage: [String: Int]?
      var count = 0
      while let call = try await trap.call(after: last, of: process) {
        let isEnd = call.name == "exit_group"
        if Self.diskCalls.contains(call.name) {
          try served.look(in: call.process)
        } else if isEnd || isGiven() {
          let isMessage = !isEnd && call.argument == 2
          // Earlier messages may come while a password is in use.
          if !isMessage || ending == .failure {
            let found = try self.found(in: call.process, passwords, control: device.data)
            if isMessage {
              lastMessage = found
            } else {
              count += 1
              #expect(found.isEmpty, "\(words), \(call.name): \(found)", sourceLocation: sourceLocation)
            }
          }
        }
        last = call
        try trap.letGo(call)
      }
      #expect(count > 0 && last?.name == "exit_group", "\(words)", sourceLocation: sourceLocation)
      if ending == .failure {
        let found = try #require(lastMessage, "\(words) says nothing", sourceLocation: sourceLocation)
        #expect(found.isEmpty, "\(words), its message: \(found)", sourceLocation: sourceLocation)
      }
    }

    /// Compares the searched commands with the table: all of it if everything is tried.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) {
      guard let scenario else { return }
      let (wanted, searched) = (PasswordUse.commands(of: scenario), searched.withLock(\.self))
      #expect(!searched.isDisjoint(with: wanted), sourceLocation: sourceLocation)
      if Self.triesAll {
        #expect(
          wanted.subtracting(searched) == [], "the table says that \(scenario.rawValue) searches them",
          sourceLocation: sourceLocation)
      }
    }
  }

  extension Thread {
    /// Runs a blocking body on a new thread.
    fileprivate static func result(_ body: @escaping @Sendable () throws -> Void) -> Result {
      let result = Result()
      detachNewThread {
        result.finish(Swift.Result { try body() })
      }
      return result
    }

    /// The outcome of the thread.
    fileprivate final class Result: Sendable {
      private let outcome = Mutex<Swift.Result<Void, any Error>?>(nil)

      var isFinished: Bool { outcome.withLock { $0 != nil } }

      func finish(_ result: Swift.Result<Void, any Error>) { outcome.withLock { $0 = result } }

      func value() async throws {
        while true {
          if let outcome = outcome.withLock(\.self) { return try outcome.get() }
          try await Task.sleep(for: .milliseconds(5))
        }
      }
    }
  }
#endif
