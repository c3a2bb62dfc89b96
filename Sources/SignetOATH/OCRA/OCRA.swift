public import SignetCrypto

/// OCRA responses to challenges (RFC 6287): one-way, mutual, and signatures.
///
/// The caller stores the counter, and must durably advance it before it displays a response.
public struct OCRA: Sendable {
  /// The suite: the function and its inputs.
  public let suite: OCRASuite
  private let key: HMACKey

  /// Prepares a secret, which the caller may wipe afterwards.
  ///
  /// - Parameters:
  ///   - secret: At least 1 byte.
  ///   - suite: The suite: the function and its inputs.
  /// - Throws: ``OCRAFailure/emptySecret`` if the secret has no bytes.
  public init(secret: borrowing SecretBytes, suite: OCRASuite) throws(OCRAFailure) {
    guard secret.byteCount > 0 else { throw .emptySecret }
    self.suite = suite
    key = HMACKey(secret, suite.algorithm.hash)
  }

  /// Computes the response to the other side's challenge (section 7.1), or a plain signature (section 7.3).
  ///
  /// - Parameters:
  ///   - challenge: The challenge, or the one derived from the signed data.
  ///   - input: The other inputs of the suite.
  /// - Returns: ASCII digits with leading zeros, or lower-case hexadecimal where the suite has no digits.
  /// - Throws: ``OCRAFailure`` for a missing, unexpected or invalid input.
  public func response(
    to challenge: OCRAChallenge, _ input: OCRAInput = OCRAInput()
  ) throws(OCRAFailure) -> String {
    try response(toText: challenge.text, input)
  }

  /// Computes the client's response, after the client has verified the server's (sections 7.2 and 7.4).
  ///
  /// In a signature with server authentication, the server's challenge is the signed data.
  ///
  /// - Parameters:
  ///   - client: The client's challenge.
  ///   - server: The server's challenge.
  ///   - input: The other inputs of the client's suite.
  /// - Returns: A text of the same form as that of ``response(to:_:)``.
  /// - Throws: ``OCRAFailure`` for a missing, unexpected or invalid input.
  public func clientResponse(
    client: OCRAChallenge, server: OCRAChallenge, _ input: OCRAInput = OCRAInput()
  ) throws(OCRAFailure) -> String {
    try response(toText: server.text + client.text, input)
  }

  /// Computes the server's response, which authenticates the server to the client first (sections 7.2 and 7.4).
  ///
  /// - Parameters:
  ///   - client: The client's challenge.
  ///   - server: The server's challenge.
  ///   - input: The other inputs of the server's suite.
  /// - Returns: A text of the same form as that of ``response(to:_:)``.
  /// - Throws: ``OCRAFailure`` for a missing, unexpected or invalid input.
  public func serverResponse(
    client: OCRAChallenge, server: OCRAChallenge, _ input: OCRAInput = OCRAInput()
  ) throws(OCRAFailure) -> String {
    try response(toText: client.text + server.text, input)
  }

  private func response(toText text: String, _ input: OCRAInput) throws(OCRAFailure) -> String {
    let message = try message(text, input)
    let code = message.withBytes { key.authenticationCode(for: $0) }
    guard suite.digits > 0 else { return Hex.encode(code) }
    return HOTP.digits(HOTP.truncated(code.span), count: suite.digits)
  }

  /// Builds the data input of section 5.1; it is secret, because it contains the digest of the PIN.
  private func message(_ text: String, _ input: OCRAInput) throws(OCRAFailure) -> SecretBytes {
    let counter = try validated(input.counter, .counter, suite.hasCounter ? suite : nil)?.0
    let pin = try validated(input.pin, .pin, suite.pinHash)
    let session = try validated(input.session, .session, suite.sessionByteCount)
    let time = try validated(input.unixTime, .time, suite.timeStep)
    var message = Array(suite.description.utf8)
    message.append(0)
    if let counter { message += Self.bigEndian(counter) }
    message += suite.challengeFormat.bytes(of: text)
    var secretMessage = SecretBytes(copying: message)
    if let (pin, hash) = pin {
      secretMessage = secretMessage.joined(with: pin.withSecret { hash.hash.secretDigest(of: $0) })
    }
    if let (session, count) = session {
      guard session.count <= count else { throw .sessionTooLong(byteCount: session.count, limit: count) }
      let padded = [UInt8](repeating: 0, count: count - session.count) + session
      secretMessage = secretMessage.joined(with: SecretBytes(copying: padded))
    }
    if let (time, step) = time {
      guard time >= 0 else { throw .timeBeforeStart }
      secretMessage = secretMessage.joined(
        with: SecretBytes(copying: Self.bigEndian(UInt64(time) / UInt64(step))))
    }
    return secretMessage
  }

  /// Pairs an input with its parameter in the suite; throws unless both or neither are present.
  private func validated<Value, Parameter>(
    _ value: Value?, _ input: OCRAFailure.Input, _ parameter: Parameter?
  ) throws(OCRAFailure) -> (Value, Parameter)? {
    switch (value, parameter) {
    case (let value?, let parameter?): return (value, parameter)
    case (nil, nil): return nil
    case (nil, _?): throw .missing(input)
    case (_?, nil): throw .unexpected(input)
    }
  }

  private static func bigEndian(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
  }
}

/// The inputs of a response other than the challenge: exactly those that the suite names.
public struct OCRAInput: Sendable {
  /// The counter of the response.
  public var counter: UInt64?
  /// The PIN: UTF-8 as typed.
  public var pin: SharedSecretBox?
  /// The session information; if it is shorter than the suite says, it is padded with leading zeros.
  public var session: [UInt8]?
  /// The time in seconds since 1970-01-01T00:00:00Z.
  public var unixTime: Int64?

  /// Creates a value with all inputs.
  public init(
    counter: UInt64? = nil, pin: SharedSecretBox? = nil, session: [UInt8]? = nil, unixTime: Int64? = nil
  ) {
    self.counter = counter
    self.pin = pin
    self.session = session
    self.unixTime = unixTime
  }
}
