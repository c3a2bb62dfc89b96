import SignetCrypto
import SignetOATH
import Testing

/// A row of RFC 6238 appendix B.
struct TOTPVector: Sendable, CustomTestStringConvertible {
  let algorithm: OATHAlgorithm
  let unixTime: Int64
  let counter: UInt64
  let code: String

  var testDescription: String { "\(algorithm.rawValue) at \(unixTime)" }

  /// The secret of the reference implementation: the digits 1 to 0 repeated to the length of the hash.
  static func secret(_ algorithm: OATHAlgorithm) -> [UInt8] {
    (0..<algorithm.hash.byteCount).map { UInt8(0x30 + ($0 + 1) % 10) }
  }

  static let times: [(Int64, UInt64)] = [
    (59, 0x1), (1_111_111_109, 0x23523EC), (1_111_111_111, 0x23523ED), (1_234_567_890, 0x273EF07),
    (2_000_000_000, 0x3F940AA), (20_000_000_000, 0x27BC86AA),
  ]
  static let codes: [(OATHAlgorithm, [String])] = [
    (.sha1, ["94287082", "07081804", "14050471", "89005924", "69279037", "65353130"]),
    (.sha256, ["46119246", "68084774", "67062674", "91819424", "90698825", "77737706"]),
    (.sha512, ["90693936", "25091201", "99943326", "93441116", "38618901", "47863826"]),
  ]
  static let all = codes.flatMap { algorithm, codes in
    zip(times, codes).map { TOTPVector(algorithm: algorithm, unixTime: $0.0, counter: $0.1, code: $1) }
  }
}

@Suite("TOTP (RFC 6238)")
struct TOTPTests {
  @Test("appendix B", arguments: TOTPVector.all)
  func appendixB(vector: TOTPVector) throws {
    let secret = SecretBytes(copying: TOTPVector.secret(vector.algorithm))
    let totp = try TOTP(secret: secret, algorithm: vector.algorithm, digits: 8)
    let code = try totp.code(at: vector.unixTime)
    #expect(code.code == vector.code)
    #expect(code.counter == vector.counter)
    #expect(code.validFrom == Int64(vector.counter) * 30)
    #expect(code.validUntil == code.validFrom + 30)
  }

  private func totp(digits: Int = 6, period: Int = 30, start: Int64 = 0) throws -> TOTP {
    try TOTP(secret: SecretBytes(copying: HOTPTests.secret), digits: digits, period: period, start: start)
  }

  @Test("a period includes its first second and excludes its end")
  func edges() throws {
    let totp = try totp()
    #expect(try totp.counter(at: 0) == 0)
    #expect(try totp.counter(at: 29) == 0)
    #expect(try totp.counter(at: 30) == 1)
  }

  @Test("the start shifts the counter; before the start there is none")
  func start() throws {
    let totp = try totp(period: 60, start: 1000)
    #expect(try totp.counter(at: 1000) == 0)
    let code = try totp.code(at: 1119)
    #expect(code.counter == 1)
    #expect((code.validFrom, code.validUntil) == (1060, 1120))
    #expect(code.code == "287082")
    #expect(throws: OATHFailure.beforeStart(unixTime: 999, start: 1000)) { try totp.counter(at: 999) }
    #expect(throws: OATHFailure.beforeStart(unixTime: -1, start: 0)) { try self.totp().code(at: -1) }
  }

  @Test("a start before 1970, and times at the ends of 64 bits")
  func extremes() throws {
    #expect(try totp(period: 10, start: -100).counter(at: -1) == 9)
    let widest = try totp(period: 1, start: .min)
    #expect(try widest.counter(at: .max) == .max)
    #expect(try widest.code(at: .min).validFrom == .min)
    let last = try totp(period: 3600).code(at: .max)
    #expect(last.validUntil == .max)
    #expect(last.validFrom <= .max - 1)
  }

