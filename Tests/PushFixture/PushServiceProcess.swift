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
  private let child: ChildProcess
  /// The read bytes that are no complete answer yet; `nil` after a failure, since answers may be out of step then.
  private let unread = Mutex<Data?>(Data())

  /// Indicates whether another test can use it.
  var isUsable: Bool { unread.withLock { $0 != nil } }

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
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Interop/push_services.py").standardized.path
    guard let python = PushServices.python else {
      throw PushServices.Unexpected(description: "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    }
    child = try ChildCommand(
      [python, script, JSONValue.object(setup).text], input: .pipe, output: .pipe
    ).start()
    // It has read the files once it answers.
    _ = try command(["requests": true])
    withExtendedLifetime(folder) {}
  }

  func command(_ object: JSONObject) throws -> JSONObject {
    try unread.withLock { unread in
      guard var read = unread else {
        throw PushServices.Unexpected(description: "the push services have failed before")
      }
      unread = nil
      try child.input.write(contentsOf: Data((JSONValue.object(object).text + "\n").utf8))
      while true {
        if let end = read.firstIndex(of: 10) {
          unread = Data(read[(end + 1)...])
          return try JSONObject(parsing: Array(read[..<end]))
        }
        let part = child.output.availableData
        guard !part.isEmpty else {
          throw PushServices.Unexpected(description: "the push services have ended")
        }
        read += part
      }
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
