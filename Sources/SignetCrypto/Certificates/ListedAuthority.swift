/// A certificate of a file that clients trust.
package struct ListedAuthority: Hashable, Sendable {
  /// The certificate in PEM.
  package let pem: String
  /// The first second in which it is valid, since 1970.
  package let start: Int64
  /// The last second in which it is valid, since 1970.
  package let end: Int64
  /// The common name of its subject; `nil` where it has none that is text.
  package let commonName: String?

  /// Reads all certificates of a text of at most 64 KiB, in their order.
  ///
  /// - Parameter text: The text; other blocks, and what is between them, are passed over.
  /// - Throws: ``CryptoFailure/invalidCertificate`` where there is none, or one is damaged.
  /// - Returns: The certificates.
  package static func all(inPEM text: String) throws(CryptoFailure) -> [ListedAuthority] {
    var listed: [ListedAuthority] = []
    for certificate in try Certificate.all(inPEM: text) {
      listed.append(
        ListedAuthority(
          pem: try certificate.pem(), start: try certificate.start, end: try certificate.end,
          commonName: certificate.commonName))
    }
    return listed
  }
}
