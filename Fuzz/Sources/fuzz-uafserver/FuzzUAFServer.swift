import LibFuzzer
import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetPushAuth
@testable import SignetStorage

// The parsers of clients' and relying parties' requests are not public: endpoints return their results.
@testable import SignetDataDirectory
@testable import SignetServer
@testable import SignetUAF

@main struct FuzzUAFServer {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    checkSettings(input)
    checkEvidence(input)
    guard let text = String(validating: input, as: UTF8.self) else { return }
    for operation in UAFOperation.allCases { checkContext(text, operation) }
    checkResponse(text)
  }

  // MARK: Contexts

  private static func checkContext(_ text: String, _ operation: UAFOperation) {
    let context: UAFContext
    do throws(UAFStatusFailure) { context = try UAFContext(text, for: operation) } catch {
      require(error.status == .badRequest && !error.reason.isEmpty, "a refusal says why")
      return
    }
    let name = context.username?.unicodeScalars.count
    require(name.map { (1...128).contains($0) } ?? (operation == .authentication), "a user is named")
    require(context.transactions.isEmpty || operation == .authentication, "only users confirm")
    require(context.transactions.count <= 16, "transactions are bounded")
    require(context.transactions.isEmpty || context.transactionID == nil, "one transaction")
    require(context.targets.isEmpty == (operation != .deregistration), "what is removed is said")
    require(context.targets.count == 1 || !context.targets.contains(.everything), "everything stands alone")
  }

  // MARK: Responses

  private static func checkResponse(_ text: String) {
    if let device = device(in: text) {
      require((1...128).contains(device.utf8.count), "a device's name is bounded")
      require(device.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "no control character comes through")
    }
    if let header = UAFResponses.header(in: text), let own = header.serverData {
      let session = UAFRequests.session(in: own)
      require(
        session.map { $0.text.utf8.count <= 64 && own.hasPrefix($0.text) } ?? true,
        "a session is named by its id")
    }
    _ = UAFRequests.session(in: text)
  }

  private static func device(in text: String) -> String? {
    do throws(UAFStatusFailure) { return try UAFTargets.device(in: text) } catch {
      require(error.status == .badRequest, "a refusal says why")
      return nil
    }
  }

  // MARK: Evidence

  private static let serverKey = P256.Signing.PrivateKey()
  private static let sharedKey = made("a key") { () throws(PushAuthFailure) in
    EvidenceCheck.SharedKey(try PushAuthKey(SecretBytes.random(byteCount: 32)))
  }
  private static let server = made("a server") { () throws(ServerURLFailure) in
    try ServerURL("https://a.example/main")
  }

  private static func checkEvidence(_ input: [UInt8]) {
    _ = accepted { () throws(EvidenceCheck.Failure) in
      try EvidenceCheck(String(decoding: input, as: UTF8.self), sharedKey: sharedKey)
    }
    guard let object = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }),
      let evidence = accepted({ () throws(EvidenceCheck.Failure) in try AnswerEvidence(object) })
    else { return }
    let again = made("printed evidence") { () throws(EvidenceCheck.Failure) in
      try AnswerEvidence(evidence.json)
    }
    require(again == evidence, "printing evidence loses nothing")
    require(Set(evidence.digests.map(\.member)).count == evidence.digests.count, "each member is stated once")
    checkStated(evidence)
  }

  /// Evidence that the server states, though no user has signed it.
  private static func checkStated(_ evidence: AnswerEvidence) {
    let content = #"{"from":"Shop","text":"Pay"}"#
    let id = made("an id") { () throws(WireFailure) in try TransactionID("t") }
    let user = made("a user") { () throws(WireFailure) in try UserID("alice") }
    let transaction = TransactionRecord(id: id, user: user, content: content, created: 1, expires: 2)
    let statement = AnswerStatement(to: transaction, at: server, by: user, .accepted, with: "s", time: 1)
    let record = made("a statement") { () throws(Problem) in
      try statement.record(of: evidence, about: content, signedBy: serverKey)
    }
    guard let record else { return }
    let details: JSONObject = ["session": "s", "mechanism": "s", "time": 1]
    let kept = made("a record") { () throws(JSONFailure) in try JSONObject(parsing: record.bytes) }
    let answer: JSONObject = [
      "id": "t", "user": "alice", "content": .string(content), "status": "accepted", "created": 1,
      "expires": 2,
      "uaf": .object(details), "app": .object(details), "evidence": .object(kept),
    ]
    let check = accepted { () throws(EvidenceCheck.Failure) in
      try EvidenceCheck(answer.text, serverKeys: [serverKey.publicKey], sharedKey: sharedKey)
    }
    require(check == nil, "nobody signed this")
  }

  // MARK: Settings

  private static func checkSettings(_ input: [UInt8]) {
    guard let object = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }),
      let settings = settings(object)
    else { return }
    require(settings.prefix.hasPrefix("/") && !settings.prefix.hasSuffix("/"), "a prefix is a path")
    require(!settings.facets.isEmpty, "there is a facet")
    require((1...600).contains(settings.clockSkew), "a clock is off by so much")
    require(
      self.settings(UAFSettings.schema.json(of: settings)) == settings, "what is written reads the same")
  }

  private static func settings(_ object: JSONObject) -> UAFSettings? {
    do {
      let settings = try UAFSettings.schema.read(object)
      try settings.check(domain: "main", among: NamedRequirements())
      return settings
    } catch { return nil }
  }
}
