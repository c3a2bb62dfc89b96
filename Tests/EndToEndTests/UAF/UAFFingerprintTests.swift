#if os(Linux)
  import BusFixture
  import Foundation
  import SignetJSON
  import Testing

  /// `signet uaf` with the real fprintd and libfprint's virtual reader, to which the test presents fingers.
  @Suite(
    .serialized, .enabled(if: ServiceNamespace.isPossible, "needs root, fprintd and libpam-wrapper"),
    .timeLimit(.minutes(10))
  )
  struct UAFFingerprintTests {
    @Test("a finger registers and confirms; an unknown finger is asked for again")
    func finger() async throws {
      let fprint = try await FprintFixture()
      try await fprint.enrol("right-index-finger", as: "right")
      let party = try await UAFParty.start()
      var device = party.device()
      device.launcher = ServiceNamespace(bus: fprint.bus.folder).launcher
      let code = try await party.link("registration", ["username": "alice"])
      let registration = try ControllingTerminal(
        device, ["uaf", "oob", "run", code, "-a", "fingerprint", "--device-name", "laptop"] + party.words)
      try registration.expect("reader")
      try await fprint.now(.finger("right"))
      let registered = try await registration.end()
      #expect(registered.status == 0 && registered.shown.contains("Registered alice"), "\(registered.shown)")

      let (link, session) = try await party.dispatch(
        "authentication", ["username": "alice", "transaction": "Pay 20 EUR to Bob"])
      let file = try party.server.write(link, to: "message.link")
      let confirmation = try ControllingTerminal(device, ["uaf", "oob", "run", file] + party.words)
      try confirmation.expect("| Pay 20 EUR to Bob")
      try confirmation.expect("reader")
      try await fprint.now(.stranger)
      try confirmation.expect("not recognised")
      try await fprint.now(.finger("right"))
      let confirmed = try await confirmation.end()
      #expect(confirmed.status == 0, "\(confirmed.shown)")
      #expect(try await party.status(session) == "succeeded")
      await party.server.stop()
    }
  }
#endif
