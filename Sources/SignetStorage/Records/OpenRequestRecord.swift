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
    (kind, id, requester, content) = (
      .transaction, transaction.id.text, transaction.requester, transaction.content
    )
    (created, expires) = (transaction.created, transaction.expires)
  }

  init(_ session: UAFOperationRecord) {
    (kind, id, requester, content) = (.uaf, session.id.text, session.requester, nil)
    (created, expires) = (session.created, session.expires)
  }
}
