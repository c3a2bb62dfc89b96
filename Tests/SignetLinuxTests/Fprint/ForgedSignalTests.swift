import BusFixture
import SignetLinux
import SignetVault
import Testing

@Suite(
  "Signals that fprintd did not send", .timeLimit(.minutes(10)),
  .enabled(if: FprintFixture.isPossible, "polkitd and fprintd want to be started by root"))
struct ForgedSignalTests {
  /// Any client of the bus may send a signal to any other, regardless of the other's subscriptions.
  @Test("a match reported by another sender is ignored", arguments: ["VerifyStatus", "NameOwnerChanged"])
  func forged(_ member: String) async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let gate = fprint.gate()
    let hints = HintLog()
    let match = Task {
      try await gate.match("Sign in", hints: hints.record)
    }
    _ = await hints.next()
    try await fprint.bus.run { bus throws(BusFailure) in
      for interface in ["net.reactivated.Fprint.Device", "org.freedesktop.DBus"] {
        for number in 0..<64 {
          try bus.emit(
            "/net/reactivated/Fprint/Device/0", interface, member,
            [.text("verify-match"), .flag(true)], to: ":1.\(number)")
        }
      }
      // The bus keeps the order: its answer shows that all of them were sent.
      try bus.call(
        BusCall(BusConnection.daemon, "/org/freedesktop/DBus", BusConnection.daemon, "GetId"))
    }
    try await fprint.now(.stranger, .stranger, .stranger)
    await #expect(throws: BiometricFailure.mismatch) { try await match.value }
  }
}
