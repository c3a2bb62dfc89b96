import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetSystem

/// The server's state between *start* and *finish*.
///
/// The device carries it, encrypted, so the server stores nothing for a handshake. An attacker who requests handshakes
/// spends as much as the server.
struct Handshake: Sendable {
  enum Purpose: String, Sendable {
    case activation = "signet handshake"
    case renewal = "signet renewal handshake"
  }

  /// The id of the activation, or of the container in a renewal; a random id if there is no activation.
  let activation: String
  /// The server's ephemeral key.
  let privateKey: P256.KeyAgreement.PrivateKey
  /// T1 of `docs/protocol.md` section 3.2.
  let startTranscript: [UInt8]
  /// The time when the handshake expires, in seconds since 1970.
  let expires: Int64

  init(activation: String, privateKey: P256.KeyAgreement.PrivateKey, startTranscript: [UInt8], expires: Int64)
  {
    self.activation = activation
    self.privateKey = privateKey
    self.startTranscript = startTranscript
    self.expires = expires
  }

  /// Returns the encrypted handshake in base64url.
  ///
  /// It is the id of its key (8 bytes), then under that key: private key (32) ‖ T1 (32) ‖ expiry (8, big-endian) ‖ activation id.
  func sealed(under key: HandshakeKeys.Key, for purpose: Purpose) throws(CryptoFailure) -> String {
    let id = Array(activation.utf8)
    let privateBytes = privateKey.rawRepresentation
    let state = SecretBytes(byteCount: 72 + id.count) { output in
      privateBytes.withUInt8Span { for index in $0.indices { output.append($0[index]) } }
      for byte in startTranscript { output.append(byte) }
      for shift in stride(from: 56, through: 0, by: -8) {
        output.append(UInt8(truncatingIfNeeded: expires >> shift))
      }
      for byte in id { output.append(byte) }
    }
    let sealed = try key.secret.withSecret { (secret) throws(CryptoFailure) in
      try AESGCM.sealCombined(state, key: secret, additionalData: purpose.additionalData(key.id))
    }
    return Base64URL.encode(key.id + sealed)
  }

  /// Returns the id of a handshake's key, and the encrypted part; `nil` if the text is not a handshake.
  static func parts(_ text: String) -> (key: [UInt8], sealed: [UInt8])? {
    guard text.utf8.count <= 2048 else { return nil }
    do {
      let bytes = try Base64URL.decode(text)
      guard bytes.count > HandshakeKeys.idByteCount else { return nil }
      return (
        Array(bytes.prefix(HandshakeKeys.idByteCount)), Array(bytes.dropFirst(HandshakeKeys.idByteCount))
      )
    } catch { return nil }
  }

  /// Decrypts a handshake; `nil` if it was not encrypted under this key for this purpose.
  init?(opening sealed: [UInt8], under key: HandshakeKeys.Key, for purpose: Purpose) {
    do {
      let state = try key.secret.withSecret { (secret) throws(CryptoFailure) in
        try AESGCM.openCombined(sealed, key: secret, additionalData: purpose.additionalData(key.id))
      }
      guard state.byteCount >= 72 else { return nil }
      let privateBytes = state.withBytes { span in SecretBytes(copying: span.extracting(0..<32)) }
      let rest = state.withUInt8Span { span in (32..<span.count).map { span[$0] } }
      privateKey = try P256.KeyAgreement.PrivateKey(rawRepresentation: privateBytes)
      startTranscript = Array(rest[0..<32])
      expires = rest[32..<40].reduce(0) { $0 << 8 | Int64($1) }
      activation = String(decoding: rest[40...], as: UTF8.self)
    } catch { return nil }
  }
}

extension Handshake.Purpose {
  fileprivate func additionalData(_ key: [UInt8]) -> [UInt8] { Array(rawValue.utf8) + [0] + key }
}

extension ServiceContext {
  /// Returns the handshake encrypted under the current key.
  func sealed(_ handshake: Handshake, for purpose: Handshake.Purpose) throws -> String {
    let key: HandshakeKeys.Key
    do { key = try handshakeKeys.current(at: clock.now) } catch { throw handshakesFailed(error) }
    return try handshake.sealed(under: key, for: purpose)
  }

  /// Decrypts the handshake that a device sends back.
  ///
  /// - Throws: ``Problem/Code/handshakeVoid`` if it has expired, if its key was deleted, or if this server did not create
  ///   it. The failure reveals nothing about users and invites; the device begins again.
  func opened(_ text: String, for purpose: Handshake.Purpose) throws(Problem) -> Handshake {
    let now = clock.now
    guard let parts = Handshake.parts(text) else { throw Self.voidHandshake }
    let key: HandshakeKeys.Key?
    do { key = try handshakeKeys.key(parts.key, at: now) } catch { throw handshakesFailed(error) }
    guard let key, let handshake = Handshake(opening: parts.sealed, under: key, for: purpose),
      handshake.expires > now
    else { throw Self.voidHandshake }
    return handshake
  }

  private static let voidHandshake = Problem(
    .handshakeVoid, "It has expired, or the server was restarted; start again.")

  private func handshakesFailed(_ error: any Error) -> Problem {
    log.sampledError("handshakes.failed", ["cause": "\(error)"])
    return Problem(
      .serverFailure,
      "The server cannot use its handshake keys; nothing was changed. Try again later; the cause is in its log."
    )
  }
}
