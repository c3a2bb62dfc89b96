import SignetCrypto
import SignetOATH
import Testing

@Suite("Validity period of a code")
struct CodeValidityTests {
  private func code(at unixTime: Int64, period: Int = 30, start: Int64 = 0) throws -> TimedCode {
    try TOTP(secret: SecretBytes(copying: HOTPTests.secret), period: period, start: start).code(at: unixTime)
  }

  /// A time, and the state of a code that is valid from 30 to 59.
  struct Moment: Sendable {
    let unixTime: Int64
    let isValid: Bool
    let secondsLeft: Int64
    let progress: Double

    /// A time before the code.
    static func before(_ unixTime: Int64) -> Moment {
      Moment(unixTime: unixTime, isValid: false, secondsLeft: 30, progress: 0)
    }

    /// A time after the code.
    static func after(_ unixTime: Int64) -> Moment {
      Moment(unixTime: unixTime, isValid: false, secondsLeft: 0, progress: 1)
    }
  }

  @Test(
    "a code is valid from its first second to its last, by the given time",
    arguments: [
      Moment.before(.min), Moment.before(-1), Moment.before(29),
      Moment(unixTime: 30, isValid: true, secondsLeft: 30, progress: 0),
      Moment(unixTime: 31, isValid: true, secondsLeft: 29, progress: 1 / 30.0),
      Moment(unixTime: 45, isValid: true, secondsLeft: 15, progress: 0.5),
      Moment(unixTime: 59, isValid: true, secondsLeft: 1, progress: 29 / 30.0),
      Moment.after(60), Moment.after(4_000_000_000), Moment.after(.max),
    ])
  func window(_ moment: Moment) throws {
    let code = try code(at: 59)
    #expect(code.isValid(at: moment.unixTime) == moment.isValid)
    #expect(code.secondsLeft(at: moment.unixTime) == moment.secondsLeft)
    #expect(code.progress(at: moment.unixTime) == moment.progress)
  }

  @Test("validity with other periods and starts, and at the limits of time")
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
