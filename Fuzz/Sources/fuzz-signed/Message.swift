import LibFuzzer
import SignetCrypto
import SignetJOSE
import SignetProtocol

/// A payload, signed with the target's key.
struct Message {
  let payload: [UInt8]
  let type: String
  let keyID: String
  let jws: String

  init(_ payload: [UInt8], _ type: String, keyID: String) {
    (self.payload, self.type, self.keyID) = (payload, type, keyID)
    jws = Self.signed(payload, type, keyID)
  }

  /// Checks that the signed message is read as `value`, only with this key, this type and this key ID.
  ///
  /// No message is read once a character is changed.
  func check<Value: Equatable>(is value: Value?, _ read: (String, P256.Signing.PublicKey) -> Value?) {
    let key = Keys.signer.publicKey
    require(read(jws, key) == value, "what is signed is read as it is")
    guard value != nil else { return }
    require(read(jws, Keys.stranger.publicKey) == nil, "another key did not sign it")
    require(read(Self.signed(payload, "\(type)x", keyID), key) == nil, "a message is of one kind")
    require(read(Self.signed(payload, type, "\(keyID)x"), key) == nil, "a message names its key")
    require(read(Self.changed(jws, by: payload), key) == nil, "a changed character is found")
  }

  private static func signed(_ payload: [UInt8], _ type: String, _ keyID: String) -> String {
    made("a JWS") { () throws(JOSEFailure) in
      try JWS.sign(payload, with: SigningKey(Keys.signer, keyID: keyID), type: type)
    }
  }

  /// Returns the text with another character behind the header, at a position that depends on the input.
  static func changed(_ text: String, by input: [UInt8]) -> String {
    var bytes = Array(text.utf8)
    let start = (bytes.firstIndex(of: UInt8(ascii: ".")) ?? 0) + 1
    let sum = input.reduce(0) { ($0 * 31 + Int($1)) % 0xFFFF }
    let place = start + sum % (bytes.count - start)
    bytes[place] = UInt8(ascii: bytes[place] == UInt8(ascii: "A") ? "B" : "A")
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The keys of the target, the same in each run.
enum Keys {
  /// The signing key.
  static let signer = signing(1)
  /// A key that signs nothing.
  static let stranger = signing(2)
  /// The device's encryption key.
  static let device = agreeing(3)
  static let otherDevice = agreeing(4)

  /// The address of the answered list, and another one.
  static let address = addressed([UInt8](1...16))
  static let otherAddress = addressed([UInt8](2...17))

  /// 32 consecutive byte values.
  static func secret(_ first: UInt8) -> SecretBytes { SecretBytes(copying: Array(first...(first + 31))) }

  private static func signing(_ first: UInt8) -> P256.Signing.PrivateKey {
    made("a key") { () throws(CryptoFailure) in try P256.Signing.PrivateKey(rawRepresentation: secret(first))
    }
  }

  private static func agreeing(_ first: UInt8) -> P256.KeyAgreement.PrivateKey {
    made("a key") { () throws(CryptoFailure) in
      try P256.KeyAgreement.PrivateKey(rawRepresentation: secret(first))
    }
  }

  private static func addressed(_ request: [UInt8]) -> ListAddress {
    ListAddress(
      server: made("a server") { () throws(ServerURLFailure) in try ServerURL("a.example/main") },
      container: made("a container") { () throws(WireFailure) in try ContainerID("c") }, request: request)
  }
}
