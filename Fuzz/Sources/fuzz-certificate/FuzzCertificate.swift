import LibFuzzer
// The parser of servers' and authenticator vendors' certificates is not public.
@testable import SignetCrypto

@main struct FuzzCertificate {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    anchor(input)
    pin(String(decoding: input, as: UTF8.self))
    // Inside the PEM armor, where mutations survive, the certificate is DER.
    let base64 = Base64URL.encode(input).replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    pin("-----BEGIN CERTIFICATE-----\n\(base64)\(padding)\n-----END CERTIFICATE-----\n")
  }

  /// A certificate is trusted unverified, and vouches only for certificates that it has signed.
  private static func anchor(_ der: [UInt8]) {
    let key = accepted { () throws(CryptoFailure) in try SubjectPublicKeyInfo.ofCertificate(der: der) }
    guard let anchors = accepted({ () throws(CryptoFailure) in try TrustAnchors(der: [der]) }) else { return }
    require(anchors.publicKeys.count == 1, "a certificate has a key")
    require(key.map { anchors.publicKeys == [$0] } ?? false, "and it is the one that is read")
    for chain in [[der], [der, der]] {
      _ = accepted { () throws(TrustAnchors.Refusal) in try anchors.check(chain, at: 1_780_000_000) }
    }
  }

  private static func pin(_ pem: String) {
    let pin = accepted { () throws(CryptoFailure) in try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: pem)
    }
    let summary = accepted { () throws(CryptoFailure) in try CertificateSummary(pem: pem) }
    require(pin != nil || summary == nil, "what has a summary has a pin")
    let anchors = accepted { () throws(CryptoFailure) in try TrustAnchors(pem: pem) }
    require(pin != nil || anchors == nil, "what is trusted has a pin")
    if let anchors {
      _ = accepted { () throws(TrustAnchors.Refusal) in try anchors.check(pem: pem, at: 1_780_000_000) }
    }
    if let listed = accepted({ () throws(CryptoFailure) in try ListedAuthority.all(inPEM: pem) }) {
      let texts = listed.map(\.pem)
      let again = accepted { () throws(CryptoFailure) in try ListedAuthority.all(inPEM: texts.joined()) }
      require(again == listed, "what is listed is read again as it is written")
    }
    guard let pin else { return }
    require(pin.count == 32, "a pin has 32 bytes")
  }
}
