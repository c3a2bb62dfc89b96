import SignetCrypto
import SignetJSON
public import SignetTransport
public import SignetWire

/// A gateway of the operator's own, which carries pushes by whatever way it has: a signed `POST` of
/// `{"address":…,"message":<JWE>,"topic":…,"expires":…}`.
///
/// Any status of 200 to 299 means that the gateway took the message, 410 that it does not know the address any more.
public struct WebhookDispatcher: PushDispatcher {
  private let url: String
  private let signature: MessageSignature
  private let transport: any HTTPTransport
  private let clock: any WallClock

  /// Makes a dispatcher.
  ///
  /// - Parameters:
  ///   - url: Where the gateway is: an `https` URL of the operator.
  ///   - signature: Signs the requests.
  ///   - transport: Carries them.
  ///   - clock: For the signatures.
  public init(
    url: String, signature: MessageSignature, over transport: any HTTPTransport,
    clock: any WallClock = SystemWallClock()
  ) {
    (self.url, self.signature, self.transport, self.clock) = (url, signature, transport, clock)
  }

  /// The gateway.
  public var service: PushTarget.Service { .webhook }

  /// Hands a message over.
  ///
  /// - Throws: ``PushFailure``.
  public func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
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
    let answer = try await PushAnswer(
      to: HTTPRequest(method: .post, url: url, headers: fields, body: body), over: transport)
    switch answer.status {
    case 200...299: return
    case 410: throw .targetGone
    default: throw answer.failure()
    }
  }
}
