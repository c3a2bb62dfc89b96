import Foundation
package import SignetCrypto
package import SignetJSON
import SignetTestKit
package import SignetTransport

/// The push services of `Tests/Interop/push_services.py`, an HTTP/2 server of other hands, and the keys that both sides know.
package final class PushServices {
  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]

  /// Skipped without the interpreter, except in CI: a failure there.
  package static let isWanted: Bool = {
    if ContinuousIntegration.isHere { return true }
    return python != nil
  }()

  /// What went wrong between the test and the services.
  package struct Unexpected: Error, CustomStringConvertible {
    package let description: String
  }

  /// What the operator's keys are.
  package let signingKey = P256.Signing.PrivateKey()
  /// What the device's subscription of Web Push is encrypted to.
  package let deviceKey = P256.KeyAgreement.PrivateKey()
  package let deviceSecret = SystemRandomSource().bytes(16)
  package let rsaPEM: String
  package let base: String
  /// Who vouches for their certificate.
  package let authorityPEM: String
  package let transport: CurlTransport
  private let process: ChildProcess
  private let folder: TemporaryFolder
  private var pending = Data()

  /// Starts the services, with their certificate for 127.0.0.1.
  package init() throws {
    folder = try TemporaryFolder()
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
    guard let python = Self.python else {
      throw Unexpected(description: "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    }
    process = try ChildCommand(
      [python, script, JSONValue.object(setup).text], input: .pipe, output: .pipe
    ).start()
    var configuration = ConnectionConfiguration(
      certificateAuthoritiesPEM: authorityPEM, version: .http2)
    configuration.timeoutSeconds = 20
    transport = try CurlTransport(configuration)
    var first = Data()
    while !first.contains(10) {
      let part = process.output.availableData
      guard !part.isEmpty else { throw Unexpected(description: "the push services did not start") }
      first += part
    }
    let port = try JSONObject(parsing: Array(first)).integer("port")
    base = "https://127.0.0.1:\(port)"
  }

  /// What Firebase gives an operator: an account whose tokens these services give out.
  package var accountFile: JSONObject {
    [
      "type": "service_account", "project_id": "signet-1", "private_key_id": "k1",
      "private_key": .string(rsaPEM), "client_email": "push@signet-1.example",
      "token_uri": .string("\(base)/token"),
    ]
  }

  deinit {
    do {
      try process.input.close()
      try process.end()
    } catch { print("push services: \(error)") }
  }

  /// Lets the next request have this answer; a status of 0 breaks it off.
  package func answer(_ status: Int64, headers: JSONObject = [:], body: String = "") throws {
    let order: JSONObject = ["status": .integer(status), "headers": .object(headers), "body": .string(body)]
    _ = try command(["answer": .object(order)])
  }

  /// What was asked since the last time; each came over HTTP/2 and was found to prove what it must.
  ///
  /// - Throws: ``Unexpected`` where one did not.
  package func requests() throws -> [JSONObject] {
    try command(["requests": true]).array("requests").map { value in
      guard case .object(let request) = value, request["error"] == nil,
        try request.string("protocol") == "h2"
      else { throw Unexpected(description: value.text) }
      return request
    }
  }

  private func command(_ object: JSONObject) throws -> JSONObject {
    try process.input.write(contentsOf: Data((JSONValue.object(object).text + "\n").utf8))
    while true {
      if let end = pending.firstIndex(of: 10) {
        let line = Array(pending[..<end])
        pending = Data(pending[(end + 1)...])
        return try JSONObject(parsing: line)
      }
      let part = process.output.availableData
      guard !part.isEmpty else { throw Unexpected(description: "the push services have ended") }
      pending += part
    }
  }

  /// A key of 2048 bits that OpenSSL's command line made; once, since it takes a while.
  private static let rsa = Result {
    let key = try output(of: "openssl", ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"])
    return (privatePEM: key, publicPEM: try output(of: "openssl", ["pkey", "-pubout"], input: key))
  }

  private static func output(of program: String, _ words: [String], input: String = "") throws -> String {
    let result = try ChildCommand([program] + words, input: .bytes(Array(input.utf8))).finish()
    guard result.status == 0 else {
      throw Unexpected(description: "\(program) \(words) failed: \(result.errorOutput)")
    }
    return result.output
  }
}

extension JSONObject {
  /// What the services found in a request.
  package func checked() throws -> JSONObject { try object("checked") }
  /// A field of the request.
  package func field(_ name: String) throws -> String? { try object("headers").optionalString(name) }
}
