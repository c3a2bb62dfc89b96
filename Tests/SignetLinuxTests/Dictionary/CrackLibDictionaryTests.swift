import Foundation
import SignetLinux
import SignetPolicy
import SignetTestKit
import Testing

/// Indicates whether Debian's word list is installed; in CI it must be.
private let hasWordList =
  ContinuousIntegration.isHere
  || FileManager.default.isReadableFile(atPath: CrackLibDictionary.debianPath + ".pwd")

@Suite(
  "Dictionary check of libpwquality", .timeLimit(.minutes(10)),
  .enabled(if: hasWordList, "cracklib-runtime is not installed"))
struct CrackLibDictionaryTests {
  @Test(
    "dictionary words and simple variations are found",
    arguments: [
      "password", "Passw0rd", "drowssap", "sunshine99", "monkey1", "123456", "111222", "racecar", "aaaaaaaa",
      "pass", "7392", "password123", "!winter", "p455w0rd", "P@ssword", "12345678",
    ])
  func found(password: String) async throws {
    #expect(try await CrackLibDictionary().contains(utf8: Array(password.utf8)))
  }

  @Test(
    "other passwords are not found",
    arguments: [
      "correcthorsebatterystaple", "Kx7!tt9wB", "739205", "\u{FC}n\u{EF}c\u{F6}d\u{E9}12",
      "gr8 wall of china",
      // Not found, according to docs/policies.md.
      "P@ssw0rd1", "Winter2026", "passwordpassword",
    ]
  )
  func notFound(password: String) async throws {
    #expect(try await !CrackLibDictionary().contains(utf8: Array(password.utf8)))
  }

  @Test("an empty password and the longest one are handled")
  func extremes() async throws {
    let dictionary = CrackLibDictionary()
    #expect(try await dictionary.contains(utf8: []))
    var generator = SeededRandom(test: "the longest password")
    let longest = (0..<OpaqueString.maximumByteCount).map { _ in
      UInt8.random(in: 0x21...0x7E, using: &generator)
    }
    #expect(try await !dictionary.contains(utf8: longest))
  }

  @Test("a policy that asks for the dictionary refuses a word, and names every broken rule")
  func policy() async throws {
    let policy = try PasswordPolicy(
      minimumLength: 8, maximumLength: 64, digits: CharacterCount(minimum: 1), checksDictionary: true)
    let checks = PasswordChecks(dictionary: CrackLibDictionary())
    func violations(_ password: String) async throws -> [PasswordViolation] {
      try await policy.violations(ofUTF8: Array(password.utf8), purpose: .enrolment, checks: checks)
    }
    #expect(try await violations("sunshine9") == [.inDictionary])
    #expect(
      try await violations("dragon") == [.tooShort(minimum: 8), .tooFew(.digit, minimum: 1), .inDictionary])
    #expect(try await violations("Kx7!tt9wB").isEmpty)
  }
}

@Suite("Missing dictionaries", .timeLimit(.minutes(10)))
struct MissingDictionaryTests {
  @Test("a missing word list is an error with its path")
  func missing() async throws {
    await #expect(throws: PasswordDictionaryFailure.unreadable(path: "/nowhere/words")) {
      _ = try await CrackLibDictionary(path: "/nowhere/words").contains(utf8: Array("anything".utf8))
    }
    #expect(PasswordDictionaryFailure.unreadable(path: "/x").description.contains("/x"))
  }

  @Test("a word list that blocks is an error with its path after the time limit", .timeLimit(.minutes(1)))
  func hangs() async throws {
    let folder = try TemporaryFolder()
    // Opening a pipe to read waits for a writer.
    for ending in [".hwm", ".pwd", ".pwi"] { #expect(mkfifo(folder.file("words" + ending), 0o600) == 0) }
    await #expect(throws: PasswordDictionaryFailure.tooSlow(path: folder.file("words"))) {
      _ = try await CrackLibDictionary(path: folder.file("words"), seconds: 1)
        .contains(utf8: Array("correcthorsebatterystaple".utf8))
    }
    #expect(PasswordDictionaryFailure.tooSlow(path: "/x").description.contains("/x"))
  }

  @Test("a word list that disappears is an error, not a refusal of every password")
  func goesAway() async throws {
    let folder = try TemporaryFolder()
    for ending in [".hwm", ".pwd", ".pwi"] {
      try Data().write(to: URL(fileURLWithPath: folder.file("words" + ending)))
    }
    let dictionary = CrackLibDictionary(path: folder.file("words"))
    try FileManager.default.removeItem(atPath: folder.file("words.pwi"))
    await #expect(throws: PasswordDictionaryFailure.unreadable(path: folder.file("words"))) {
      _ = try await dictionary.contains(utf8: Array("anything".utf8))
    }
  }
}
