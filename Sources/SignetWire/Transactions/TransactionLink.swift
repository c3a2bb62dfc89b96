/// Where a transaction for anybody is found: a text for a QR code or a link (`docs/protocol.md` section 5.7).
public struct TransactionLink: Hashable, Sendable {
  /// The most bytes of a link.
  public static let maximumByteCount = 512
  private static let prefix = "signet:transaction?id="

  /// Which transaction.
  public let id: TransactionID
  /// At which server.
  public let server: ServerURL

  /// Puts a link together.
  public init(_ id: TransactionID, at server: ServerURL) { (self.id, self.server) = (id, server) }

  /// Reads what was scanned or typed.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for anything else.
  public init(parsing text: String) throws(WireFailure) {
    let refused = WireFailure.invalid(
      member: "link", reason: "is no link to a transaction; scan the code again")
    guard text.utf8.count <= Self.maximumByteCount, text.utf8.starts(with: Self.prefix.utf8) else {
      throw refused
    }
    let rest = text.utf8.dropFirst(Self.prefix.utf8.count)
    guard let mark = rest.firstIndex(of: UInt8(ascii: "&")), rest[mark...].starts(with: "&url=".utf8) else {
      throw refused
    }
    do {
      id = try TransactionID(String(decoding: rest[..<mark], as: UTF8.self))
      server = try ServerURL(String(decoding: rest[mark...].dropFirst(5), as: UTF8.self))
    } catch { throw refused }
    guard self.text.utf8.elementsEqual(text.utf8) else { throw refused }
  }

  /// The link.
  public var text: String { "\(Self.prefix)\(id.text)&url=\(server.shortForm)" }
}
