import SignetSystem

/// A link or QR code text to a transaction that any user can claim (`docs/protocol.md` section 5.7).
public struct TransactionLink: Hashable, Sendable {
  /// The longest link, in bytes.
  public static let maximumByteCount = 512
  private static let prefix = "signet:transaction?id="

  /// The id of the transaction.
  public let id: TransactionID
  /// The server that has the transaction.
  public let server: ServerURL

  /// Creates a link.
  public init(_ id: TransactionID, at server: ServerURL) { (self.id, self.server) = (id, server) }

  /// Parses a scanned or typed link.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a text that is not exactly such a link.
  public init(parsing text: String) throws(WireFailure) {
    let malformed = WireFailure.invalid(
      member: "link", reason: "is not a complete link to a transaction; scan or copy it again")
    guard text.utf8.count <= Self.maximumByteCount, text.utf8.starts(with: Self.prefix.utf8) else {
      throw malformed
    }
    let rest = text.utf8.dropFirst(Self.prefix.utf8.count)
    guard let ampersand = rest.firstIndex(of: UInt8(ascii: "&")),
      rest[ampersand...].starts(with: "&url=".utf8)
    else {
      throw malformed
    }
    do {
      id = try TransactionID(String(decoding: rest[..<ampersand], as: UTF8.self))
      server = try ServerURL(String(decoding: rest[ampersand...].dropFirst(5), as: UTF8.self))
    } catch { throw malformed }
    guard self.text.hasSameBytes(as: text) else { throw malformed }
  }

  /// The link as text.
  public var text: String { "\(Self.prefix)\(id.text)&url=\(server.shortForm)" }
}
