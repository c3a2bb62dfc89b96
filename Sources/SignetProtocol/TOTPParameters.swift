public import SignetCrypto
import SignetJSON
public import SignetOATH

/// The parameters of one-time codes: RFC 6238 with T0 = 0.
public struct TOTPParameters: Hashable, Sendable {
  /// The hash function of HMAC.
  public let algorithm: OATHAlgorithm
  /// The number of digits of a code, 6 to 10.
  public let digits: Int
  /// The period for which a code is valid, in seconds, 1 to 3600.
  public let period: Int

  /// The default parameters: SHA-256, 6 digits, 30 seconds.
  public static let standard = TOTPParameters(unchecked: .sha256, digits: 6, period: 30)

  private init(unchecked algorithm: OATHAlgorithm, digits: Int, period: Int) {
    self.algorithm = algorithm
    self.digits = digits
    self.period = period
  }

  init(_ object: JSONObject) throws(WireFailure) {
    guard let algorithm = OATHAlgorithm(name: try object.wireName("algorithm")) else {
      throw .invalid(
        member: "algorithm", reason: "must be one of \(OATHAlgorithm.standardNames.joined(separator: ", "))")
    }
    let (digits, period) = (try object.wireInteger("digits"), try object.wireInteger("period"))
    guard HOTP.allowedDigits.contains(Int(clamping: digits)) else {
      throw .invalid(member: "digits", reason: "must be 6 to 10")
    }
    guard TOTP.allowedPeriods.contains(Int(clamping: period)) else {
      throw .invalid(member: "period", reason: "must be 1 to 3600")
    }
    self.init(unchecked: algorithm, digits: Int(digits), period: Int(period))
  }

  /// Creates the code generator for a secret.
  ///
  /// - Throws: `OATHFailure` if the secret is empty.
  public func generator(secret: borrowing SecretBytes) throws(OATHFailure) -> TOTP {
    try TOTP(secret: secret, algorithm: algorithm, digits: digits, period: period)
  }
}
