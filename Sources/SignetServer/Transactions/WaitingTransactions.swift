import SignetCrypto
package import SignetStorage

/// The transactions that wait for a container, and the container, from one read.
package struct WaitingTransactions: Sendable {
  /// The user's transactions that the container can answer, oldest first.
  package let transactions: [TransactionRecord]
  package let container: ContainerRecord

  /// The list's entity tag in quotes, which changes whenever the list changes (RFC 9110 section 8.8.3).
  ///
  /// It comes from the same read as the list. A tag from an earlier read could match again after the transactions in between
  /// have ended, and the device would keep the outdated list.
  var tag: String {
    let names =
      transactions.map(\.id.text) + (container.isRenewalRequested ? ["renew"] : [])
      + (container.reportRequested > 0 ? ["report \(container.reportRequested)"] : [])
    let digest = HashFunction.sha256.digest(of: Array(names.joined(separator: " ").utf8))
    return "\"\(Base64URL.encode(Array(digest.prefix(12))))\""
  }
}
