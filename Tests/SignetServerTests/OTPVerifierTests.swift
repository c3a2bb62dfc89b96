import SignetCrypto
import SignetOATH
import SignetServerTesting
import SignetStorage
import Testing

import SignetServer

/// The verifier of one-time codes, a pure function.
@Suite struct OTPVerifierTests {
  private static let secret = [UInt8]("12345678901234567890".utf8)
  private static let now: Int64 = 3_000_000
  private static let step: Int64 = now / 30

  private static func key() throws -> HOTP {
    try HOTP(secret: SecretBytes(copying: secret), algorithm: .sha1, digits: 6)
  }

  private func code(_ counter: Int64) throws -> String { try Self.key().code(at: UInt64(counter)) }

  private func verifier(
    at time: Int64 = now, limit: Int = 5, _ change: (inout OTPSettings) -> Void = { _ in }
  ) -> OTPVerifier {
    var rules = OTPSettings()
    change(&rules)
    return OTPVerifier(rules: rules, limit: limit, time: time) { credential in
      do { return credential.id == "broken" ? nil : try Self.key() } catch { return nil }
    }
  }

  private func credential(
    _ kind: CredentialRecord.Kind, _ id: ID<CredentialRecord> = "c1", last: Int64 = -1, drift: Int64 = 0,
    failures: Int = 0,
    state: CredentialRecord.State = .active, serial: String? = nil, isSilent: Bool = false
  ) -> CredentialRecord {
    var record = CredentialRecord(
      id: id, user: "alice", serial: serial, kind: kind, algorithm: "SHA1", digits: 6,
      period: kind == .totp ? 30 : 0, sealedSecret: [], isSilent: isSilent, created: 0, state: state)
    (record.lastCounter, record.drift, record.failures) = (last, drift, failures)
    return record
  }

  // MARK: Windows

  @Test(
    "HOTP: the next counter and ten more are accepted",
    arguments: [(6, false), (7, true), (8, true), (17, true), (18, false)])
  func looksAhead(_ counter: Int64, _ isAccepted: Bool) throws {
    let found = verifier().verify(
      .use(try code(counter)), OTPSnapshot(credentials: [credential(.hotp, last: 6, failures: 2)]))
    #expect(found.outcome == (isAccepted ? .accepted : .refused))
    #expect(found.changed.map(\.lastCounter) == [isAccepted ? counter : 6])
    #expect(found.changed.map(\.failures) == [isAccepted ? 0 : 3])
    #expect(found.changed.map(\.lastUsed) == [isAccepted ? verifier().time : nil])
  }

  @Test(
    "TOTP: one step either side of the expected one is accepted", arguments: [-7, 0, 7] as [Int64],
    -3...3 as ClosedRange<Int64>)
  func looksAround(_ drift: Int64, _ offset: Int64) throws {
    let found = verifier().verify(
      .use(try code(Self.step + drift + offset)),
      OTPSnapshot(credentials: [credential(.totp, drift: drift)]))
    #expect(found.outcome == (abs(offset) <= 1 ? .accepted : .refused))
    #expect(found.changed.map(\.drift) == [abs(offset) <= 1 ? drift + offset : drift])
  }

  @Test("the windows are configurable") func windows() throws {
    let wide = verifier { ($0.lookBack, $0.lookAhead, $0.counterLookAhead) = (4, 0, 0) }
    func outcome(_ kind: CredentialRecord.Kind, _ counter: Int64) throws -> CodeOutcome {
      wide.verify(.use(try code(counter)), OTPSnapshot(credentials: [credential(kind)])).outcome
    }
    #expect(try outcome(.totp, Self.step - 4) == .accepted)
    #expect(try outcome(.totp, Self.step - 5) == .refused)
    #expect(try outcome(.totp, Self.step + 1) == .refused)
    #expect(try outcome(.hotp, 0) == .accepted)
    #expect(try outcome(.hotp, 1) == .refused)
  }

