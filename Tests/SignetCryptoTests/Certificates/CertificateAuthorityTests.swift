import SignetCrypto
import Testing

@Suite struct CertificateAuthorityTests {
  @Test("the command line verifies chain, names and purpose", .enabled(if: OpenSSLCommand.isWanted))
  func issuesWhatTLSClientsAccept() throws {
    try OpenSSLCommand.withFolder { openssl in
      let authority = try CertificateAuthority(commonName: "Test authority")
      let server = try authority.issueServerCertificate(
        dnsNames: ["localhost", "*.example.com"], ipAddresses: ["127.0.0.1", "::1"])
      try openssl.write("ca.pem", ascii(authority.certificatePEM))
      try openssl.write("server.pem", ascii(server.certificatePEM))
      try openssl.write("key.pem", ascii(server.insecurePrivateKeyPEM))
      for name in [
        ["-verify_hostname", "localhost"], ["-verify_hostname", "a.example.com"],
        ["-verify_ip", "127.0.0.1"],
        ["-verify_ip", "::1"],
      ] {
        try openssl.run(
          ["verify", "-x509_strict", "-CAfile", "ca.pem", "-purpose", "sslserver"] + name + ["server.pem"])
      }
      #expect(throws: OpenSSLCommand.Failed.self) {
        try openssl.run("verify", "-CAfile", "ca.pem", "-verify_hostname", "example.org", "server.pem")
      }
      #expect(throws: OpenSSLCommand.Failed.self) {
        try openssl.run("verify", "-CAfile", "ca.pem", "-purpose", "sslclient", "server.pem")
      }
      let other = try CertificateAuthority(commonName: "Test authority")
      try openssl.write("other.pem", ascii(other.certificatePEM))
      #expect(throws: OpenSSLCommand.Failed.self) {
        try openssl.run("verify", "-CAfile", "other.pem", "server.pem")
      }

      let fromCertificate = try openssl.run("x509", "-in", "server.pem", "-noout", "-pubkey")
      #expect(try fromCertificate == openssl.run("pkey", "-in", "key.pem", "-pubout"))
      try openssl.run("pkey", "-in", "key.pem", "-pubout", "-outform", "DER", "-out", "key.der")
      let pin = try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: server.certificatePEM)
      #expect(try pin == HashFunction.sha256.digest(of: openssl.read("key.der")))
      #expect(try pin != SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: authority.certificatePEM))
    }
  }

  @Test("the certificates have the expected fields", .enabled(if: OpenSSLCommand.isWanted))
  func saysWhatItShould() throws {
    try OpenSSLCommand.withFolder { openssl in
      let authority = try CertificateAuthority(validDays: 30, at: 1_800_000_000)
      let server = try authority.issueServerCertificate(
        dnsNames: ["localhost"], validDays: 10, at: 1_800_000_000)
      try openssl.write("ca.pem", ascii(authority.certificatePEM))
      try openssl.write("server.pem", ascii(server.certificatePEM))
      let ca = try openssl.run("x509", "-in", "ca.pem", "-noout", "-text")
      for part in [
        "Version: 3 (0x2)", "CA:TRUE, pathlen:0", "Certificate Sign, CRL Sign", "NIST CURVE: P-256",
        "X509v3 Basic Constraints: critical", "X509v3 Key Usage: critical", "Subject Key Identifier",
        "ecdsa-with-SHA256", "Not Before: Jan 15 07:00:00 2027", "Not After : Feb 14 08:00:00 2027",
      ] {
        #expect(ca.contains(part), "\(part)")
      }
      let text = try openssl.run("x509", "-in", "server.pem", "-noout", "-text")
      for part in [
        "CA:FALSE", "Digital Signature", "TLS Web Server Authentication", "DNS:localhost",
        "Authority Key Identifier", "Subject Key Identifier", "Issuer: CN = Signet local authority",
        "Subject: CN = localhost", "Not After : Jan 25 07:00:00 2027",
      ] {
        #expect(text.contains(part), "\(part)")
      }
      #expect(!text.contains("TLS Web Client Authentication"))
    }
  }

  @Test("a server certificate does not outlive its authority", .enabled(if: OpenSSLCommand.isWanted))
  func endsWithTheAuthority() throws {
    try OpenSSLCommand.withFolder { openssl in
      let authority = try CertificateAuthority(validDays: 5, at: 1_800_000_000)
      let server = try authority.issueServerCertificate(dnsNames: ["localhost"], at: 1_800_000_000)
      try openssl.write("server.pem", ascii(server.certificatePEM))
      let end = try openssl.run("x509", "-in", "server.pem", "-noout", "-enddate")
      #expect(end == "notAfter=Jan 20 08:00:00 2027 GMT\n")
    }
  }

  @Test("serial numbers are random", .enabled(if: OpenSSLCommand.isWanted))
  func randomSerials() throws {
    try OpenSSLCommand.withFolder { openssl in
      let authority = try CertificateAuthority()
      let serials = try (0..<4).map { _ in
        try openssl.write(
          "server.pem", ascii(authority.issueServerCertificate(dnsNames: ["localhost"]).certificatePEM))
        return try openssl.run("x509", "-in", "server.pem", "-noout", "-serial")
      }
      #expect(Set(serials).count == 4)
      #expect(serials.contains { $0.count > "serial=\n".count + 28 })
    }
  }

  @Test(
    "invalid names are refused in a certificate",
    arguments: [
      "", "a,DNS:evil.example", "a b", "-a", "a-", "a..b", ".a", "a.", "*", "a.*", "*a.example",
      "münchen.example",
      "a\0b", "a\nb", "127.0.0.1", "1.2.3", "a_b", "a:b", String(repeating: "a", count: 64),
      String(repeating: "a.", count: 127) + "bc",
    ])
  func refusesDNSNames(_ name: String) throws {
    let authority = try CertificateAuthority()
    #expect(throws: CryptoFailure.invalidSubjectName) {
      try authority.issueServerCertificate(dnsNames: [name])
    }
  }

  @Test(
    "invalid addresses are refused in a certificate",
    arguments: [
      "", "localhost", "127.0.0.1,DNS:evil", "127.0.0", "::1%lo", "127.0.0.1\0", "1.2.3.4/24", "0x7f.1",
    ])
  func refusesAddresses(_ address: String) throws {
    let authority = try CertificateAuthority()
    #expect(throws: CryptoFailure.invalidSubjectName) {
      try authority.issueServerCertificate(dnsNames: [], ipAddresses: [address])
    }
  }

  @Test func refusesOtherMisuse() throws {
    let authority = try CertificateAuthority()
    #expect(throws: CryptoFailure.invalidSubjectName) { try authority.issueServerCertificate(dnsNames: []) }
    #expect(throws: CryptoFailure.invalidSubjectName) {
      try authority.issueServerCertificate(dnsNames: [String](repeating: "a", count: 101))
    }
    for days in [Int.min, 0, 826, .max] {
      #expect(throws: CryptoFailure.parameterOutOfRange(.validDays, days, allowed: 1...825)) {
        try authority.issueServerCertificate(dnsNames: ["localhost"], validDays: days)
      }
    }
    #expect(throws: CryptoFailure.parameterOutOfRange(.validDays, 7301, allowed: 1...7300)) {
      try CertificateAuthority(validDays: 7301)
    }
    for name in ["", "a\0b", String(repeating: "a", count: 65)] {
      #expect(throws: CryptoFailure.invalidSubjectName) { try CertificateAuthority(commonName: name) }
    }
  }

  @Test func pinsOnlyCertificates() {
    let key = P256.Signing.PrivateKey().publicKey.pemRepresentation
    let wrong = [
      "", "hello", key, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
      String(repeating: "a", count: 70_000),
    ]
    for text in wrong {
      #expect(throws: CryptoFailure.invalidCertificate) {
        try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: text)
      }
    }
  }
}
