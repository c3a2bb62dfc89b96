import SignetCrypto
import Testing

/// The contents of a server's certificate.
@Suite struct CertificateSummaryTests {
  @Test("names, addresses and expiry are as requested, and can be renewed")
  func roundTrip() throws {
    let authority = try CertificateAuthority(at: 1_800_000_000)
    let dnsNames = ["localhost", "*.example.com", String(repeating: "a", count: 60) + ".example.org"]
    let addresses = ["127.0.0.1", "::1", "2001:db8::ff00:42:8329"]
    let issued = try authority.issueServerCertificate(
      dnsNames: dnsNames, ipAddresses: addresses, validDays: 10, at: 1_800_000_000)
    let summary = try CertificateSummary(pem: issued.certificatePEM)
    #expect(summary.dnsNames == dnsNames)
    #expect(summary.ipAddresses == ["127.0.0.1", "0:0:0:0:0:0:0:1", "2001:db8:0:0:0:ff00:42:8329"])
    #expect(summary.end == 1_800_000_000 - 3600 + 10 * 86_400)

    let again = try issued.privateKeyPEM.withSecret { key throws(CryptoFailure) in
      try authority.issueServerCertificate(
        privateKeyPEM: key, dnsNames: summary.dnsNames, ipAddresses: summary.ipAddresses, at: 1_810_000_000)
    }
    let renewed = try CertificateSummary(pem: again)
    #expect(renewed.dnsNames == summary.dnsNames && renewed.ipAddresses == summary.ipAddresses)
    #expect(renewed.end == 1_810_000_000 - 3600 + 397 * 86_400)
    #expect(
      try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: again)
        == SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: issued.certificatePEM))
  }

  @Test("a certificate with many names has two-byte lengths")
  func manyNames() throws {
    let authority = try CertificateAuthority(at: 1_800_000_000)
    let names = (1...100).map { "host-\($0).example.com" }
    let issued = try authority.issueServerCertificate(dnsNames: names, at: 1_800_000_000)
    #expect(try CertificateSummary(pem: issued.certificatePEM).dnsNames == names)
  }

  @Test("an authority's certificate has no names; a malformed one or another key type is refused")
  func refusals() throws {
    let authority = try CertificateAuthority(validDays: 1, at: 1_800_000_000)
    let summary = try CertificateSummary(pem: authority.certificatePEM)
    #expect(summary.dnsNames.isEmpty && summary.ipAddresses.isEmpty && summary.end == 1_800_086_400)
    #expect(throws: CryptoFailure.invalidCertificate) { try CertificateSummary(pem: "none") }
    #expect(throws: CryptoFailure.invalidPrivateKey) {
      try authority.issueServerCertificate(
        privateKeyPEM: SecretBytes(copying: Array("none".utf8)), dnsNames: ["localhost"], ipAddresses: [],
        at: 1_800_000_000)
    }
  }
}
