#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A new certificate authority with a P-256 key, for private servers and for tests (RFC 5280).
///
/// Its certificate allows no authority below it, and its key signs certificates and nothing else. The private key lives as
/// long as this value and cannot be exported.
public struct CertificateAuthority: Sendable {
  /// A server's certificate and its private key.
  public struct ServerCertificate: Sendable {
    /// The certificate in PEM.
    public let certificatePEM: String
    /// The private key as the UTF-8 text of PKCS #8 in PEM (RFC 5958, RFC 7468 section 10).
    public let privateKeyPEM: SharedSecretBox

    /// The private key's PEM in a string that cannot be wiped: for tests that write it to a file.
    package var insecurePrivateKeyPEM: String {
      privateKeyPEM.withSecret { String(decoding: $0.insecureCopy(), as: UTF8.self) }
    }
  }

  /// The longest validity of a server certificate, in days: the limit that common TLS clients accept from private
  /// authorities.
  public static let maximumServerDays = 825

  /// The largest number of names in a server certificate.
  package static let mostNames = 100
  /// The default validity of a server certificate, in days.
  public static let usualServerDays = 397
  /// The default validity of an authority, in days.
  public static let usualDays = 3650
  /// The time by which the validity begins before the issuing, in seconds: clients may have slow clocks.
  package static let backdating: Int64 = 3600

  private let certificate: Certificate
  private let key: KeyHandle
  private let lastSecond: Int64

  /// Creates a key and a self-signed certificate for it.
  ///
  /// - Parameters:
  ///   - commonName: The name of the authority, 1 to 64 characters (RFC 5280 appendix A.1).
  ///   - validDays: 1 to 7300.
  ///   - unixTime: The current time, in seconds since 1970; the certificate is valid from an hour before, for slow clocks.
  /// - Throws: ``CryptoFailure/invalidSubjectName``, ``CryptoFailure/parameterOutOfRange(_:_:allowed:)``.
  public init(
    commonName: String = "Signet local authority", validDays: Int = usualDays,
    at unixTime: Int64 = currentUnixTime()
  ) throws(CryptoFailure) {
    try CryptoFailure.require(validDays, in: 1...7300, .validDays)
    key = try EllipticCurve.p256.generate()
    lastSecond = unixTime + Int64(validDays) * 86_400
    var builder = try CertificateBuilder(subjectKey: key, commonName: commonName)
    try builder.setValidity(from: unixTime - Self.backdating, until: lastSecond)
    try builder.setIssuer(nil)
    try builder.add(.basicConstraints, "critical,CA:TRUE,pathlen:0")
    try builder.add(.keyUsage, "critical,keyCertSign,cRLSign")
    try builder.add(.subjectKeyIdentifier, "hash")
    certificate = try builder.sign(with: key)
  }

  /// The authority's own certificate in PEM, for the trust stores of clients.
  public var certificatePEM: String {
    get throws(CryptoFailure) { try certificate.pem() }
  }

  /// Creates a P-256 key and a certificate for a TLS server.
  ///
  /// - Parameters:
  ///   - dnsNames: The DNS names of the server; the leftmost label may be `*`.
  ///   - ipAddresses: IPv4 addresses in dotted form and IPv6 addresses (RFC 4291 section 2.2).
  ///   - validDays: 1 to 825; the certificate expires with the authority's own at the latest.
  ///   - unixTime: The current time, in seconds since 1970; the certificate is valid from an hour before, for slow clocks.
  /// - Throws: ``CryptoFailure/invalidSubjectName`` for a malformed name, for no name or for more than 100;
  ///   ``CryptoFailure/parameterOutOfRange(_:_:allowed:)``.
  /// - Returns: The certificate and the only copy of its private key.
  public func issueServerCertificate(
    dnsNames: [String], ipAddresses: [String] = [], validDays: Int = usualServerDays,
    at unixTime: Int64 = currentUnixTime()
  ) throws(CryptoFailure) -> ServerCertificate {
    let serverKey = try EllipticCurve.p256.generate()
    return ServerCertificate(
      certificatePEM: try serverCertificate(
        for: serverKey, dnsNames: dnsNames, ipAddresses: ipAddresses, validDays: validDays, at: unixTime),
      privateKeyPEM: SharedSecretBox(try PEMText.privateKey(serverKey)))
  }

