/// A certificate in a file of trusted certificates.
package struct ListedAuthority: Hashable, Sendable {
  package let pem: String
  /// The first second of validity, since 1970.
  package let start: Int64
  /// The last second of validity, since 1970.
  package let end: Int64
  /// The common name of the subject; `nil` if there is none in UTF-8 or ASCII.
  package let commonName: String?

  /// Parses all certificates of a text of at most 64 KiB, in their order.
  ///
  /// - Parameter text: The text; other blocks and the text between blocks are skipped.
  /// - Throws: ``CryptoFailure/invalidCertificate`` if there is no certificate, or one is malformed.
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
