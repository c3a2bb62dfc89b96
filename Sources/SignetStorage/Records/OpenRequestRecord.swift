/// A pending request to a user, of any kind.
package struct OpenRequestRecord: Hashable, Sendable {
  /// The kind of a request.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A transaction, including one that only an app or UAF is asked.
    case transaction
    /// A UAF operation.
    case uaf
  }

  package let kind: Kind
  /// Its id among its kind.
  package let id: String
  /// The requester, in the format of the audit log's actors; `nil` for the user.
  package let requester: String?
  /// The content as JSON; `nil` for a UAF operation, whose content may be a picture.
  package let content: String?
  /// When it was made, in seconds since 1970.
  package let created: Int64
  /// When it expires, in seconds since 1970.
  package let expires: Int64
}

extension OpenRequestRecord {
  init(_ transaction: TransactionRecord) {
    kind = .transaction
    id = transaction.id.text
    requester = transaction.requester
    content = transaction.content
    created = transaction.created
    expires = transaction.expires
  }

  init(_ session: UAFOperationRecord) {
    kind = .uaf
    id = session.id.text
    requester = session.requester
    content = nil
    created = session.created
    expires = session.expires
  }
}
