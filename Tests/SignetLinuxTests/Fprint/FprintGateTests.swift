import BusFixture
import SignetLinux
import SignetTestKit
import SignetVault
import Testing

@Suite(
  "Fingerprints with the real fprintd", .timeLimit(.minutes(10)),
  .enabled(if: FprintFixture.isPossible, "polkitd and fprintd want to be started by root"))
struct FprintGateTests {
  @Test("without a bus, without fprintd and without a reader a device is not capable")
  func notCapable() async throws {
    let folder = try TemporaryFolder()
    let nowhere = FprintGate(address: "unix:path=\(folder.file("none"))")
    #expect(try await nowhere.state() == .notCapable)

    let bus = try PrivateBus()
    let empty = FprintGate(address: bus.address)
    #expect(try await empty.state() == .notCapable)

    let fprint = try await FprintFixture(hasReader: false)
    #expect(try await fprint.gate().state() == .notCapable)
    await #expect(throws: BiometricFailure.notCapable) { try await fprint.gate().match("Sign in") }
  }

  @Test("a user without fingers is not enrolled, and the reader is released")
  func notEnrolled() async throws {
    let fprint = try await FprintFixture()
    #expect(try await fprint.gate().state() == .notEnrolled)
    await #expect(throws: BiometricFailure.notEnrolled) { try await fprint.gate().match("Sign in") }
    try await fprint.claimed { _ throws(BusFailure) in }
  }

