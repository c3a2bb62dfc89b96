import SignetCrypto

/// A random identifier of 16 bytes.
package struct Identifier: Hashable, Sendable {
  static let byteCount = 16
  package let bytes: [UInt8]

  init(from random: any RandomSource) { bytes = random.bytes(Self.byteCount) }

  /// Reads an identifier from a file; returns `nil` unless there are 16 bytes.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// - Precondition: There are 16 bytes.
  package init(unchecked bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "an identifier has \(Self.byteCount) bytes")
    self.bytes = bytes
  }

  var hexadecimal: String { Hex.encode(bytes) }
}

/// The identifier of a container: 16 random bytes, meaningful only in its vault.
public struct LocalContainerID: Hashable, Sendable, CustomStringConvertible {
  private let identifier: Identifier

  package init(_ identifier: Identifier) { self.identifier = identifier }

  /// Parses a ``description``; returns `nil` unless the text has 32 hexadecimal digits.
  public init?(_ description: String) {
    do {
      guard let identifier = Identifier(try Hex.decode(description)) else { return nil }
      self.identifier = identifier
    } catch { return nil }
  }

  /// The 16 bytes.
  public var bytes: [UInt8] { identifier.bytes }

  /// 32 hexadecimal digits in lower case.
  public var description: String { identifier.hexadecimal }
}

/// The identifier of this installation: 16 random bytes, made with the vault.
public struct DeviceID: Hashable, Sendable, CustomStringConvertible {
  private let identifier: Identifier

  init(_ identifier: Identifier) { self.identifier = identifier }

  /// The 16 bytes.
  public var bytes: [UInt8] { identifier.bytes }

  /// 32 hexadecimal digits in lower case.
  public var description: String { identifier.hexadecimal }
}
