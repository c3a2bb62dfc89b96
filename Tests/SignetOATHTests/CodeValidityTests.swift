import SignetCrypto
import SignetOATH
import Testing

@Suite("How long a code is valid")
struct CodeValidityTests {
  private func code(at unixTime: Int64, period: Int = 30, start: Int64 = 0) throws -> TimedCode {
    try TOTP(secret: SecretBytes(copying: HOTPTests.secret), period: period, start: start).code(at: unixTime)
  }

  @Test(
    "by a clock from outside: the first second counts, the first after it does not",
    arguments: [
      (-1, false, 30, 0), (29, false, 30, 0), (30, true, 30, 0), (31, true, 29, 1 / 30.0),
      (45, true, 15, 0.5), (59, true, 1, 29 / 30.0), (60, false, 0, 1), (4_000_000_000, false, 0, 1),
      (.min, false, 30, 0), (.max, false, 0, 1),
    ] as [(Int64, Bool, Int64, Double)])
  func window(unixTime: Int64, isValid: Bool, left: Int64, progress: Double) throws {
    let code = try code(at: 59)
    #expect(code.isValid(at: unixTime) == isValid)
    #expect(code.secondsLeft(at: unixTime) == left)
    #expect(code.progress(at: unixTime) == progress)
  }

  @Test("another period, another start, and the ends of time")
  func otherWindows() throws {
    let long = try code(at: 1119, period: 60, start: 1000)
    #expect(long.isValid(at: 1060) && !long.isValid(at: 1059) && !long.isValid(at: 1120))
    #expect(long.secondsLeft(at: 1100) == 20 && long.progress(at: 1090) == 0.5)
    let first = try code(at: .min, period: 3600, start: .min)
    #expect(first.isValid(at: .min) && first.secondsLeft(at: .max) == 0 && first.progress(at: .min) == 0)
    let last = try code(at: .max, period: 3600)
    #expect(last.progress(at: .max) == 1 && last.secondsLeft(at: last.validFrom) > 0)
  }
}
