import LibFuzzer
import SignetCrypto

@main struct FuzzCertificate {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    pin(String(decoding: input, as: UTF8.self))
    // Behind its armour, where mutations survive, the certificate is DER.
    let base64 = Base64URL.encode(input).replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    pin("-----BEGIN CERTIFICATE-----\n\(base64)\(padding)\n-----END CERTIFICATE-----\n")
  }

  private static func pin(_ pem: String) {
    let pin = accepted { () throws(CryptoFailure) in try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: pem)
    }
    guard let pin else { return }
    require(pin.count == 32, "a pin has 32 bytes")
  }
}
