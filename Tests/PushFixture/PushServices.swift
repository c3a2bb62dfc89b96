import Foundation
package import SignetCrypto
package import SignetJSON
import SignetTestKit
package import SignetTransport
import Synchronization

/// The push services of `Tests/Interop/push_services.py`, an HTTP/2 server of other hands.
package final class PushServices {
  static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]

  /// Skipped without the interpreter, except in CI: a failure there.
  package static let isWanted: Bool = {
    if ContinuousIntegration.isHere { return true }
    return python != nil
  }()

  /// What went wrong between the test and the services.
  package struct Unexpected: Error, CustomStringConvertible {
    package let description: String
  }

  package let base: String
  package let transport: CurlTransport
  private let process: PushServiceProcess

  /// What the operator's keys are.
  package var signingKey: P256.Signing.PrivateKey { process.signingKey }
  /// What the device's subscription of Web Push is encrypted to.
  package var deviceKey: P256.KeyAgreement.PrivateKey { process.deviceKey }
  package var deviceSecret: [UInt8] { process.deviceSecret }
  package var rsaPEM: String { process.rsaPEM }
  /// Who vouches for their certificate.
  package var authorityPEM: String { process.authorityPEM }

  /// Processes without a test.
  ///
  /// A start costs half a second of processor time.
  private static let idle = Mutex<[PushServiceProcess]>([])

  /// Opens a port of its own with a certificate for 127.0.0.1.
  package init() throws {
    process = try Self.idle.withLock { $0.popLast() } ?? PushServiceProcess()
    let port = try process.command(["begin": true]).integer("port")
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

  /// What Firebase gives an operator: an account whose tokens these services give out.
  package var accountFile: JSONObject {
    [
      "type": "service_account", "project_id": "signet-1", "private_key_id": "k1",
      "private_key": .string(rsaPEM), "client_email": "push@signet-1.example",
      "token_uri": .string("\(base)/token"),
    ]
  }

  /// Lets the next request have this answer; a status of 0 breaks it off.
  package func answer(_ status: Int64, headers: JSONObject = [:], body: String = "") throws {
    let order: JSONObject = ["status": .integer(status), "headers": .object(headers), "body": .string(body)]
    _ = try process.command(["answer": .object(order)])
  }

  /// What was asked since the last time; each came over HTTP/2 and was found to prove what it must.
  ///
  /// - Throws: ``Unexpected`` where one did not.
  package func requests() throws -> [JSONObject] {
    try process.command(["requests": true]).array("requests").map { value in
      guard case .object(let request) = value, request["error"] == nil,
        try request.string("protocol") == "h2"
      else { throw Unexpected(description: value.text) }
      return request
    }
  }
}

extension JSONObject {
  /// What the services found in a request.
  package func checked() throws -> JSONObject { try object("checked") }
  /// A field of the request.
  package func field(_ name: String) throws -> String? { try object("headers").optionalString(name) }
}
