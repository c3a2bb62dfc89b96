import SignetCrypto
public import SignetJSON

/// The device's description of itself at activation.
public struct DeviceDescription: Hashable, Sendable {
  /// The place where the device stores its secrets.
  public enum Keystore: String, Hashable, Sendable {
    /// A file: an attacker who copies the files has a copy of the device.
    case software
    /// A TPM 2.0.
    case tpm2
    /// Apple's Secure Enclave.
    case secureEnclave = "secure-enclave"
  }

  /// The id of the installation, 16 bytes.
  public let id: [UInt8]
  /// The user's name for the device, at most 128 Unicode scalars; may be empty.
  public let name: String
  /// The operating system's name in lower case, 1 to 32 ASCII characters.
  public let platform: String
  /// The place where the device stores its secrets.
  public let keystore: Keystore
  /// Indicates whether the keystore is a simulator, by its own statement or by a recognized sign.
  public let isSimulated: Bool
  /// The keystore of the decision-signing key: a device with a hardware keystore may still have this key in software.
  public let keyOrigin: Keystore

  /// Creates a description.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for an id, a name or a platform outside its limits.
  public init(
    id: [UInt8], name: String, platform: String, keystore: Keystore, isSimulated: Bool = false,
    keyOrigin: Keystore = .software
  ) throws(WireFailure) {
    guard id.count == 16 else { throw .invalid(member: "id", reason: "must have 16 bytes") }
    guard name.unicodeScalars.count <= 128,
      name.unicodeScalars.allSatisfy({ DisplayText.isPlain($0) && $0 != "\n" })
    else {
      throw .invalid(
        member: "name", reason: "must have at most 128 characters, none of them a control character")
    }
    guard (1...32).contains(platform.utf8.count), platform.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw .invalid(member: "platform", reason: "must have 1 to 32 ASCII characters")
    }
    self.id = id
    self.name = name
    self.platform = platform
    self.keystore = keystore
    self.isSimulated = isSimulated
    self.keyOrigin = keyOrigin
  }

  /// Parses a description.
  ///
  /// - Throws: ``WireFailure`` for a malformed member or an unknown keystore.
  public init(_ object: JSONObject) throws(WireFailure) {
    guard let keystore = Keystore(rawValue: try object.wireName("keystore")) else {
      throw .invalid(member: "keystore", reason: "is not known to this server")
    }
    guard
      let keyOrigin = try object.contains("keys") ? Keystore(rawValue: object.wireName("keys")) : .software
    else { throw .invalid(member: "keys", reason: "is not known to this server") }
    try self.init(
      id: object.wireBytes("id", count: 16), name: object.wireString("name"),
      platform: object.wireString("platform"), keystore: keystore,
      isSimulated: Wire.reading(object.optionalBool("simulated")) ?? false, keyOrigin: keyOrigin)
  }

  /// The description in its JSON form.
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
