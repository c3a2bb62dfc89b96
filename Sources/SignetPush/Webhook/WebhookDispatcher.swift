import SignetCrypto
package import SignetHTTPClient
import SignetJSON
package import SignetProtocol
package import SignetSystem

/// A dispatcher for the operator's own gateway, which delivers pushes by any means.
///
/// It sends a signed `POST` of `{"address":…,"message":<JWE>,"topic":…,"expires":…}`. A status of 200 to 299 means that the
/// gateway accepted the message, 410 that it no longer knows the address.
package struct WebhookDispatcher: PushDispatcher {
  private let url: String
  private let signature: MessageSignature
  private let transport: any HTTPTransport
  private let clock: any WallClock

  /// Creates a dispatcher.
  ///
  /// - Parameters:
  ///   - url: The URL of the gateway, an `https` URL of the operator.
  ///   - signature: The signer of requests.
  ///   - transport: The transport of requests.
  ///   - clock: The clock for signatures.
  package init(
    url: String, signature: MessageSignature, over transport: any HTTPTransport,
    clock: any WallClock = SystemWallClock()
  ) {
    self.url = url
    self.signature = signature
    self.transport = transport
    self.clock = clock
  }

  /// The service: `webhook`.
  package var service: PushTarget.Service { .webhook }

  /// Sends a message.
  ///
  /// - Throws: ``PushFailure`` if the message is not accepted.
  package func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
    guard case .webhook(let address) = target else { throw .targetNotAllowed }
    let object: JSONObject = [
      "address": .string(address), "message": .string(message.envelope), "topic": .string(message.topic),
      "expires": .integer(message.expires),
    ]
    let body = JSONValue.object(object).bytes
    let fields: [(String, String)]
    do throws(CryptoFailure) {
      fields = try signature.fields(
        method: "POST", url: url, contentType: "application/json", body: body, at: clock.now)
    } catch { throw .refused(reason: error.description) }
    let response = try await PushServiceResponse(
      to: HTTPRequest(method: .post, url: url, headers: fields, body: body), over: transport)
    switch response.status {
    case 200...299: return
    case 410: throw .targetGone
    default: throw response.failure()
    }
  }
}
