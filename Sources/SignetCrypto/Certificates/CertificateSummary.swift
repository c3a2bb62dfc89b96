/// The names and the expiry of a server's certificate, for its operator.
package struct CertificateSummary: Hashable, Sendable {
  /// The DNS names in the certificate.
  package private(set) var dnsNames: [String] = []
  /// The IP addresses in the certificate, in a form that ``CertificateAuthority`` accepts.
  package private(set) var ipAddresses: [String] = []
  /// The last second of validity, since 1970.
  package let end: Int64

  /// Parses the first certificate of a text.
  ///
  /// - Parameter pem: The certificates in PEM.
  /// - Throws: ``CryptoFailure/invalidCertificate``, also if the certificate has other kinds of names.
  package init(pem: String) throws(CryptoFailure) {
    let certificate = try Certificate(pem: pem)
    end = try certificate.end
    // RFC 5280 section 4.2.1.6: a sequence of names, each tagged with its kind.
    for content in try certificate.extensions("2.5.29.17") {
      var rest = content[...]
      guard let list = Element(&rest), list.tag == 0x30, rest.isEmpty else { throw .invalidCertificate }
      var names = list.content
      while !names.isEmpty {
        guard let name = Element(&names) else { throw .invalidCertificate }
        try add(name)
      }
    }
  }

  private mutating func add(_ name: Element) throws(CryptoFailure) {
    switch (name.tag, name.content.count) {
    case (0x82, _):
      guard let text = String(validating: name.content, as: UTF8.self) else { throw .invalidCertificate }
      dnsNames.append(text)
    case (0x87, 4): ipAddresses.append(name.content.map { String($0) }.joined(separator: "."))
    case (0x87, 16):
      let bytes = Array(name.content)
      let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
      ipAddresses.append(groups.map { String($0, radix: 16) }.joined(separator: ":"))
    default: throw .invalidCertificate
    }
  }

  /// A DER element with a length of at most 65,535 (X.690 section 8.1).
  private struct Element {
    let tag: UInt8
    let content: ArraySlice<UInt8>

    /// Removes and parses the first element; `nil` if it is truncated.
    init?(_ bytes: inout ArraySlice<UInt8>) {
      guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
      var count = Int(first)
      switch first {
      case 0x81, 0x82:
        count = 0
        for _ in 0x80..<first {
          guard let byte = bytes.popFirst() else { return nil }
          count = count << 8 | Int(byte)
        }
      case 0x80...: return nil
      default: break
      }
      guard count <= bytes.count else { return nil }
      self.tag = tag
      content = bytes.prefix(count)
      bytes = bytes.dropFirst(count)
    }
  }
}

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
