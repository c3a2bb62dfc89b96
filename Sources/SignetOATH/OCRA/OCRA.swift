public import SignetCrypto

/// Responses to challenges from a secret (RFC 6287): one way, mutual, and signatures.
///
/// A counter is the caller's to keep: advance it durably before a response is shown.
public struct OCRA: Sendable {
  /// What is computed and from what.
  public let suite: OCRASuite
  private let key: HMACKey

  /// Prepares a secret; it is not needed afterwards.
  ///
  /// - Parameters:
  ///   - secret: At least 1 byte.
  ///   - suite: What is computed.
  /// - Throws: ``OCRAFailure/emptySecret``.
  public init(secret: borrowing SecretBytes, suite: OCRASuite) throws(OCRAFailure) {
    guard secret.byteCount > 0 else { throw .emptySecret }
    self.suite = suite
    key = HMACKey(secret, suite.algorithm.hash)
  }

  /// The response to the other side's challenge (section 7.1), or the plain signature of one (section 7.3).
  ///
  /// - Parameters:
  ///   - challenge: The challenge, or what stands for the signed data.
  ///   - input: What else the suite wants.
  /// - Returns: ASCII digits with leading zeros, or lower-case hexadecimal where the suite has no digits.
  /// - Throws: ``OCRAFailure``.
  public func response(
    to challenge: OCRAChallenge, _ input: OCRAInput = OCRAInput()
  ) throws(OCRAFailure) -> String {
    try response(toText: challenge.text, input)
  }

  /// What the client answers, once it has checked the server's answer (sections 7.2 and 7.4).
  ///
  /// In a signature with server authentication the server's challenge is what is signed.
  ///
  /// - Parameters:
  ///   - client: The client's challenge.
  ///   - server: The server's challenge.
  ///   - input: What else the suite of the client wants.
  /// - Returns: As ``response(to:_:)``.
  /// - Throws: ``OCRAFailure``.
  public func clientResponse(
    client: OCRAChallenge, server: OCRAChallenge, _ input: OCRAInput = OCRAInput()
  ) throws(OCRAFailure) -> String {
    try response(toText: server.text + client.text, input)
  }

  /// What the server answers first, by which the client knows it (sections 7.2 and 7.4).
  ///
  /// - Parameters:
  ///   - client: The client's challenge.
  ///   - server: The server's challenge.
  ///   - input: What else the suite of the server wants.
  /// - Returns: As ``response(to:_:)``.
  /// - Throws: ``OCRAFailure``.
  public func serverResponse(
    client: OCRAChallenge, server: OCRAChallenge, _ input: OCRAInput = OCRAInput()
  ) throws(OCRAFailure) -> String {
    try response(toText: client.text + server.text, input)
  }

  private func response(toText text: String, _ input: OCRAInput) throws(OCRAFailure) -> String {
    let message = try message(text, input)
    let code = message.withBytes { key.authenticationCode(for: $0) }
    guard suite.digits > 0 else { return Hex.encode(code) }
    return HOTP.digits(HOTP.truncated(code), count: suite.digits)
  }

  /// The data input of section 5.1; it holds the digest of the PIN.
  private func message(_ text: String, _ input: OCRAInput) throws(OCRAFailure) -> SecretBytes {
    let counter = try given(input.counter, .counter, suite.hasCounter ? suite : nil)?.0
    let pin = try given(input.pin, .pin, suite.pinHash)
    let session = try given(input.session, .session, suite.sessionByteCount)
    let time = try given(input.unixTime, .time, suite.timeStep)
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

  /// An input with what the suite says of it; both are there, or neither.
  private func given<Value, Parameter>(
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

/// What enters a response besides the challenge: what the suite wants, and nothing else.
public struct OCRAInput: Sendable {
  /// The counter.
  public var counter: UInt64?
  /// The PIN: UTF-8 as typed.
  public var pin: SharedSecretBox?
  /// Session information; shorter than the suite says, it gets zeros in front.
  public var session: [UInt8]?
  /// The time in seconds since 1970-01-01T00:00:00Z.
  public var unixTime: Int64?

  /// Names all inputs.
  public init(
    counter: UInt64? = nil, pin: SharedSecretBox? = nil, session: [UInt8]? = nil, unixTime: Int64? = nil
  ) {
    (self.counter, self.pin, self.session, self.unixTime) = (counter, pin, session, unixTime)
  }
}
