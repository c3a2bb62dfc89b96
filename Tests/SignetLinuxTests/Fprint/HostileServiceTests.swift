import BusFixture
import Foundation
import SignetLinux
import SignetVault
import Testing

@Suite(
  "Hostile answers of fprintd", .timeLimit(.minutes(10)),
  .enabled(if: PrivateBus.isPossible, "needs dbus-daemon"))
struct HostileServiceTests {
  @Test(
    "a status that ends the match is reported",
    arguments: [
      ("verify-disconnected", "the reader was removed"),
      ("verify-unknown-error", "the reader reported an error"),
      ("verify-match\u{202E}", "fprintd sent a status that is not known"),
      ("", "fprintd sent a status that is not known"),
    ])
  func status(_ status: String, _ words: String) async throws {
    let fprint = try await StandInFprint(.init(statuses: [[.text("verify-retry-scan")], [.text(status)]]))
    await #expect(throws: BiometricFailure.unavailable(words)) { try await fprint.gate.match("Sign in") }
  }

  @Test("a status without text or of another type is not a match")
  func statusOfAnotherForm() async throws {
    for status in [[], [BusArgument.flag(true)], [.unsigned(1)]] {
      let fprint = try await StandInFprint(.init(statuses: [status]))
      await #expect(throws: BiometricFailure.unavailable("fprintd sent a status that is not known")) {
        try await fprint.gate.match("Sign in")
      }
    }
  }

  @Test("a list that is malformed, empty or longer than ten fingers is refused")
  func lists() async throws {
    let none = try await StandInFprint(.init(fingers: nil))
    await #expect(throws: BiometricFailure.unavailable("fprintd listed something else than fingers")) {
      try await none.gate.state()
    }
    let empty = try await StandInFprint(.init(fingers: []))
    #expect(try await empty.gate.state() == .notEnrolled)
    let many = try await StandInFprint(.init(fingers: (0..<65).map { "finger-\($0)" }))
    await #expect(throws: BiometricFailure.unavailable("fprintd listed 65 fingers")) {
      try await many.gate.state()
    }
  }

  @Test("order and repetition of fingers do not change the set")
  func order() async throws {
    var states: Set<BiometricState> = []
    for fingers in [["left-thumb", "right-thumb"], ["right-thumb", "left-thumb", "left-thumb"]] {
      let fprint = try await StandInFprint(.init(fingers: fingers))
      states.insert(try await fprint.gate.state())
      withExtendedLifetime(fprint) {}
    }
    #expect(states.count == 1)
  }

  @Test(
    "errors are distinguished, and their texts are sanitised",
    arguments: [
      ("net.reactivated.Fprint.Error.PermissionDenied", BiometricFailure.notAuthorized),
      ("org.freedesktop.DBus.Error.AccessDenied", .notAuthorized),
      ("net.reactivated.Fprint.Error.AlreadyInUse", .busy),
      ("net.reactivated.Fprint.Error.NoEnrolledPrints", .notEnrolled),
      ("net.reactivated.Fprint.Error.Internal", .unavailable("net.reactivated.Fprint.Error.Internal: ␛[2J")),
    ])
  func errors(_ name: String, _ failure: BiometricFailure) async throws {
    let fprint = try await StandInFprint(.init(errors: ["VerifyStart": (name, "\u{1B}[2J")]))
    await #expect(throws: failure) { try await fprint.gate.match("Sign in") }
  }

  @Test("a set that disappears between match and query is no match")
  func setGone() async throws {
    let fprint = try await StandInFprint(
      .init(fingers: [], statuses: [[.text("verify-match"), .flag(true)]]))
    await #expect(throws: BiometricFailure.notEnrolled) { try await fprint.gate.match("Sign in") }
  }
}
