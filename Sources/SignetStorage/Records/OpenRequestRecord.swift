/// A question that waits for a user's answer, whatever asks it.
package struct OpenRequestRecord: Hashable, Sendable {
  /// What is asked with.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A transaction, also one that an app or UAF alone is asked.
    case transaction
    /// An operation of UAF.
    case uaf
  }

  package let kind: Kind
  /// Its id among its kind.
  package let id: String
  /// Who asks, as the audit log names who causes an event; `nil` for the user.
  package let requester: String?
  /// What is asked: JSON, of a transaction alone.
  ///
  /// What UAF shows may be a picture.
  package let content: String?
  /// When it was made, in seconds since 1970.
  package let created: Int64
  /// Until when it is answered, in seconds since 1970.
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
