import Signet
import SignetCrypto
import SignetServerTesting
import SignetTesting
import Testing

/// A dictionary of one word.
private struct OneWord: PasswordDictionary {
  let word: String

  func contains(utf8 password: [UInt8]) async throws(PasswordDictionaryFailure) -> Bool {
    password == Array(word.utf8)
  }
}

/// A validator with an asynchronous check of the app.
private struct NoHorses: PasswordValidator {
  static let violation = PasswordViolation.custom(rule: "horses", message: "leave horses out")

  func violations(ofUTF8 password: [UInt8], for purpose: PasswordPurpose) async -> [PasswordViolation] {
    await Task.yield()
    let isRefused = purpose == .enrolment && String(decoding: password, as: UTF8.self).contains("horse")
    return isRefused ? [Self.violation] : []
  }
}

@Suite("Password checks on a device", .timeLimit(.minutes(10)))
struct DevicePasswordChecksTests {
  private func activate(_ password: String, _ checks: PasswordChecks) async throws -> Container {
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64, checksDictionary: true)
    let server = try await InvitingServer(.password(policy, .lock(limit: 3)))
    let fixture = try DeviceFixture(server.transport)
    let device = Device(vault: fixture.vault, passwordChecks: checks) { _ throws(TransportFailure) in
      server.transport
    }
    let result: Result<Container, any Error>
    do {
      result = .success(
        try await device.createContainer(
          ContainerInitialization(code: server.invite()), handler: ScriptedActivation(password: password)))
    } catch { result = .failure(error) }
    if case .failure = result { #expect(try await fixture.isEmpty) }
    await server.server.stop()
    return try result.get()
  }

  @Test("at activation the dictionary and the app's rules both refuse a password")
  func refused() async throws {
    let checks = PasswordChecks(dictionary: OneWord(word: "warhorse"), validators: [NoHorses()])
    await #expect(throws: SignetError.passwordRefused([.inDictionary, NoHorses.violation])) {
      try await activate("warhorse", checks)
    }
    #expect(try await activate("battery staple", checks).isConfirmed)
  }

  @Test("a missing dictionary required by the policy ends the activation")
  func missing() async throws {
    await #expect(throws: SignetError.dictionary(.missing)) {
      try await activate("battery staple", PasswordChecks())
    }
  }
}