  @Test("slow clock drift is followed, a jump is not") func learnsDrift() throws {
    var record = credential(.totp)
    for day in 1...20 as ClosedRange<Int64> {
      // The clock gains one step a day.
      let time = Self.now + day * 86_400
      let found = verifier(at: time).verify(
        .use(try code(time / 30 + day)), OTPSnapshot(credentials: [record]))
      #expect(found.outcome == .accepted, "day \(day)")
      record = try #require(found.used)
      #expect(record.drift == day)
    }
    // At the limit the code is accepted, but the drift stays.
    let time = Self.now + 21 * 86_400
    record = try #require(
      verifier(at: time).verify(.use(try code(time / 30 + 21)), OTPSnapshot(credentials: [record])).used)
    #expect(record.drift == 20)
    let later = time + 86_400
    let jump = verifier(at: later).verify(.use(try code(later / 30 + 22)), OTPSnapshot(credentials: [record]))
    #expect(jump.outcome == .refused)
    #expect(jump.changed.map(\.drift) == [20])
  }

  @Test("before its start, and at the end of time, nothing is accepted and nothing overflows") func edges()
    throws
  {
    var early = credential(.totp)
    for (start, isAccepted) in [(0, true), (30, true), (31, false), (61, false), (1000, false)]
      as [(Int64, Bool)]
    {
      early.start = Self.now + start
      let found = verifier().verify(.use(try code(0)), OTPSnapshot(credentials: [early]))
      #expect(found.outcome == (isAccepted ? .accepted : .refused), "\(start)")
    }
    let last: Int64 = (1 << 60) / 30
    let right = try (last - 1...last + 1).map { try code($0) }
    let wrong = try #require(["000000", "000001", "000002", "000003"].first { !right.contains($0) })
    for (text, outcome) in right.map({ ($0, CodeOutcome.accepted) }) + [(wrong, .refused)] {
      let late = verifier(at: 1 << 60).verify(.use(text), OTPSnapshot(credentials: [credential(.totp)]))
      #expect(late.outcome == outcome)
    }
    let pair = verifier(at: 0).verify(.resynchronise("1", "2"), OTPSnapshot(credentials: [credential(.totp)]))
    #expect(pair.outcome == .refused)
  }

  // MARK: Once

  @Test("a reused code is marked in the log and counts as refused")
  func replays() throws {
    let found = verifier().verify(
      .use(try code(Self.step)), OTPSnapshot(credentials: [credential(.totp, last: Self.step)]))
    #expect(found.outcome == .refused)
    #expect(found.isReplay)
    #expect(found.changed.map(\.failures) == [1])
  }

  @Test("of several credentials the matching one is used; a wrong code counts for each")
  func severalCredentials() throws {
    let all = [credential(.totp, "broken"), credential(.hotp, "c2", failures: 4), credential(.totp, "c3")]
    let used = verifier().verify(.use(try code(Self.step)), OTPSnapshot(credentials: all))
    #expect(used.outcome == .accepted)
    #expect(used.changed.map(\.id) == ["c3"])
    let wrong = verifier().verify(.use("x"), OTPSnapshot(credentials: all))
    #expect(wrong.changed.map(\.failures) == [1, 5, 1])
    // A locked token is not tried, and does not block the others.
    let after = verifier().verify(.use(try code(0)), OTPSnapshot(credentials: wrong.changed))
    #expect(after.outcome == .refused)
    #expect(after.changed.map(\.id) == ["broken", "c3"])
  }

  @Test("of two credentials with one code, the one with the code unused is accepted") func sameCode() throws {
    let all = [credential(.hotp, "c1", last: 7), credential(.hotp, "c2", last: 6)]
    let found = verifier().verify(.use(try code(7)), OTPSnapshot(credentials: all))
    #expect(found.used?.id == "c2")
  }

  // MARK: Locks

  @Test("at the limit no code is verified or counted, and all get the same answer")
  func locked() throws {
    let snapshot = OTPSnapshot(credentials: [credential(.totp, failures: 5)])
    for code in [try code(Self.step), "000000", ""] {
      #expect(verifier().verify(.use(code), snapshot) == OTPVerifier.Verification(outcome: .locked))
    }
  }

  @Test("two consecutive codes unlock, except under a silent lock")
  func unlocks() throws {
    let (first, second) = (try code(Self.step), try code(Self.step + 1))
    let pair = OTPOperation.resynchronise(first, second)
    let found = verifier().verify(pair, OTPSnapshot(credentials: [credential(.totp, failures: 5)]))
    #expect(found.outcome == .accepted)
    #expect(found.used?.failures == 0)
    let silent = OTPSnapshot(credentials: [credential(.totp, failures: 5, isSilent: true)])
    #expect(verifier().verify(pair, silent) == OTPVerifier.Verification(outcome: .locked))
    // Below the limit they count as guesses, silent or not.
    for isSilent in [true, false] {
      let open = OTPSnapshot(credentials: [credential(.totp, failures: 4, isSilent: isSilent)])
      let wrong = verifier().verify(.resynchronise(second, first), open)
      #expect(wrong.outcome == .refused)
      #expect(wrong.changed.map(\.failures) == [5])
    }
    // Beyond the limit no failure is counted; the address waits.
    let wrong = verifier().verify(
      .resynchronise("000000", "000000"), OTPSnapshot(credentials: [credential(.totp, failures: 5)]))
    #expect(wrong.changed.isEmpty)
    #expect(wrong.wait?.failures == 1)
  }

  @Test(
    "two consecutive codes resynchronise up to a hundred steps away",
    arguments: [CredentialRecord.Kind.hotp, .totp])
  func resynchronises(_ kind: CredentialRecord.Kind) throws {
    let expected: Int64 = kind == .hotp ? 8 : Self.step
    let last = kind == .hotp ? expected - 1 : Self.step - 1000
    let snapshot = OTPSnapshot(credentials: [credential(kind, last: last)])
    for offset in [0, 1, 50, 100] as [Int64] {
      let found = verifier().verify(
        .resynchronise(try code(expected + offset), try code(expected + offset + 1)), snapshot)
      #expect(found.outcome == .accepted, "\(offset)")
      #expect(found.used?.lastCounter == expected + offset + 1)
      #expect(found.used?.drift == (kind == .hotp ? 0 : offset + 1))
    }
    let far = verifier().verify(.resynchronise(try code(expected + 101), try code(expected + 102)), snapshot)
    #expect(far.outcome == .refused)
    // Neither a gap, nor the reverse order, nor one code twice.
    for (first, second) in [(0, 2), (1, 0), (0, 0)] as [(Int64, Int64)] {
      let found = verifier().verify(
        .resynchronise(try code(expected + first), try code(expected + second)), snapshot)
      #expect(found.outcome == .refused, "\(first), \(second)")
    }
    guard kind == .totp else { return }
    let back = verifier().verify(.resynchronise(try code(expected - 100), try code(expected - 99)), snapshot)
    #expect(back.used?.drift == -99)
    // Single codes keep the drift that two codes have shown.
    let next = try code(expected - 98)
    let kept = verifier().verify(.use(next), OTPSnapshot(credentials: [try #require(back.used)]))
    #expect(kept.used?.drift == -98)
  }

  @Test("used codes do not resynchronise") func pairOnce() throws {
    let pair = OTPOperation.resynchronise(try code(Self.step), try code(Self.step + 1))
    let first = verifier().verify(pair, OTPSnapshot(credentials: [credential(.totp)]))
    let used = try #require(first.used)
    #expect(verifier().verify(pair, OTPSnapshot(credentials: [used])).outcome == .refused)
    #expect(
      verifier().verify(.use(try code(Self.step + 1)), OTPSnapshot(credentials: [used])).outcome == .refused)
  }

  // MARK: States

  @Test("each credential state accepts its own requests only") func states() throws {
    let code = try code(0)
    let pair = OTPOperation.resynchronise(code, try self.code(1))
    func outcome(_ request: OTPOperation, _ state: CredentialRecord.State, _ serial: String?) -> CodeOutcome {
      verifier().verify(request, OTPSnapshot(credentials: [credential(.hotp, state: state, serial: serial)]))
        .outcome
    }
    #expect(outcome(.use(code), .active, "s1") == .accepted)
    #expect(outcome(.use(code), .pending, "s1") == .refused)
    #expect(outcome(.use(code), .disabled, "s1") == .refused)
    #expect(outcome(.verify(code), .pending, "s1") == .accepted)
    #expect(outcome(.verify(code), .active, "s1") == .refused)
    #expect(outcome(.verify(code), .disabled, "s1") == .refused)
    #expect(outcome(pair, .pending, "s1") == .accepted)
    #expect(outcome(pair, .disabled, "s1") == .refused)
    // A container becomes active by its device's confirmation, not by a code.
    #expect(outcome(.verify(code), .pending, nil) == .refused)
    #expect(outcome(pair, .pending, nil) == .refused)
    let verified = verifier().verify(
      .verify(code), OTPSnapshot(credentials: [credential(.hotp, state: .pending, serial: "s1")]))
    #expect(verified.used?.state == .active)
  }

  // MARK: Waits

  @Test("three failures are free, then each doubles the wait, up to an hour") func waits() {
    let rules = OTPSettings()
    #expect(
      (1...12).map { rules.wait(after: $0) } == [0, 0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600])
    #expect(rules.wait(after: .max) == 3600)
    var none = rules
    none.firstWait = 0
    #expect(none.wait(after: 50) == 0)
  }

  @Test("during a wait no code is verified or counted, and the answer does not depend on the code")
  func waiting() throws {
    let wait = WaitRecord(failures: 4, until: Self.now + 12, expires: Self.now + 1000)
    let snapshot = OTPSnapshot(credentials: [credential(.totp)], wait: wait)
    for code in [try code(Self.step), "000000"] {
      #expect(
        verifier().verify(.use(code), snapshot)
          == OTPVerifier.Verification(outcome: .waiting(seconds: 12), wait: wait))
    }
    let after = verifier(at: Self.now + 12).verify(.use("000000"), snapshot)
    #expect(after.outcome == .refused)
    #expect(after.wait?.failures == 5)
    #expect(after.wait?.until == Self.now + 12 + 60)
    let right = verifier(at: Self.now + 12).verify(.use(try code(Self.step)), snapshot)
    #expect(right.wait == nil)
  }

  @Test("a wait is deleted after a day, and setting the clock back lengthens none") func forgotten() {
    let old = WaitRecord(failures: 9, until: Self.now - 86_400, expires: Self.now)
    let found = verifier().verify(.use("x"), OTPSnapshot(credentials: [], wait: old))
    #expect(found.wait?.failures == 1)
    let future = WaitRecord(failures: 4, until: Self.now + 31, expires: Self.now + 1000)
    #expect(verifier().verify(.use("x"), OTPSnapshot(credentials: [], wait: future)).outcome == .refused)
  }

  @Test(
    "unauthenticated numbers of a wait are bounded",
    arguments: [
      (.max, .min, 1_000_001), (.max, now, 1_000_001), (.min, .min, 1), (-1, .max, 1), (.min, .max, 1),
      (.max, .max, 1_000_001),
    ] as [(Int, Int64, Int)])
  func bounds(_ failures: Int, _ until: Int64, _ counted: Int) {
    let wait = WaitRecord(failures: failures, until: until, expires: .max)
    let found = verifier().verify(.use("x"), OTPSnapshot(credentials: [], wait: wait))
    #expect(found.outcome == .refused)
    #expect(found.wait?.failures == counted)
  }

  @Test("a user without credentials waits like one with credentials") func nobody() {
    var wait: WaitRecord?
    for attempt in 1...4 {
      let found = verifier().verify(.use("000000"), OTPSnapshot(credentials: [], wait: wait))
      #expect(found.outcome == .refused)
      #expect(found.wait?.failures == attempt)
      wait = found.wait
    }
    let found = verifier().verify(.use("000000"), OTPSnapshot(credentials: [], wait: wait))
    #expect(found.outcome == .waiting(seconds: 30))
  }
}
