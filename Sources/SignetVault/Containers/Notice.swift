import SignetCrypto
import SignetSQLite

/// A message that waits to be sent to its server; it outlives the container that it concerns.
package struct Notice: Sendable, Hashable, Identifiable {
  package let id: Int64
  /// The recipient: the server's name in the layer above.
  package let server: String
  /// The earliest time to send it, in seconds since 1970-01-01T00:00:00Z.
  package let notBefore: Int64
  /// The complete, signed message, ready to send.
  package let bytes: [UInt8]
}

/// A message to be stored until its server has received it.
package struct NoticeDraft: Sendable, Hashable {
  package var server: String
  /// The earliest time to send it, in seconds since 1970-01-01T00:00:00Z.
  package var notBefore: Int64
  /// The message, which must not be secret, because it is not encrypted.
  package var bytes: [UInt8]

  package init(server: String, notBefore: Int64, bytes: [UInt8]) {
    self.server = server
    self.notBefore = notBefore
    self.bytes = bytes
  }
}

extension Vault {
  /// Returns the waiting notices, oldest first.
  ///
  /// - Returns: At most 1000.
  /// - Throws: ``VaultFailure/altered(_:)`` with ``VaultPart/notice(_:)``: remove that one.
  package func notices() throws(VaultFailure) -> [Notice] {
    do {
      return try database.transaction(.deferred) { try VaultState(from: tables).notices(in: tables) }
    } catch { throw VaultFailure(error) }
  }

  /// Postpones a notice.
  ///
  /// - Parameters:
  ///   - id: The notice; if it no longer exists, nothing happens.
  ///   - notBefore: Seconds since 1970-01-01T00:00:00Z.
  /// - Throws: ``VaultFailure``.
  package func postponeNotice(_ id: Notice.ID, notBefore: Int64) throws(VaultFailure) {
    do {
      try tables.changeState(isCounted: false) { state in
        guard let notice = try state.notices(in: tables).first(where: { $0.id == id }) else { return }
        let later = Notice(id: id, server: notice.server, notBefore: notBefore, bytes: notice.bytes)
        try tables.database.execute(
          "UPDATE notice SET due = ? WHERE number = ?", .integer(notBefore), .integer(id))
        state[.notice(id)] = later.digest
      }
    } catch { throw VaultFailure(error) }
  }

  /// Removes a notice, even an altered one; does nothing if it no longer exists.
  ///
  /// - Throws: ``VaultFailure``.
  package func removeNotice(_ id: Notice.ID) throws(VaultFailure) {
    do {
      try tables.changeState(isCounted: false) { state in
        try tables.database.execute("DELETE FROM notice WHERE number = ?", .integer(id))
        state[.notice(id)] = nil
      }
    } catch { throw VaultFailure(error) }
  }
}

extension VaultState {
  private static let maximumNoticeCount = 1000

  /// Adds a notice; replaces a row with the same number that the state does not list.
  mutating func append(_ draft: NoticeDraft, in tables: VaultTables) throws -> Notice.ID {
    guard draft.bytes.count <= ContainerAttributes.maximumByteCount,
      draft.server.utf8.count <= ContainerAttributes.maximumTextByteCount
    else { throw VaultFailure.invalidDraft(reason: "a notice is above 1 MiB; shorten it") }
    let present = noticeNumbers
    guard present.count < Self.maximumNoticeCount else {
      throw VaultFailure.invalidDraft(
        reason: "\(Self.maximumNoticeCount) notices wait for their servers already; send or remove them first"
      )
    }
    let notice = Notice(
      id: (present.max() ?? 0) + 1, server: draft.server, notBefore: draft.notBefore,
      bytes: draft.bytes)
    try tables.database.execute(
      "INSERT OR REPLACE INTO notice (number, server, due, bytes) VALUES (?, ?, ?, ?)", .integer(notice.id),
      .text(notice.server), .integer(notice.notBefore), .blob(notice.bytes))
    self[.notice(notice.id)] = notice.digest
    return notice.id
  }

  /// All notices, oldest first.
  ///
  /// - Throws: ``VaultFailure/altered(_:)`` if a notice does not match its digest or is missing.
  func notices(in tables: VaultTables) throws -> [Notice] {
    let found = try tables.database.query(
      "SELECT number, server, due, bytes FROM notice ORDER BY number"
    ).map { row in
      Notice(
        id: try row.integer("number"), server: try row.text("server"), notBefore: try row.integer("due"),
        bytes: try row.blob("bytes"))
    }
    for notice in found where self[.notice(notice.id)] != notice.digest {
      throw VaultFailure.altered(.notice(notice.id))
    }
    let missing = Set(noticeNumbers).subtracting(found.map(\.id))
    if let number = missing.min() { throw VaultFailure.altered(.notice(number)) }
    return found
  }
}

extension Notice {
  fileprivate var digest: [UInt8] {
    var bytes = CanonicalBytes("notice")
    bytes.append(id)
    bytes.append(server)
    bytes.append(notBefore)
    bytes.append(self.bytes)
    return HashFunction.sha256.digest(of: bytes.bytes)
  }
}
