import SignetCrypto
public import SignetJSON

/// What a device says of itself at activation.
public struct DeviceDescription: Hashable, Sendable {
  /// What keeps the device's secrets.
  public enum Keystore: String, Hashable, Sendable {
    /// A file: a copy of the files is a copy of the device.
    case software
    /// A TPM 2.0.
    case tpm2
    /// Apple's Secure Enclave.
    case secureEnclave = "secure-enclave"
  }

  /// Names the installation, 16 bytes.
  public let id: [UInt8]
  /// What the user calls the device; may be empty.
  public let name: String
  /// The operating system's name, in lower case.
  public let platform: String
  /// What keeps the secrets.
  public let keystore: Keystore
  /// Whether the hardware says, or gives away, that it is a program that plays hardware.
  public let isSimulated: Bool
  /// Where the key that signs decisions was made and signs; a hardware keystore may also keep one that signs in software.
  public let keyOrigin: Keystore

  /// Puts the description together.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for an overlong name or one with control characters.
  public init(
    id: [UInt8], name: String, platform: String, keystore: Keystore, isSimulated: Bool = false,
    keyOrigin: Keystore = .software
  ) throws(WireFailure) {
    guard id.count == 16 else { throw .invalid(member: "id", reason: "has 16 bytes") }
    guard name.unicodeScalars.count <= 128,
      name.unicodeScalars.allSatisfy({ DisplayText.isPlain($0) && $0 != "\n" })
    else {
      throw .invalid(member: "name", reason: "has at most 128 characters, none of them a control character")
    }
    guard (1...32).contains(platform.utf8.count), platform.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw .invalid(member: "platform", reason: "has 1 to 32 ASCII characters")
    }
    (self.id, self.name, self.platform) = (id, name, platform)
    (self.keystore, self.isSimulated, self.keyOrigin) = (keystore, isSimulated, keyOrigin)
  }

  /// Reads a description.
  ///
  /// - Throws: ``WireFailure``.
  public init(_ object: JSONObject) throws(WireFailure) {
    guard let keystore = Keystore(rawValue: try object.wireName("keystore")) else {
      throw .invalid(member: "keystore", reason: "is none that this server knows")
    }
    guard
      let keyOrigin = try object.contains("keys") ? Keystore(rawValue: object.wireName("keys")) : .software
    else { throw .invalid(member: "keys", reason: "is none that this server knows") }
    try self.init(
      id: object.wireBytes("id", count: 16), name: object.wireString("name"),
      platform: object.wireString("platform"), keystore: keystore,
      isSimulated: Wire.reading(object.optionalBool("simulated")) ?? false, keyOrigin: keyOrigin)
  }

  /// The description as the protocol writes it.
  public var json: JSONObject {
    var object = JSONObject()
    object["id"] = .string(Base64URL.encode(id))
    object["name"] = .string(name)
    object["platform"] = .string(platform)
    object["keystore"] = .string(keystore.rawValue)
    if isSimulated { object["simulated"] = true }
    if keyOrigin != .software { object["keys"] = .string(keyOrigin.rawValue) }
    return object
  }
}
