import SignetPolicy
import Testing

/// A dictionary of given words.
private struct WordList: PasswordDictionary {
  var words: Set<String> = []
  var failure: PasswordDictionaryFailure?

  func contains(utf8 password: [UInt8]) async throws(PasswordDictionaryFailure) -> Bool {
    if let failure { throw failure }
    return words.contains(String(decoding: password, as: UTF8.self))
  }
}

/// A validator with an asynchronous check, like that of an app's server.
private struct ForbiddenName: PasswordValidator {
  let name: String
  var purposes: Set<PasswordPurpose> = [.enrolment, .change]

  func violations(ofUTF8 password: [UInt8], for purpose: PasswordPurpose) async -> [PasswordViolation] {
    await Task.yield()
    guard purposes.contains(purpose), String(decoding: password, as: UTF8.self).contains(name) else {
      return []
    }
    return [.custom(rule: "name", message: "leave your name out")]
  }
}

@Suite("Checks of a new password")
struct PasswordChecksTests {
  private func policy(history: Int = 0, dictionary: Bool = false) throws -> PasswordPolicy {
    try PasswordPolicy(
      minimumLength: 6, maximumLength: 20, maximumHistory: history, checksDictionary: dictionary)
  }

  private func violations(
    _ policy: PasswordPolicy, _ password: String, isReused: Bool = false,
    _ checks: PasswordChecks = PasswordChecks(),
    purpose: PasswordPurpose = .change
  ) async throws -> [PasswordViolation] {
    try await policy.violations(
      ofUTF8: Array(password.utf8), purpose: purpose, isReused: isReused, checks: checks)
  }

  @Test("all broken rules are reported, the app's last")
  func everyRule() async throws {
    let checks = PasswordChecks(
      dictionary: WordList(words: ["anna\u{7}"]), validators: [ForbiddenName(name: "anna")])
    let policy = try policy(history: 3, dictionary: true)
    #expect(
      try await violations(policy, "anna\u{7}", isReused: true, checks) == [
        .tooShort(minimum: 6), .reused(history: 3), .disallowedCharacter,
        .custom(rule: "name", message: "leave your name out"),
      ])
    let plain = PasswordChecks(
      dictionary: WordList(words: ["anna"]), validators: [ForbiddenName(name: "anna")])
    #expect(
      try await violations(policy, "anna", isReused: true, plain).map(\.rule) == [
        "minLength", "maxHistory", "dictionary", "name",
      ])
  }

  @Test("the history is checked only if the policy has one")
  func history() async throws {
    #expect(try await violations(try policy(), "Kx7!tt", isReused: true).isEmpty)
    #expect(try await violations(try policy(history: 1), "Kx7!tt", isReused: true) == [.reused(history: 1)])
    #expect(try await violations(try policy(history: 1), "Kx7!tt").isEmpty)
  }

  @Test("the dictionary checks the prepared form, only if the policy requires it")
  func dictionary() async throws {
    let checks = PasswordChecks(dictionary: WordList(words: ["caf\u{E9}s gut"]))
    #expect(
      try await violations(try policy(dictionary: true), "cafe\u{301}s\u{3000}gut", checks) == [.inDictionary]
    )
    #expect(try await violations(try policy(), "cafe\u{301}s\u{3000}gut", checks).isEmpty)
  }

  @Test("a required dictionary that is missing is an error, never an acceptance")
  func missing() async throws {
    let policy = try policy(dictionary: true)
    await #expect(throws: PasswordDictionaryFailure.missing) { try await violations(policy, "Kx7!tt") }
    let broken = PasswordChecks(dictionary: WordList(failure: .library(code: -8)))
    await #expect(throws: PasswordDictionaryFailure.library(code: -8)) {
      try await violations(policy, "Kx7!tt", broken)
    }
  }

  @Test("validators get the password's subject and run in order")
  func validators() async throws {
    let checks = PasswordChecks(validators: [
      ForbiddenName(name: "Kx", purposes: [.change]), ForbiddenName(name: "tt"),
    ])
    #expect(try await violations(try policy(), "Kx7!tt", checks).count == 2)
    #expect(try await violations(try policy(), "Kx7!tt", checks, purpose: .enrolment).count == 1)
  }

  @Test("1 MiB, an empty password, NUL bytes and invalid UTF-8 are handled")
  func extremes() async throws {
    let checks = PasswordChecks(dictionary: WordList(), validators: [ForbiddenName(name: "a")])
    let policy = try policy(history: 1, dictionary: true)
    func judged(_ bytes: [UInt8]) async throws -> [PasswordViolation] {
      try await policy.violations(ofUTF8: bytes, purpose: .change, checks: checks)
    }
    #expect(try await judged(Array(repeating: 0x61, count: 1 << 20)) == [.tooLong(maximum: 20)])
    #expect(try await judged([]) == [.tooShort(minimum: 6)])
    #expect(try await judged([0, 0, 0, 0, 0, 0, 0]) == [.disallowedCharacter])
    #expect(try await judged([0x4B, 0xFF]) == [.notUTF8])
  }
}
