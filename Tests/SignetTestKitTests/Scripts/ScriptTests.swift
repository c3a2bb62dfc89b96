import Foundation
import SignetTestKit
import Testing

/// Rejections and findings of other scripts.
@Suite("Scripts", .timeLimit(.minutes(5))) struct ScriptTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..").standardized.path
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ words: [String], _ variables: [String: String] = [:]) async throws
    -> ChildProcess.Result
  {
    var environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    for name in ["SIGNET_KILLS", "SIGNET_SEED", "SIGNET_HISTORIES", "HISTORIES", "WORKERS", "BUILD"]
    where variables[name] == nil {
      environment[name] = nil
    }
    // A script that would go on to build fails early.
    environment["SWIFT"] = "/nowhere/swift"
    return try await ChildCommand(
      ["\(Self.root)/Scripts/\(words[0])"] + words.dropFirst(), environment: environment
    ).finish()
  }

  private func write(_ text: String, to path: String) throws {
    let file = URL(filePath: folder.file(path))
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  @Test(
    "an invalid number or pattern is named before anything is built",
    arguments: [
      (["test"], ["SIGNET_KILLS": "x"], "SIGNET_KILLS"), (["test"], ["SIGNET_KILLS": "0"], "SIGNET_KILLS"),
      (["test"], ["SIGNET_KILLS": ""], "SIGNET_KILLS"), (["test"], ["WORKERS": "0"], "WORKERS"),
      (["test"], ["WORKERS": "two"], "WORKERS"), (["test"], ["SIGNET_SEED": "-1"], "SIGNET_SEED"),
      (["test"], ["SIGNET_SEED": "18446744073709551616"], "SIGNET_SEED"), (["test"], ["BUILD": "x"], "BUILD"),
      (["test"], ["SIGNET_HISTORIES": "0"], "SIGNET_HISTORIES"),
      (["mutation-test"], ["HISTORIES": "many"], "HISTORIES"),
      (["mutation-test", "../x"], [:], "Tests/Mutations/../x.patch"),
      (["test", "NoTests"], [:], "NoTests"), (["test", "../Tests"], [:], "../Tests"),
      (["test", "SignetVaultTests", "["], [:], "regular expression"),
      (["test", "SignetVaultTests", "a", "b"], [:], "one pattern"),
      (["fuzz", "--seconds", "x"], [:], "--seconds"), (["fuzz", "--seconds"], [:], "--seconds"),
      (["fuzz", "--seconds", "-1"], [:], "--seconds"), (["fuzz", "nothing"], [:], "nothing"),
      (["compare-builds", "--count", "x"], [:], "--count"), (["check-fuzz", "--root"], [:], "--root"),
      (["check-fuzz", "--root", "/nowhere"], [:], "--root"),
      (["check-claims", "--root"], [:], "--root"), (["check-claims", "--root", "/nowhere"], [:], "--root"),
    ])
  func refuses(_ words: [String], _ variables: [String: String], _ name: String) async throws {
    let result = try await run(words, variables)
    #expect(result.status == 64, "\(result)")
    #expect(result.output.isEmpty && result.errorOutput.contains(name), "\(result.errorOutput)")
  }

  // MARK: The layers

  /// Writes a package of three layers and its pages, and runs `modules-page` in it.
  private func modulesPage(_ signet: String, _ words: String...) async throws -> ChildProcess.Result {
    try write(
      """
      let package = Package(
        targets: [
          // MARK: Base: knows nothing of devices
          // Numbers.
          .target(name: "SignetSystem", dependencies: [], swiftSettings: house),
          // Messages.
          .target(name: "SignetUAF", dependencies: ["SignetSystem"], swiftSettings: house),

          // MARK: The device
          // The SDK.
          .target(name: "Signet", dependencies: [\(signet)], swiftSettings: house),

          // MARK: The server
          // Services.
          .target(name: "SignetServer", dependencies: ["SignetSystem"], swiftSettings: house),
        ]
      )

      """, to: "Package.swift")
    try write(
      String(contentsOfFile: "\(Self.root)/Scripts/modules-page", encoding: .utf8), to: "Scripts/modules-page"
    )
    for page in ["docs/architecture.md", "docs/modules.md"]
    where !FileManager.default.fileExists(atPath: folder.file(page)) {
      try write("# Page\n<!-- Scripts/modules-page --write -->\n<!-- end -->\nThe rest.\n", to: page)
    }
    return try await ChildCommand(["python3", folder.file("Scripts/modules-page")] + words).finish()
  }

  @Test("the picture and the table of modules are those of the package, and a forbidden edge is named")
  func layers() async throws {
    #expect(try await modulesPage("\"SignetSystem\"", "--check").status == 1)
    #expect(try await modulesPage("\"SignetSystem\"", "--write").status == 0)
    #expect(try await modulesPage("\"SignetSystem\"", "--check").status == 0)
    for (page, line) in [
      ("docs/architecture.md", "Base: knows nothing of devices\n  SignetSystem  SignetUAF\n"),
      ("docs/modules.md", "| `Signet` | The SDK | `SignetSystem` |\n"),
    ] {
      let text = try String(contentsOfFile: folder.file(page), encoding: .utf8)
      #expect(text.contains(line) && text.hasSuffix("The rest.\n"), "\(text)")
    }
    for (dependency, complaint) in [
      ("\"SignetUAF\"", "Signet reaches SignetUAF"),
      ("\"SignetServer\"", "Signet depends on SignetServer, which is above it or beside it"),
    ] {
      let result = try await modulesPage(dependency, "--check")
      #expect(result.status == 1 && result.errorOutput.contains(complaint), "\(result)")
    }
  }

  // MARK: Parsers without a fuzz target

  /// Runs `check-fuzz` on the tree.
  private func checkFuzz(_ words: String...) async throws -> ChildProcess.Result {
    try await run(["check-fuzz", "--root", folder.path] + words)
  }

  private func writeProgram(_ code: String, name: String = "fuzz-protocol") throws {
    try write("import SignetProtocol\n\(code)\n", to: "Fuzz/Sources/\(name)/main.swift")
  }

  @Test("a parser without a fuzz target is named, and so is an exemption without a parser")
  func fuzzTargets() async throws {
    try write(
      """
      public struct Message {
        public init(parsing bytes: [UInt8]) throws {}
        struct Part {
          init?(_ text: String) { nil }
        }
      }
      """, to: "Sources/SignetProtocol/Message.swift")
    try writeProgram("let read = try Message(parsing: input)")
    try write("Message.Part in Message\n", to: "Fuzz/without-target")
    let sound = try await checkFuzz()
    #expect(sound.status == 0 && sound.errorOutput.isEmpty, "\(sound.errorOutput)")
    let list = try await checkFuzz("--list")
    #expect(list.output == "SignetProtocol Message(parsing:)\nSignetProtocol Message.Part(_:)\n")

    try write(
      "struct Letter {\n  static func read(_ bytes: [UInt8]) throws -> Letter {}\n}\n",
      to: "Sources/SignetProtocol/Letter.swift")
    let new = try await checkFuzz()
    #expect(
      new.status == 1 && new.errorOutput.contains("Letter.read in Sources/SignetProtocol has no fuzz target"))

    // A name in a comment or a string only does not count.
    try writeProgram(
      """
      // Letter.read(input)
      let read = try Message(parsing: input)
      require(read.isSound, "as Letter.read(input) \\(read)")
      """)
    #expect(try await checkFuzz().status == 1)
    try write("Message.Part in Message\nLetter in Nothing\n", to: "Fuzz/without-target")
    let nowhere = try await checkFuzz()
    #expect(nowhere.status == 1 && nowhere.errorOutput.contains("in Nothing, which has no target"))
    try write("Message.Part in Letter\nLetter in Message.Part\n", to: "Fuzz/without-target")
    #expect(try await checkFuzz().errorOutput.contains("which has no target"))
    try write("Message.Part in Message\nLetter\n", to: "Fuzz/without-target")
    let unreasoned = try await checkFuzz()
    #expect(unreasoned.status == 1 && unreasoned.errorOutput.contains("Letter has no reason"))
    try write("Message.Part in Message\nLetter one\nMessage one\nOther one\n", to: "Fuzz/without-target")
    let complaints = try await checkFuzz().errorOutput
    #expect(complaints.contains("Message is used in Fuzz/Sources"))
    #expect(complaints.contains("Other is no parser in Sources"))
  }

  @Test(
    "each form of a parser is recognised: labels, parameters, static functions, extensions",
    arguments: [
      ("init(compact text: String) throws {}", "Letter(compact:)"),
      ("init?(png bytes: ArraySlice<UInt8>) { nil }", "Letter(png:)"),
      ("init(kind: Int, of json: JSONObject?) throws(Failure) {}", "Letter(kind:)"),
      ("init(\n    kind: Int = f(1, 2), text: borrowing SecretBytes\n  ) async throws {}", "Letter(kind:)"),
      ("static func parts(_ text: String?) -> (id: String, secret: String)? { nil }", "Letter.parts"),
      ("public static func codes(in text: some StringProtocol) throws -> [Int] { [] }", "Letter.codes"),
      ("static func parsed(_ text: Substring) -> Self {}", "Letter.parsed"),
      ("package init(parsing bytes: [UInt8]) {}", "Letter(parsing:)"),
      ("func read(_ text: String) throws {}", "Letter.read(_:)"),
      (
        "package mutating func openSealed(box: Data) async throws(Failure) -> Int {}",
        "Letter.openSealed(box:)"
      ),
      ("func decoded(at place: Int, of bytes: Span<UInt8>) -> Int? { nil }", "Letter.decoded(at:)"),
      ("func isValid(_ code: [UInt8]) -> Bool { true }", "Letter.isValid(_:)"),
      ("static func verify(_ code: [UInt8]) -> Bool { true }", "Letter.verify"),
    ])
  func parserForms(_ declaration: String, _ name: String) async throws {
    try write("extension Letter {\n  \(declaration)\n}\n", to: "Sources/SignetProtocol/Letter.swift")
    try write("", to: "Fuzz/without-target")
    try writeProgram("")
    let found = try await checkFuzz()
    #expect(found.errorOutput.hasPrefix("\(name) in Sources/SignetProtocol has no fuzz target"), "\(found)")
  }

  @Test("a function that refuses nothing, takes no text or is private is no parser")
  func noParsers() async throws {
    let declarations = [
      "init(text: String) {}", "init(count: Int) throws {}", "private init(text: String) throws {}",
      "func write(_ text: String) throws {}", "func readiness(_ text: String) throws {}",
      "private func read(_ text: String) throws {}", "func read(_ text: String) {}", "func read() throws {}",
      "func isShort(_ text: String) -> Bool { true }", "static func read(_ texts: [Int: String]) throws {}",
      "var text: String { get throws { init(text: String) throws {} } }",
      "static let text = \"static func read(_ text: String) throws {}\"",
    ]
    for (number, declaration) in declarations.enumerated() {
      try write(
        "struct Letter\(number) {\n  \(declaration)\n}\n", to: "Sources/SignetProtocol/Letter\(number).swift")
    }
    try write("", to: "Fuzz/without-target")
    try writeProgram("")
    let list = try await checkFuzz("--list")
    #expect(list.output == "\n", "\(list)")
    #expect(try await checkFuzz().status == 0)
  }

  @Test("the type behind a protocol's requirement without a body is recognised")
  func requirements() async throws {
    try write(
      """
      public protocol Offer {
        var key: [UInt8] { get }
        init(parsing bytes: [UInt8]) throws
      }

      public struct Answer<Content: Offer> {
        public init(parsing bytes: [UInt8]) throws(Failure) {
          content = try Content(parsing: bytes)
        }
      }
      """, to: "Sources/SignetProtocol/Answer.swift")
    #expect(try await checkFuzz("--list").status == 64)
    try writeProgram("let read = try Answer<First>(parsing: input)")
    #expect(try await checkFuzz("--list").output == "SignetProtocol Answer(parsing:)\n")
    try write("", to: "Fuzz/without-target")
    #expect(try await checkFuzz().status == 0)
  }

  @Test("a type is matched by its imported module, its unique name and the label of the call")
  func namesOfTypes() async throws {
    for module in ["SignetProtocol", "SignetServer"] {
      try write(
        "struct Message {\n  init(_ text: String) throws {}\n  init(json: JSONObject) throws {}\n}\n",
        to: "Sources/\(module)/Message.swift")
    }
    try write("", to: "Fuzz/without-target")
    try writeProgram("_ = try (Message(text), Message(json: object))")
    func missing() async throws -> [String] {
      try await checkFuzz().errorOutput.split(separator: "\n").compactMap {
        $0.split(separator: " has no").first.map(String.init)
      }
    }
    let server = ["Message(_:) in Sources/SignetServer", "Message(json:) in Sources/SignetServer"]
    #expect(try await missing() == server)
    // A type of the program itself does not count as the module's.
    try write(
      "@testable import SignetServer\nstruct Message {}\n_ = (Message(text), Message(json: object))\n",
      to: "Fuzz/Sources/fuzz-server/main.swift")
    #expect(try await missing() == server)
    try write(
      "@testable import SignetServer\nread(Message.init(_:))\n", to: "Fuzz/Sources/fuzz-server/main.swift")
    #expect(try await missing() == ["Message(json:) in Sources/SignetServer"])
    // A line names one parser, one module, or several.
    try write("Message(json:) one\n", to: "Fuzz/without-target")
    #expect(try await checkFuzz().errorOutput.contains("Message(json:) is in several modules"))
    for line in ["SignetServer", "SignetServer.Message", "SignetServer.Message(json:)", "*Server.*(json:)"] {
      try write("\(line) one reason\n", to: "Fuzz/without-target")
      let named = try await checkFuzz()
      #expect(named.status == 0, "\(line): \(named.errorOutput)")
    }
    try write("SignetServer.Message, SignetProtocol.Message two\n", to: "Fuzz/without-target")
    #expect(try await checkFuzz().errorOutput.contains("SignetProtocol.Message is used in Fuzz/Sources"))
  }

  @Test("a method is matched by its type and its first label")
  func methods() async throws {
    try write(
      "struct Letter {\n  func read(_ text: String) throws {}\n  func read(bytes: [UInt8]) throws {}\n}\n",
      to: "Sources/SignetProtocol/Letter.swift")
    try write("", to: "Fuzz/without-target")
    for (program, missing) in [
      ("let letter = made()\ntry letter.read(text)", ["(_:)", "(bytes:)"]),
      ("let letter: Letter = made()\ntry letter.read(text)", ["(bytes:)"]),
      ("let letter: Letter = made()\ntry letter.read(bytes: input)", ["(_:)"]),
      ("struct Letter {}\ntry Letter().read(text)\ntry Letter().read(bytes: input)", ["(_:)", "(bytes:)"]),
      ("try (Letter().read(text), Letter().read(bytes: input))", []),
    ] as [(String, [String])] {
      try writeProgram(program)
      let found = try await checkFuzz()
      let names = found.errorOutput.split(separator: "\n").map { line in String(line.prefix { $0 != " " }) }
      #expect(names == missing.map { "Letter.read\($0)" }, "\(program): \(found.errorOutput)")
      #expect(found.status == (missing.isEmpty ? 0 : 1))
    }
    // A line is about one of them, or about both.
    try writeProgram("")
    try write("Letter.read(bytes:) one\n", to: "Fuzz/without-target")
    #expect(try await checkFuzz().errorOutput.hasPrefix("Letter.read(_:) in Sources/SignetProtocol has no"))
    try write("Letter.read one\n", to: "Fuzz/without-target")
    #expect(try await checkFuzz().status == 0)
  }

  // MARK: Claims without a test

  /// Runs `check-claims` on a threat model whose seventh line is the first of `text`.
  private func checkClaims(_ text: String) async throws -> ChildProcess.Result {
    try write("# Threat model\n\nWords.\n\n## Against whom\n\n\(text)\n", to: "docs/threat-model.md")
    try write(
      """
      @Suite("One") struct OneTests {
        @Test("a thing", arguments: [1])
        func holds(_ number: Int) {}
        func helper() {}
      }
      """, to: "Tests/SignetTests/OneTests.swift")
    return try await run(["check-claims", "--root", folder.path])
  }

  @Test(
    "a claim with a test and a marked claim are accepted",
    arguments: [
      "- It holds: `SignetTests/OneTests/holds`.", "It holds\n(`SignetTests/OneTests/holds`).",
      "Holds:\n\n- It holds: `SignetTests/OneTests/holds`. **Not claimed** of others.", "*Explained*: why.",
      "It holds: `SignetTests/OneTests/holds` ([page](page.md)).", "Does not hold:\n\n- This.\n- That.",
      "Does not hold: this.", "| what | by |\n|---|---|\n| It holds | `SignetTests/OneTests/holds` |",
      "```\nIt holds.\n```", "1. It holds: `SignetTests/OneTests/holds`. *Explained*: that is why.",
    ])
  func soundClaims(_ text: String) async throws {
    let result = try await checkClaims(text)
    #expect(result.status == 0 && result.errorOutput.isEmpty, "\(result.errorOutput)")
  }

  @Test(
    "a claim without a test is named by its line, and so is a missing test",
    arguments: [
      ("- It holds.", 7, "no test is named for \"It holds\""),
      ("It is.\n\nIt holds: `SignetTests/OneTests/holds`.", 7, "no test is named for \"It is\""),
      ("It holds: `SignetTests/OneTests/holds`.\nIt ends.", 7, "no test is named for \"It ends\""),
      ("- It holds. *Explained*: that is why.", 7, "no test is named for \"It holds\""),
      ("- It holds: `SignetTests/OneTests/holds`. *By reading*: so does that.", 7, "no test is named"),
      ("Does not hold:\n\n- This.\n\nHolds:\n\n- That.", 13, "no test is named for \"That\""),
      ("Does not hold:\n\n- This.\n\n### Others\n\n- That.", 13, "no test is named for \"That\""),
      ("| what | by |\n|---|---|\n| a limit | |", 9, "no test is named for \"a limit\""),
      ("It holds: `SignetTests/OneTests/helper`.", 7, "there is no test SignetTests/OneTests/helper"),
      ("It holds: `SignetTests/TwoTests/holds`.", 7, "there is no test SignetTests/TwoTests/holds"),
      ("It holds: `SignetJSONTests/OneTests/holds`.", 7, "there is no test SignetJSONTests/OneTests/holds"),
    ])
  func unsoundClaims(_ text: String, _ line: Int, _ words: String) async throws {
    let result = try await checkClaims(text)
    #expect(result.status == 1)
    #expect(
      result.errorOutput.hasPrefix("docs/threat-model.md:\(line): \(words)"), "\(result.errorOutput)")
  }

  @Test("a missing test named in another document is reported")
  func testsOfOtherDocuments() async throws {
    try write("\n`SignetTests/OneTests/none`\n", to: "Sources/Notes.md")
    let result = try await checkClaims("*Explained*: why.")
    #expect(result.status == 1)
    #expect(result.errorOutput == "Sources/Notes.md:2: there is no test SignetTests/OneTests/none\n")
  }

  @Test("a suite without a time limit is named, unless its parent or each test has one")
  func timeLimits() async throws {
    func check(_ source: String) async throws -> ChildProcess.Result {
      try write(source, to: "Tests/OneTests/SuiteTests.swift")
      return try await run(["check-time-limits", folder.file("Tests")])
    }
    let body = "{\n  @Test func waits() async throws { _ = try ChildCommand([]).start() }\n}\n"
    let bare = try await check("@Suite(\"Some (text)\") struct Waiting \(body)")
    #expect(bare.status == 1)
    #expect(bare.errorOutput.hasPrefix("OneTests/SuiteTests.swift: Waiting can wait"))
    for sound in [
      "@Suite(\"Some (text)\", .timeLimit(.minutes(1)))\nstruct Waiting \(body)",
      "struct Waiting \(body.replacing("@Test", with: "@Test(.timeLimit(.minutes(1)))"))",
      "@Suite(.timeLimit(.minutes(1))) struct Outer {\n  struct Waiting {\n  @Test func a() { gate.wait() }\n  }\n}\n",
      "struct Waiting {\n  // No ChildCommand here.\n  @Test(\"no ChildCommand\") func a() {}\n}\n",
    ] {
      let result = try await check(sound)
      #expect(result.status == 0, "\(sound): \(result.errorOutput)")
    }
    // A function of the same file that it calls counts as its own.
    let helper = "func gate() { flock(0, 2) }\n"
    #expect(try await check("\(helper)struct Waiting {\n  @Test func a() { gate() }\n}\n").status == 1)
  }

  #if os(Linux)
    @Test("scripts and tests take unique ports from one counter")
    func ports() async throws {
      let ports = try await withThrowingTaskGroup(of: UInt16?.self) { group in
        for number in 0..<40 {
          group.addTask {
            guard number.isMultiple(of: 2) else { return try FreePort.find() }
            let result = try await ChildCommand(["\(Self.root)/Scripts/free-port"]).finish()
            return UInt16(result.output.trimmingCharacters(in: .whitespacesAndNewlines))
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let found = ports.compactMap(\.self)
      #expect(found.count == 40 && Set(found).count == 40, "\(ports)")
      #expect(found.allSatisfy(FreePort.ports.contains), "\(ports)")
    }
  #endif

  @Test("a whole run prints the time of each part and of all, and fails where it took too long")
  func wholeRun() async throws {
    try FileManager.default.createDirectory(
      atPath: folder.file(".ci"), withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: "\(Self.root)/.ci/run", toPath: folder.file(".ci/run"))
    try write(
      """
      #!/bin/sh
      echo "CI=$CI make $*" >>\(folder.file("asked"))
      if [ "$1" = "$SLOW" ]; then sleep 2; fi
      [ "$1" != "$BAD" ]
      """, to: "make")
    #expect(chmod(folder.file("make"), 0o755) == 0)
    func run(_ variables: [String: String]) async throws -> ChildProcess.Result {
      var environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
      environment["PATH"] = "\(folder.path):\(environment["PATH"] ?? "/usr/bin:/bin")"
      return try await ChildCommand(["/bin/bash", folder.file(".ci/run")], environment: environment).finish()
    }
    let sound = try await run([:])
    #expect(sound.status == 0 && sound.errorOutput.isEmpty, "\(sound)")
    let image = "\(folder.path)/.build/image"
    #expect(
      try String(contentsOfFile: folder.file("asked"), encoding: .utf8).split(separator: "\n") == [
        "CI=true make check", "CI=true make release", "CI=true make install PREFIX=/usr DESTDIR=\(image)",
        "CI=true make demo PROGRAMS=.build/image/usr/bin", "CI=true make fuzz SECONDS_EACH=3",
        "CI=true make compare-builds COUNT=1000", "CI=true make bench OPTIONS=--quick", "CI=true make test",
      ])
    let parts = ["check", "release", "install", "demo", "fuzz", "compare", "bench", "test"]
    let told = sound.output.split(separator: "\n").suffix(parts.count + 1).map { String($0) }
    for (line, part) in zip(told, parts) { #expect(line.wholeMatch(of: /== (\w+) \d+ s/)?.1 ?? "" == part) }
    #expect(told.last?.wholeMatch(of: /== all of it \d+ s/) != nil, "\(told)")
    let slow = try await run(["SLOW": "test", "SIGNET_CI_LIMIT": "1"])
    #expect(slow.status == 1 && slow.errorOutput.contains("1 s are allowed"), "\(slow)")
    let failing = try await run(["BAD": "bench"])
    #expect(failing.status == 1 && !failing.output.contains("== test"), "\(failing)")
    #expect(failing.output.contains("== all of it "))
    let unclear = try await run(["SIGNET_CI_LIMIT": "x"])
    #expect(unclear.status == 64 && unclear.errorOutput.contains("SIGNET_CI_LIMIT"), "\(unclear)")
  }

  @Test("two builds with different answers are found, and two that accept nothing")
  func comparedBuilds() async throws {
    /// Makes a program with one operation, `jwk`, that answers each request with `answer`.
    func program(_ name: String, _ answer: String) throws -> String {
      try write(
        """
        #!/bin/sh
        if [ "$1" = --help ]; then echo "  jwk"; exit; fi
        exec sed 's/.*/\(answer)/'
        """, to: name)
      #expect(chmod(folder.file(name), 0o755) == 0)
      return folder.file(name)
    }
    func compare(_ first: String, _ second: String) async throws -> ChildProcess.Result {
      try await run(
        ["compare-inputs", "--count", "100", "--only", "jwk", "--work", folder.file("work"), first, second],
        ["SIGNET_VECTORS": folder.path])
    }
    let (sound, same) = try (program("sound", #"{"ok":1}"#), program("same", #"{"ok":1}"#))
    let alike = try await compare(sound, same)
    #expect(alike.status == 0 && alike.output.contains("No line differs."), "\(alike)")
    let other = try await compare(sound, program("other", #"{"ok":2}"#))
    #expect(other.status == 1 && other.output.contains("100 differences"), "\(other)")
    let shy = try program("shy", #"{"error":1}"#)
    let refused = try await compare(shy, shy)
    #expect(refused.status == 1 && refused.output.contains("nothing was accepted"), "\(refused)")
  }
}