  @Test("other periods are refused", arguments: [Int.min, -1, 0, 3601, Int.max])
  func periodOutOfRange(period: Int) {
    #expect(throws: OATHFailure.periodOutOfRange(period)) { try self.totp(period: period) }
  }

  @Test("a printed code shows no digits of it")
  func redacted() throws {
    let code = try totp().code(at: 59)
    #expect(code.description == "one-time code, valid from 30 until 60")
    var dumped = ""
    dump(code, to: &dumped)
    #expect(!dumped.contains(code.code))
    #expect(!String(reflecting: code).contains(code.code))
  }
}

@Suite("TOTP window (RFC 6238 section 5.2)")
struct TOTPWindowTests {
  private let totp = Result { try TOTP(secret: SecretBytes(copying: HOTPTests.secret)) }

  @Test("the codes of the window are accepted, their neighbours are not", arguments: -4...4)
  func width(step: Int) throws {
    let totp = try totp.get()
    let window = try TOTPWindow(lookBack: 2, lookAhead: 1)
    let now: UInt64 = 40_000_000
    let counter = UInt64(Int64(now) + Int64(step))
    let verdict = window.verdict(
      on: totp.hotp.code(at: counter), from: totp, at: Int64(now) * 30 + 7, lastAccepted: nil)
    #expect(verdict == (-2...1 ~= step ? .accepted(counter: counter) : .refused(.wrong)))
  }

  @Test("a window of width 0 accepts the current code only")
  func noWidth() throws {
    let totp = try totp.get()
    let window = try TOTPWindow(lookBack: 0, lookAhead: 0)
    #expect(
      window.verdict(on: "287082", from: totp, at: 59, lastAccepted: nil) == .accepted(counter: 1))
    #expect(window.verdict(on: "755224", from: totp, at: 59, lastAccepted: nil) == .refused(.wrong))
  }

  @Test("no code is accepted twice, nor one before the last accepted")
  func replay() throws {
    let totp = try totp.get()
    let window = TOTPWindow.standard
    #expect(window.verdict(on: "287082", from: totp, at: 59, lastAccepted: 0) == .accepted(counter: 1))
    #expect(window.verdict(on: "287082", from: totp, at: 59, lastAccepted: 1) == .refused(.alreadyUsed))
    #expect(window.verdict(on: "755224", from: totp, at: 59, lastAccepted: 1) == .refused(.alreadyUsed))
    #expect(window.verdict(on: "359152", from: totp, at: 59, lastAccepted: 1) == .accepted(counter: 2))
    #expect(window.verdict(on: "000000", from: totp, at: 59, lastAccepted: 1) == .refused(.wrong))
    #expect(window.verdict(on: "287082", from: totp, at: 59, lastAccepted: .max) == .refused(.alreadyUsed))
  }

  @Test("the window is truncated at the start; before the start every code is wrong")
  func atStart() throws {
    let totp = try totp.get()
    let window = try TOTPWindow(lookBack: 20, lookAhead: 20)
    #expect(window.verdict(on: "755224", from: totp, at: 0, lastAccepted: nil) == .accepted(counter: 0))
    #expect(window.verdict(on: "755224", from: totp, at: -1, lastAccepted: nil) == .refused(.wrong))
  }

  @Test("the window is truncated at the end of time")
  func atEnd() throws {
    let totp = try TOTP(secret: SecretBytes(copying: HOTPTests.secret), period: 1, start: .min)
    let code = totp.hotp.code(at: .max)
    let verdict = TOTPWindow.standard.verdict(on: code, from: totp, at: .max, lastAccepted: nil)
    #expect(verdict == .accepted(counter: .max))
  }

  @Test("other widths are refused", arguments: [-1, 21, Int.max])
  func steps(steps: Int) {
    #expect(throws: OATHFailure.stepsOutOfRange(steps)) { try TOTPWindow(lookBack: steps, lookAhead: 0) }
    #expect(throws: OATHFailure.stepsOutOfRange(steps)) { try TOTPWindow(lookBack: 0, lookAhead: steps) }
  }
}
