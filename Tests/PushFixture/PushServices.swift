import Foundation
package import SignetCrypto
package import SignetHTTPClient
package import SignetJSON
import Synchronization

/// The push services of `Tests/Interop/push_services.py`, an independent HTTP/2 server.
package final class PushServices {
  /// Indicates whether the tests run; without the interpreter they are skipped, but fail in CI.
  package static let isWanted = PythonPeer.isWanted

  /// A failure between the test and the services.
  package struct Unexpected: Error, CustomStringConvertible {
    package let description: String
  }

  package let base: String
  package let transport: CurlTransport
  private let process: PushServiceProcess

  /// The operator's key.
  package var signingKey: P256.Signing.PrivateKey { process.signingKey }
  /// The key to which the device's Web Push subscription is encrypted.
  package var deviceKey: P256.KeyAgreement.PrivateKey { process.deviceKey }
  package var deviceSecret: [UInt8] { process.deviceSecret }
  package var rsaPEM: String { process.rsaPEM }
  /// The issuer of their certificate.
  package var authorityPEM: String { process.authorityPEM }

  /// Processes without a test.
  ///
  /// A start costs half a second of processor time.
  private static let idle = Mutex<[PushServiceProcess]>([])

  /// Opens a separate port with a certificate for 127.0.0.1.
  package init() throws {
    process = try Self.idle.withLock { $0.popLast() } ?? PushServiceProcess()
    let port = try process.command("begin", true).integer("port")
    base = "https://127.0.0.1:\(port)"
    var configuration = ConnectionConfiguration(
      certificateAuthoritiesPEM: process.authorityPEM, version: .http2)
    configuration.timeoutSeconds = 20
    transport = try CurlTransport(configuration)
  }

  deinit {
    let process = process
    if process.isUsable { Self.idle.withLock { $0.append(process) } }
  }

  /// An operator's account file from Firebase; these services issue its tokens.
  package var accountFile: JSONObject {
    [
      "type": "service_account", "project_id": "signet-1", "private_key_id": "k1",
      "private_key": .string(rsaPEM), "client_email": "push@signet-1.example",
      "token_uri": .string("\(base)/token"),
    ]
  }

  /// Sets the answer to the next request; a status of 0 breaks the connection.
  package func answer(_ status: Int64, headers: JSONObject = [:], body: String = "") throws {
    let order: JSONObject = ["status": .integer(status), "headers": .object(headers), "body": .string(body)]
    _ = try process.command("answer", .object(order))
  }

  /// Returns the requests since the last call; each came over HTTP/2 with valid credentials.
  ///
  /// - Throws: ``Unexpected`` if one did not.
  package func requests() throws -> [JSONObject] {
    try process.command("requests", true).array("requests").map { value in
      guard case .object(let request) = value, request["error"] == nil,
        try request.string("protocol") == "h2"
      else { throw Unexpected(description: value.text) }
      return request
    }
  }
}

extension JSONObject {
  /// The services' findings about a request.
  package func checked() throws -> JSONObject { try object("checked") }
  /// A header field of the request.
  package func field(_ name: String) throws -> String? { try object("headers").optionalString(name) }
}
