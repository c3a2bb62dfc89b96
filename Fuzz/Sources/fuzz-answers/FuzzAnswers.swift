import LibFuzzer
import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetPushAuth

// The parsers of servers' answers are behind the operations of a device.
@testable import Signet
@testable import SignetHTTPClient
@testable import SignetUAF
@testable import SignetUAFClient

/// Answers of servers: a line with the status, header fields, an empty line, and a body.
@main struct FuzzAnswers {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    let response = HTTPResponse(fuzzed: input)
    if let seconds = response.retryAfterSeconds {
      require((0...3_600).contains(seconds), "a wait is bounded")
    }
    checkSession(response)
    checkActivation(response.body)
    checkUAF(response)
    checkTargets(response.body)
    checkPending(response.body)
    checkReport(String(decoding: response.body, as: UTF8.self))
    checkFacets(response)
    checkWaiting(response.body)
    PushServices.check(response)
    Receipts.check(response.body)
  }

  private static let url = made("a URL") { () throws(ServerURLFailure) in try ServerURL("a.example/main") }

  // MARK: Servers of ours

  private static func checkSession(_ response: HTTPResponse) {
    let session = ServerSession(
      server: url, transport: FixedTransport(response), clock: StoppedClock(), random: SystemRandomSource())
    let body = waiting { () -> [UInt8]? in
      do throws(SignetError) { return try await session.post("/v1/a", [1]) } catch {
        require(!error.description.isEmpty, "a refusal says why")
        return nil
      }
    }
    require(
      (body != nil) == ((200...299).contains(response.status) || response.status == 304),
      "a refusal is no answer")
    require(body == nil || body == response.body, "an answer is handed out as it is")
    let isDone = accepted { () throws(SignetError) in
      try StatusAnswer.check(response.body, is: "done")
      return true
    }
    if isDone == true {
      let said = made("JSON") { () throws(JSONFailure) in try JSONObject(parsing: response.body) }
      require(said["status"] == "done", "nothing is done unless the server says so")
    }
  }

  private static func checkActivation(_ body: [UInt8]) {
    if let answer = accepted({ () throws(SignetError) in
      try StartAnswer<ActivationOffer>.received(body, from: url)
    }) {
      require(answer.offer.server == url, "an offer is of the server that was asked")
    }
    if let answer = accepted({ () throws(SignetError) in
      try StartAnswer<RenewalOffer>.received(body, from: url)
    }) {
      require(answer.offer.server == url, "an offer is of the server that was asked")
    }
  }

  // MARK: UAF

  private static let uaf = made("a configuration") { () throws(SignetError) in
    try UAFConfiguration(baseURL: "https://id.example/nevisfido")
  }

  private static func checkUAF(_ response: HTTPResponse) {
    let server = UAFServer(configuration: uaf, transport: FixedTransport(response), headers: [])
    for operation in UAFOperation.allCases {
      let isAnswered = waiting {
        await [
          said { () async throws(UAFNetworkProblem) in
            check(try await server.request(operation, ["username": "a"], by: nil).cookies)
          },
          said { () async throws(UAFNetworkProblem) in
            check(try await server.respond(operation, "[]", [:], by: nil).cookies)
          },
          said { () async throws(UAFNetworkProblem) in
            _ = try await server.redeem("t", at: "https://id.example/nevisfido/token")
          },
        ]
      }
      require(
        (200...299).contains(response.status) || !isAnswered.contains(true), "a refusal is no answer")
    }
  }

  private static func check(_ cookies: [UAFCookie]) {
    for cookie in cookies {
      require(
        cookie.host == "id.example"
          || (cookie.includesSubdomains && "id.example".hasSuffix(".\(cookie.host)")),
        "a cookie is of its server")
    }
  }

  /// Returns whether a server's answer is valid; a failure must have a description.
  private static func said(_ ask: () async throws(UAFNetworkProblem) -> Void) async -> Bool {
    do throws(UAFNetworkProblem) {
      try await ask()
      return true
    } catch {
      require(!error.description.isEmpty, "a refusal says why")
      if case .status(_, let body) = error.cause {
        require(body.utf8.count <= 3 * 2_048, "a reason is bounded")
      }
      _ = (error.code, error.isAmbiguous, UAFDeviceServiceFailure(error).description)
      return false
    }
  }

  private static func checkTargets(_ body: [UInt8]) {
    let targets = accepted { () throws(JSONFailure) in try UAFOperations.targets(of: "d1", in: body) }
    if let targets, !targets.isEmpty {
      require(String(decoding: body, as: UTF8.self).contains("d"), "a target is of this device")
    }
    let claims: JSONObject
    do { claims = try UAFOperations.claims(in: body) } catch { return }
    checkClaims(claims)
  }

  /// Checks the server's claims behind its signature, which is not verified, since TLS has authenticated the server.
  private static func checkClaims(_ claims: JSONObject) {
    _ = accepted { () throws(JSONFailure) in try UAFOperations.RemoteTarget.list(in: claims) }
    guard case .array(let operations)? = claims["operations"] else { return }
    for operation in operations { checkListed(operation) }
  }

  private static func checkListed(_ value: JSONValue) {
    guard let listed = accepted({ () throws(JSONFailure) in try ListedOperation(value) }) else { return }
    for name in ["id", "creationTimeInEpochMillis", "dispatchChannel", "payload"] {
      require(!listed.more.contains(name), "what is known is not handed on as unknown")
    }
    _ = accepted { () throws(UAFPayloadFailure) in try DeliveredPayload(json: listed.payload.bytes) }
  }

  private static func checkPending(_ body: [UInt8]) {
    _ = accepted { () throws(JSONFailure) in try UAFOperations.end(in: body).map { [$0] } ?? [] }
    guard let claims = accepted({ () throws(JSONFailure) in try JSONObject(parsing: body) }) else { return }
    checkClaims(claims)
    checkListed(.object(claims))
  }

  /// Checks the response to a request that is not answered.
  private static func checkReport(_ message: String) {
    guard let text = UAFOperations.emptyResponse(to: message) else { return }
    let response = made("JSON") { () throws(JSONFailure) in
      try JSONValue(parsing: Array(text.utf8), limits: JSONLimits(maximumByteCount: 1 << 21))
    }
    guard case .array(let messages) = response, messages.count == 1, case .object(let only) = messages[0]
    else { return require(false, "a report is one response") }
    require(only["assertions"] == .array([]), "a report has no assertion")
  }

  private static func checkFacets(_ response: HTTPResponse) {
    let lists = FacetLists(FixedTransport(response), clock: StoppedDeviceClock())
    let asked = "https://id.example/facets"
    let (first, again) = waiting { () -> (TrustedFacetList?, TrustedFacetList?) in
      func list() async -> TrustedFacetList? {
        do throws(FacetLists.Refusal) { return try await lists.list(at: asked) } catch {
          require(!error.description.isEmpty, "a refusal says why")
          return nil
        }
      }
      return (await list(), await list())
    }
    require(first == nil || response.status == 200, "a refusal is no list")
    require(first == again, "a list that is kept is the one that came")
  }

  // MARK: Push mechanisms

  private static let key = made("a key") { () throws(PushAuthFailure) in
    try PushAuthKey(SecretBytes(copying: [UInt8](1...32)))
  }

  private static func checkWaiting(_ body: [UInt8]) {
    check(accepted { () throws(SignetError) in try PushChannel.Waiting(parsing: body, key: key) })
    // Claims of any kind under the right key.
    guard let claims = accepted({ () throws(JSONFailure) in try JSONObject(parsing: body) }) else { return }
    let message: JSONObject = ["messageId": "M", "data": .string(key.sign(claims))]
    let answer: JSONObject = ["tag": "t", "ended": [], "messages": [.object(message)]]
    check(accepted { () throws(SignetError) in try PushChannel.Waiting(parsing: answer.bytes, key: key) })
  }

  private static func check(_ waiting: PushChannel.Waiting?) {
    for message in waiting?.messages ?? [] {
      require(
        message.message.mechanismID == message.delivery.claimedMechanism, "what is verified is what was sent")
    }
  }
}
