import Signet
import SignetCrypto
import SignetHTTPClient
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetPushAuth
import Synchronization

/// A server of the push protocol in the process, which verifies devices' messages with the pure core and fails on demand.
final class PushServerInProcess: HTTPTransport, Sendable {
  private struct State {
    var secret = [UInt8](0..<32)
    var challenge = [UInt8](50..<82)
    var mechanism: String?
    var device: PushAuthDevice?
    var messages: [String: (challenge: [UInt8], answer: String?)] = [:]
    var number: String?
    var failures: [Int] = []
    var requestCount = 0
    var losesAnswers = false
    var isOnce = false
    var refusals: [HTTPResponse] = []
    var waiting: [PushAuthDelivery] = []
    var ended: [String: String] = [:]
    var over: Set<String> = []
  }

  private let state = Mutex(State())

  var requestCount: Int { state.withLock { $0.requestCount } }
  var mechanism: String? { state.withLock { $0.mechanism } }
  var device: PushAuthDevice? { state.withLock { $0.device } }

  /// Answers the next requests with these statuses; 0 breaks the connection.
  func fail(with statuses: [Int]) { state.withLock { $0.failures = statuses } }

  /// Answers the next requests with these responses.
  func refuse(with responses: HTTPResponse...) { state.withLock { $0.refusals = responses } }

  /// Answers that the request has ended for these messages only.
  func end(_ ids: Set<String>) { state.withLock { $0.over = ids } }

  /// Sets the pending messages for polling apps, and the outcomes of ended ones.
  func list(_ waiting: [PushAuthDelivery], ended: [String: String] = [:]) {
    state.withLock { ($0.waiting, $0.ended) = (waiting, ended) }
  }

  /// Handles requests without returning the answer.
  func loseAnswers(_ isLost: Bool = true) { state.withLock { $0.losesAnswers = isLost } }

  /// Accepts a registration only once, as servers do.
  func registerOnce() { state.withLock { $0.isOnce = true } }

  /// Accepts only this number.
  func want(number: String) { state.withLock { $0.number = number } }

  private static let base = "https://am.example/push?_action="

  func key() throws -> PushAuthKey { try PushAuthKey(SecretBytes(copying: state.withLock(\.secret))) }

  func uri(
    _ scheme: AuthenticatorURI.Scheme, issuer: String = "Acme", account: String = "alice",
    policies: JSONObject? = nil, base: String = base, codes: [UInt8] = AccountsTests.secret
  ) -> AuthenticatorURI {
    let (secret, challenge) = state.withLock { ($0.secret, $0.challenge) }
    var uri = AuthenticatorURI(scheme: scheme, issuer: issuer, account: account, policies: policies)
    if scheme != .otpauth {
      uri.push = AuthenticatorURI.Push(
        registrationEndpoint: "\(base)register", authenticationEndpoint: "\(base)authenticate",
        sharedSecret: SharedSecretBox(SecretBytes(copying: secret)), challenge: challenge,
        loadBalancer: "a=b", messageID: "REGISTER:1")
    }
    if scheme != .pushauth {
      uri.oath = AuthenticatorURI.OATH(
        kind: .totp(period: 30), algorithm: .sha1, digits: 8,
        secret: SharedSecretBox(SecretBytes(copying: codes)))
    }
    return uri
  }

  /// A message as a push service would deliver it.
  func delivery(
    _ id: String, kind: PushAuthKind = .default, text: String? = nil, user: String? = nil
  ) throws -> PushAuthDelivery {
    let challenge = Array("challenge \(id)".utf8)
    let mechanism = state.withLock { state in
      state.messages[id] = (challenge, nil)
      return state.mechanism ?? "nobody"
    }
    let message = PushAuthMessage(
      messageID: id, mechanismID: mechanism, challenge: challenge, loadBalancer: "a=b", kind: kind,
      numbers: kind == .challenge ? [12, 34, 56] : [], text: text, userID: user)
    return try PushAuthDelivery(messageID: id, token: key().sign(message.claims))
  }

  func answer(to id: String) -> String? { state.withLock { $0.messages[id]?.answer } }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let failure: Int? = state.withLock { state in
      state.requestCount += 1
      return state.failures.isEmpty ? nil : state.failures.removeFirst()
    }
    let refusal: HTTPResponse? = state.withLock { $0.refusals.isEmpty ? nil : $0.refusals.removeFirst() }
    if let refusal { return refusal }
    if failure == 0 { throw .cancelled }
    if let failure { return HTTPResponse(status: failure, headers: [], body: []) }
    do {
      if request.url.hasSuffix("/push/waiting") { return try waiting(request) }
      guard let action = PushAuthAction(rawValue: String(request.url.split(separator: "=").last ?? "")) else {
        throw PushAuthFailure.missing("_action")
      }
      let submission = try PushAuthSubmission(parsing: request.body, for: action)
      let key = try key()
      guard request.cookies.map(\.name) == ["a"] else { throw PushAuthFailure.missing("cookie") }
      switch action {
      case .register:
        let (name, device) = try submission.registration(with: key, challenge: state.withLock(\.challenge))
        let isTaken = state.withLock { state in
          guard !state.isOnce || state.mechanism == nil else { return false }
          (state.mechanism, state.device) = (name, device)
          return true
        }
        guard isTaken else { throw PushAuthFailure.wrongResponse }
      case .refresh:
        let device = try submission.device(with: key)
        guard submission.mechanismID == mechanism else { throw PushAuthFailure.unknownMechanism }
        state.withLock { $0.device = device }
      case .authenticate:
        let id = submission.messageID ?? ""
        if state.withLock({ $0.over.contains(id) }) {
          let body: JSONObject = ["code": 400, "message": "The request has ended.", "detail": [:]]
          return HTTPResponse(status: 400, headers: [], body: body.bytes)
        }
        let (challenge, wanted) = state.withLock { ($0.messages[id]?.challenge ?? [], $0.number) }
        let said = try submission.answer(with: key, challenge: challenge)
        if !said.isDenied, let wanted, said.number != wanted { throw PushAuthFailure.wrongResponse }
        state.withLock { $0.messages[id]?.answer = said.isDenied ? "no" : "yes" }
      }
      if state.withLock(\.losesAnswers) { throw TransportFailure.cancelled }
      return HTTPResponse(status: 200, headers: [], body: Array("{}".utf8))
    } catch let failure as TransportFailure {
      throw failure
    } catch { return HTTPResponse(status: 400, headers: [], body: []) }
  }

  private func waiting(_ request: HTTPRequest) throws -> HTTPResponse {
    let submission = try PushAuthSubmission(parsing: request.body, for: .refresh)
    _ = try submission.waiting(with: key())
    let (waiting, ended) = state.withLock { ($0.waiting, $0.ended) }
    let body: JSONObject = [
      "tag": .string(waiting.map(\.messageID).joined(separator: " ")),
      "messages": .array(
        waiting.map { ["messageId": .string($0.messageID), "data": .string($0.token)] }),
      "ended": .array(
        ended.map { ["messageId": .string($0.key), "status": .string($0.value)] }),
    ]
    return HTTPResponse(status: 200, headers: [], body: body.bytes)
  }
}
