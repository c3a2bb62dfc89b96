import Foundation
import SignetCrypto
import SignetJSON
import SignetTestKit
import Synchronization

/// One process of the services, which serves one test at a time, and the keys that both sides have.
///
/// It ends with its standard input, when this process does.
final class PushServiceProcess: Sendable {
  let signingKey = P256.Signing.PrivateKey()
  let deviceKey = P256.KeyAgreement.PrivateKey()
  let deviceSecret = SystemRandomSource().bytes(16)
  let rsaPEM: String
  let authorityPEM: String
  private let peer: PythonPeer
  /// False after a failure, since answers may be out of step then.
  private let isSound = Mutex(true)

  /// Indicates whether another test can use it.
  var isUsable: Bool { isSound.withLock { $0 } }

  init() throws {
    let folder = try TemporaryFolder()
    let authority = try CertificateAuthority()
    authorityPEM = try authority.certificatePEM
    let server = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
    try Data(server.certificatePEM.utf8).write(to: URL(filePath: folder.file("server.pem")))
    try Data(server.insecurePrivateKeyPEM.utf8).write(to: URL(filePath: folder.file("server.key")))
    let rsa = try Self.rsa.get()
    rsaPEM = rsa.privatePEM
    let setup: JSONObject = [
      "certificate": .string(folder.file("server.pem")), "key": .string(folder.file("server.key")),
      "apns": .string(signingKey.publicKey.pemRepresentation), "fcm": .string(rsa.publicPEM),
      "webhook": .string(signingKey.publicKey.pemRepresentation),
      "device": .string(Hex.encode(deviceKey.rawRepresentation.insecureCopy())),
      "auth": .string(Base64URL.encode(deviceSecret)),
    ]
    // Its greeting comes once it has read the files.
    peer = try PythonPeer("push_services.py", setup)
    withExtendedLifetime(folder) {}
  }

  func command(_ name: String, _ value: JSONValue) throws -> JSONObject {
    try isSound.withLock { isSound in
      guard isSound else {
        throw PushServices.Unexpected(description: "the push services have failed before")
      }
      isSound = false
      let answer = try peer(name, value)
      isSound = true
      return answer
    }
  }

  /// A 2048-bit key made by OpenSSL's command line; made once, since it takes long.
  private static let rsa = Result {
    let key = try output(of: "openssl", ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"])
    return (privatePEM: key, publicPEM: try output(of: "openssl", ["pkey", "-pubout"], input: key))
  }

  private static func output(of program: String, _ words: [String], input: String = "") throws -> String {
    let result = try ChildCommand([program] + words, input: .bytes(Array(input.utf8))).finish()
    guard result.status == 0 else {
      throw PushServices.Unexpected(description: "\(program) \(words) failed: \(result.errorOutput)")
    }
    return result.output
  }
}
