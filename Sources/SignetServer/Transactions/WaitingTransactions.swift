import SignetCrypto
package import SignetStorage

/// What waits for a container, and the container, of one look.
package struct WaitingTransactions: Sendable {
  /// What its user is asked, and requires no more than the container can show; oldest first.
  package let transactions: [TransactionRecord]
  /// The container.
  package let container: ContainerRecord

  /// The list's entity tag, which is another one whenever the list is, in quotes (RFC 9110 section 8.8.3).
  ///
  /// It is of the same look as the list: that of an earlier one would be good again once what came in between has ended, and the
  /// device would go on showing it.
  var tag: String {
    let names =
      transactions.map(\.id.text) + (container.isRenewalWanted ? ["renew"] : [])
      + (container.reportWanted > 0 ? ["report \(container.reportWanted)"] : [])
    let digest = HashFunction.sha256.digest(of: Array(names.joined(separator: " ").utf8))
    return "\"\(Base64URL.encode(Array(digest.prefix(12))))\""
  }
}