  /// Creates a certificate for a TLS server that already has a key.
  ///
  /// - Parameters:
  ///   - privateKeyPEM: The P-256 private key, in PEM.
  ///   - dnsNames: The DNS names of the server; the leftmost label may be `*`.
  ///   - ipAddresses: IPv4 addresses in dotted form and IPv6 addresses.
  ///   - unixTime: The current time, in seconds since 1970; the certificate is valid from an hour before, for
  ///     ``usualServerDays``.
  /// - Throws: ``CryptoFailure/invalidPrivateKey``, and the errors of
  ///   ``issueServerCertificate(dnsNames:ipAddresses:validDays:at:)``.
  /// - Returns: The certificate in PEM.
  package func issueServerCertificate(
    privateKeyPEM: borrowing SecretBytes, dnsNames: [String], ipAddresses: [String], at unixTime: Int64
  ) throws(CryptoFailure) -> String {
    let serverKey = try PrivateKeyPEM.read(privateKeyPEM)
    _ = try EllipticCurve.p256Scalar(of: serverKey)  // rejects other kinds of keys
    return try serverCertificate(
      for: serverKey, dnsNames: dnsNames, ipAddresses: ipAddresses, validDays: Self.usualServerDays,
      at: unixTime)
  }

  /// Indicates whether a certificate can be issued for these names.
  package static func canIssue(dnsNames: [String], ipAddresses: [String]) -> Bool {
    (1...mostNames).contains(dnsNames.count + ipAddresses.count)
      && dnsNames.allSatisfy(ServerName.isDNSName) && ipAddresses.allSatisfy(ServerName.isIPAddress)
  }

  private func serverCertificate(
    for serverKey: KeyHandle, dnsNames: [String], ipAddresses: [String], validDays: Int, at unixTime: Int64
  ) throws(CryptoFailure) -> String {
    try CryptoFailure.require(validDays, in: 1...Self.maximumServerDays, .validDays)
    guard Self.canIssue(dnsNames: dnsNames, ipAddresses: ipAddresses) else { throw .invalidSubjectName }
    let names = dnsNames.map { "DNS:\($0)" } + ipAddresses.map { "IP:\($0)" }
    // Clients check the alternative names only. The common name is for people and has at most 64 characters.
    let commonName = String((dnsNames + ipAddresses).first { $0.utf8.count <= 64 } ?? "server")
    var builder = try CertificateBuilder(subjectKey: serverKey, commonName: commonName)
    let end = unixTime - Self.backdating + Int64(validDays) * 86_400
    try builder.setValidity(from: unixTime - Self.backdating, until: min(end, lastSecond))
    try builder.setIssuer(certificate)
    try builder.add(.basicConstraints, "critical,CA:FALSE")
    try builder.add(.keyUsage, "critical,digitalSignature")
    try builder.add(.extendedKeyUsage, "serverAuth")
    try builder.add(.subjectAlternativeName, names.joined(separator: ","))
    try builder.add(.subjectKeyIdentifier, "hash")
    try builder.add(.authorityKeyIdentifier, "keyid:always")
    return try builder.sign(with: key).pem()
  }

  /// Returns the system's time, in whole seconds since 1970.
  public static func currentUnixTime() -> Int64 {
    var now = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec)
  }
}

/// Validation of names in a server's certificate.
///
/// Only these forms are accepted, so no name can inject a second entry into the text that OpenSSL parses.
enum ServerName {
  /// Accepts labels of 1 to 63 letters, digits and hyphens, 253 characters in total; the first label may be `*`.
  static func isDNSName(_ name: String) -> Bool {
    var labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)[...]
    guard (1...253).contains(name.utf8.count) else { return false }
    if labels.count > 1, labels.first?.elementsEqual("*".utf8) == true { labels.removeFirst() }
    // Parsers would read a name whose last label is a number as an address.
    guard let last = labels.last, !last.allSatisfy(isDigit) else { return false }
    return labels.allSatisfy { label in
      (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        && label.allSatisfy(isLetterDigitOrHyphen)
    }
  }

  /// Accepts an address that the system's `inet_pton` can parse.
  static func isIPAddress(_ address: String) -> Bool {
    guard !address.utf8.contains(0) else { return false }
    var storage = in6_addr()
    return unsafe inet_pton(AF_INET, address, &storage) == 1 || inet_pton(AF_INET6, address, &storage) == 1
  }

  private static func isDigit(_ character: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
  }

  private static func isLetterDigitOrHyphen(_ character: UInt8) -> Bool {
    switch character {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "-"):
      true
    default: isDigit(character)
    }
  }
}
