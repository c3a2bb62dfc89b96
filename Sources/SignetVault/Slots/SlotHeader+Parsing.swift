package import SignetCrypto
import SignetJSON
import SignetPolicy

extension SlotHeader {
  /// Parses a header from an untrusted source.
  ///
  /// - Parameters:
  ///   - bytes: The whole header; trailing bytes are rejected.
  ///   - floor: The lowest cost of a password slot.
  /// - Throws: ``Refusal``.
  package init(parsing bytes: [UInt8], floor: Argon2id) throws(Refusal) {
    guard bytes.count > 4, bytes.starts(with: Self.magic) else { throw .malformed }
    switch bytes[4] {
    case 1: try self.init(version1: bytes, floor: floor)
    case 2: try self.init(version2: bytes, floor: floor)
    default: throw .unknownVersion(bytes[4])
    }
    // The encoding must be unique, so that the authenticated bytes are exactly the parsed ones.
    guard self.bytes == bytes else { throw .malformed }
  }

  private init(version2 bytes: [UInt8], floor: Argon2id) throws(Refusal) {
    var reader = HeaderReader(bytes[5...])
    let kind = try reader.kind()
    let keystore = try reader.keystore()
    let wrapping = try reader.byte()
    let derivation = try reader.byte()
    let cost = try reader.cost()
    let guessLimit = Int(try reader.byte())
    let enrolledSet = try reader.bytes(Self.digestByteCount)
    let (salt, domainID) = try reader.end()
    let policy = try reader.bytes(Int(try reader.number(byteCount: 2)))
    try reader.finish()

    switch kind {
    case .password:
      let lock: LockPolicy
      do { lock = try LockPolicy(JSONObject(parsing: policy)) } catch { throw .malformed }
      guard derivation == 1 else { throw .malformed }
      guard PasswordCost.accepts(cost, floor: floor) else { throw .cost(cost) }
      opening = .password(cost, lock)
    case .device: opening = .device
    case .biometric: opening = .biometric(enrolledSet: enrolledSet)
    case .devicePasscode: opening = .devicePasscode
    case .recovery: opening = .recovery
    }
    guard wrapping == 1 || wrapping == 2, guessLimit <= LockPolicy.allowedLimits.upperBound else {
      throw .malformed
    }
    version = 2
    self.keystore = keystore
    self.salt = salt
    self.domainID = domainID
    self.guessLimit = guessLimit == 0 ? nil : guessLimit
  }
}

/// A reader of consecutive header fields.
struct HeaderReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func bytes(_ count: Int) throws(SlotHeader.Refusal) -> [UInt8] {
    guard rest.count >= count else { throw .malformed }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func byte() throws(SlotHeader.Refusal) -> UInt8 { try bytes(1)[0] }

  mutating func number(byteCount: Int) throws(SlotHeader.Refusal) -> UInt32 {
    try bytes(byteCount).reduce(0) { $0 << 8 | UInt32($1) }
  }

  mutating func kind() throws(SlotHeader.Refusal) -> SlotKind {
    guard let kind = SlotKind(rawValue: try byte()) else { throw .malformed }
    return kind
  }

  mutating func keystore() throws(SlotHeader.Refusal) -> KeystoreKind {
    let code = try byte()
    guard let kind = KeystoreKind.allCases.first(where: { $0.code == code }) else { throw .malformed }
    return kind
  }

  mutating func cost() throws(SlotHeader.Refusal) -> Argon2id {
    Argon2id(
      memoryKiB: Int(try number(byteCount: 4)), passes: Int(try number(byteCount: 4)),
      lanes: Int(try number(byteCount: 4)))
  }

  /// The salt and the domain's ID.
  mutating func end() throws(SlotHeader.Refusal) -> (salt: [UInt8], DomainID) {
    let salt = try bytes(SlotHeader.saltByteCount)
    let vault = Identifier(unchecked: try bytes(Identifier.byteCount))
    let container = LocalContainerID(Identifier(unchecked: try bytes(Identifier.byteCount)))
    let name = try bytes(Int(try byte()))
    guard let domain = String(validating: name, as: UTF8.self), DomainID.isName(domain) else {
      throw .malformed
    }
    return (salt, DomainID(vault: vault, container: container, domain: domain))
  }

  func finish() throws(SlotHeader.Refusal) {
    guard rest.isEmpty else { throw .malformed }
  }
}
