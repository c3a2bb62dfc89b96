import Testing

import SignetServer

/// The time of the warning that the certificate will expire.
@Suite struct CertificateWarningTests {
  private static let day: Int64 = 86_400

  @Test("expiry is logged once a day from 30 days before, and after the end")
  func onceADay() {
    let end = 1_800_000_000 as Int64
    var warning = CertificateWarning(end: end)
    #expect(warning.daysLeft(at: end - 30 * Self.day) == nil)
    #expect(warning.daysLeft(at: end - 30 * Self.day + 1) == 29)
    #expect(warning.daysLeft(at: end - 30 * Self.day + 61) == nil)
    #expect(warning.daysLeft(at: end - 29 * Self.day) == nil)
    #expect(warning.daysLeft(at: end - 29 * Self.day + 1) == 28)
    #expect(warning.daysLeft(at: end - 1) == 0)
    #expect(warning.daysLeft(at: end + Self.day) == 0)
    var late = CertificateWarning(end: end)
    #expect(late.daysLeft(at: end + 1) == 0)
  }
}
