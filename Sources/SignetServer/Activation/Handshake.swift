import SignetCrypto
import SignetJSON
import SignetWire

/// What the server must know between *start* and *finish*.
///
/// The device carries it, encrypted: no state lives in the server, and
/// asking for handshakes costs an attacker as much as us.
struct Handshake: Sendable {
  /// The activation, or in a renewal the container; where there was none, an id that nothing has.
  let activation: String
  /// The server's ephemeral key.
  let privateKey: P256.KeyAgreement.PrivateKey
  /// T1 of `docs/protocol.md` section 3.2.
  let startTranscript: [UInt8]
  /// When the handshake ends, in seconds since 1970.
  let expires: Int64

  init(activation: String, privateKey: P256.KeyAgreement.PrivateKey, startTranscript: [UInt8], expires: Int64)
  {
    (self.activation, self.privateKey, self.startTranscript, self.expires) =
      (activation, privateKey, startTranscript, expires)
  }

  /// The handshake as the device carries it: private key (32) ‖ T1 (32) ‖ expiry (8) ‖ activation id, sealed, in base64url.
  func sealed(
    under masterKey: MasterKey, for purpose: MasterKey.Purpose = .handshake
  ) throws(CryptoFailure) -> String {
    let id = Array(activation.utf8)
    let key = privateKey.rawRepresentation
    let state = SecretBytes(byteCount: 72 + id.count) { output in
      key.withUInt8Span { for index in $0.indices { output.append($0[index]) } }
      for byte in startTranscript { output.append(byte) }
      for shift in stride(from: 56, through: 0, by: -8) {
        output.append(UInt8(truncatingIfNeeded: expires >> shift))
      }
      for byte in id { output.append(byte) }
    }
    return Base64URL.encode(try masterKey.seal(state, for: purpose))
  }

  /// Opens what a device brings back; `nil` for anything that this server did not make.
  init?(opening text: String, under masterKey: MasterKey, for purpose: MasterKey.Purpose = .handshake) {
    guard text.utf8.count <= 2048 else { return nil }
    do {
      let state = try masterKey.open(Base64URL.decode(text), for: purpose)
      guard state.byteCount >= 72 else { return nil }
      let key = state.withBytes { span in SecretBytes(copying: span.extracting(0..<32)) }
      let rest = state.withUInt8Span { span in (32..<span.count).map { span[$0] } }
      privateKey = try P256.KeyAgreement.PrivateKey(rawRepresentation: key)
      startTranscript = Array(rest[0..<32])
      expires = rest[32..<40].reduce(0) { $0 << 8 | Int64($1) }
      activation = String(decoding: rest[40...], as: UTF8.self)
    } catch { return nil }
  }
}