  @Test("an enrolled finger matches, and the match has the state's enrolled set")
  func match() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let hints = HintLog()
    fprint.next(.finger("right"))
    let matched = try await fprint.gate().match("Sign in", hints: hints.record)
    #expect(try await fprint.gate().state() == .ready(matched))
    #expect(hints.hints == [.swipeSensor(reason: "Sign in")])
    try await fprint.claimed { _ throws(BusFailure) in }
  }

  @Test("each of several enrolled fingers matches")
  func anyFinger() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    try await fprint.enrol("left-thumb", as: "left")
    for finger in ["right", "left"] {
      fprint.next(.finger(finger))
      _ = try await fprint.gate().match("Sign in")
    }
  }

  @Test("touch and swipe readers are distinguished")
  func touch() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    fprint.finger("SET_SCAN_TYPE press")
    let hints = HintLog()
    fprint.next(.finger("right"))
    _ = try await fprint.gate().match("Sign in", hints: hints.record)
    #expect(hints.hints == [.touchSensor(reason: "Sign in")])
  }

  @Test("three other fingers are a mismatch; one other and then the right one is a match")
  func mismatch() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let hints = HintLog()
    fprint.next(.stranger, .stranger, .stranger)
    await #expect(throws: BiometricFailure.mismatch) {
      try await fprint.gate().match("Sign in", hints: hints.record)
    }
    let touch = BiometricHint.swipeSensor(reason: "Sign in")
    #expect(
      hints.hints == [touch, .notRecognised(remaining: 2), .notRecognised(remaining: 1)])
    fprint.next(.stranger, .finger("right"))
    _ = try await fprint.gate().match("Sign in")
  }

  @Test("five mismatches in a row lock, until the lockout is ended")
  func lockout() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let gate = fprint.gate()
    fprint.next(.stranger, .stranger, .stranger)
    await #expect(throws: BiometricFailure.mismatch) { try await gate.match("Sign in") }
    fprint.next(.stranger, .stranger)
    await #expect(throws: BiometricFailure.lockedOut) { try await gate.match("Sign in") }
    let hints = HintLog()
    await #expect(throws: BiometricFailure.lockedOut) { try await gate.match("Sign in", hints: hints.record) }
    #expect(hints.hints.isEmpty)
    await gate.endLockout()
    fprint.next(.finger("right"))
    _ = try await gate.match("Sign in")
  }

  @Test("a match resets the mismatches before it")
  func matchEndsTheCount() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let gate = fprint.gate()
    for _ in 1...3 {
      fprint.next(.stranger, .stranger, .finger("right"))
      _ = try await gate.match("Sign in")
    }
  }

  @Test("an unreadable touch gives a hint and counts no mismatch")
  func retries() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let hints = HintLog()
    fprint.next(.unreadable(0), .unreadable(1), .unreadable(2), .unreadable(3), .finger("right"))
    _ = try await fprint.gate().match("Sign in", hints: hints.record)
    #expect(
      hints.hints == [
        .swipeSensor(reason: "Sign in"), .tryAgain, .swipeTooShort, .notCentred, .liftAndTryAgain,
      ])
  }

  @Test("a cancelled task ends the match, and the reader is free")
  func cancel() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let gate = fprint.gate()
    let hints = HintLog()
    let match = Task {
      try await gate.match("Sign in", hints: hints.record)
    }
    #expect(await hints.next() == .swipeSensor(reason: "Sign in"))
    match.cancel()
    await #expect(throws: BiometricFailure.cancelled) { try await match.value }
    #expect(fprint.fprintd.said.contains("to call method 'VerifyStop'"))
    #expect(fprint.fprintd.said.contains("released device"))
    try await fprint.claimed { _ throws(BusFailure) in }
    fprint.next(.finger("right"))
    _ = try await gate.match("Sign in")
  }

  @Test("a task that is cancelled before it begins does not turn the reader on")
  func cancelledBefore() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let gate = fprint.gate()
    let hints = HintLog()
    let match = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await gate.match("Sign in", hints: hints.record)
    }
    await #expect(throws: BiometricFailure.cancelled) { try await match.value }
    #expect(hints.hints.isEmpty)
  }

  @Test("the reader is released after a time-out")
  func timeLimit() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    await #expect(throws: BiometricFailure.timedOut) {
      try await fprint.gate(timeLimit: .milliseconds(1)).match("Sign in")
    }
    try await fprint.claimed { _ throws(BusFailure) in }
  }

  @Test("a reader claimed by another program is busy and stays claimed")
  func busy() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let (claimed, told) = AsyncStream<Void>.makeStream()
    let other = Task {
      try await fprint.claimed { bus throws(BusFailure) in
        told.yield()
        _ = try bus.event()  // until it is cancelled
      }
    }
    for await _ in claimed { break }
    await #expect(throws: BiometricFailure.busy) { try await fprint.gate().match("Sign in") }
    await #expect(throws: BiometricFailure.busy) { try await fprint.gate().match("Sign in") }
    other.cancel()
    _ = await other.result
  }

  @Test("a reader removed during a match is an error, and missing afterwards")
  func unplugged() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let hints = HintLog { _ in fprint.finger("UNPLUG") }
    // fprintd 1.94.2 has the status verify-disconnected, but does not use it here.
    await #expect(throws: BiometricFailure.unavailable("the reader reported an error")) {
      try await fprint.gate().match("Sign in", hints: hints.record)
    }
    #expect(try await fprint.gate().state() == .notCapable)
  }

  @Test("a reader that fails during a match is an error")
  func readerFails() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    fprint.next(.error(4))
    await #expect(throws: BiometricFailure.unavailable("the reader reported an error")) {
      try await fprint.gate().match("Sign in")
    }
  }

  @Test("fprintd killed during a match is an error, and missing afterwards")
  func killed() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let hints = HintLog { _ in fprint.fprintd.kill() }
    await #expect(throws: BiometricFailure.unavailable("fprintd ended")) {
      try await fprint.gate().match("Sign in", hints: hints.record)
    }
    #expect(try await fprint.gate().state() == .notCapable)
  }

  @Test("a bus killed during a match is an error")
  func busKilled() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    let hints = HintLog { _ in fprint.bus.kill() }
    let failure = await #expect(throws: BiometricFailure.self) {
      try await fprint.gate().match("Sign in", hints: hints.record)
    }
    #expect(failure?.description.contains("connection to the bus was lost") == true)
  }

  @Test("a user refused by polkit is not authorized")
  func notAuthorized() async throws {
    let fprint = try await FprintFixture()
    try await fprint.enrol("right-index-finger", as: "right")
    await #expect(processExitsWith: .success) { [address = fprint.bus.address as String] in
      dropPrivileges()
      let gate = FprintGate(address: address)
      await #expect(throws: BiometricFailure.notAuthorized) { try await gate.state() }
      await #expect(throws: BiometricFailure.notAuthorized) { try await gate.match("Sign in") }
    }
  }
}
