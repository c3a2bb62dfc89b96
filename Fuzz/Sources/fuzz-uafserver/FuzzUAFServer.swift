import LibFuzzer
import SignetJSON

// What reads the requests of clients and relying parties is not public: endpoints hand out what came of it.
@testable import SignetServer
@testable import SignetUAF

@main struct FuzzUAFServer {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    checkSettings(input)
    guard let text = String(validating: input, as: UTF8.self) else { return }
    for operation in UAFOperation.allCases { checkContext(text, operation) }
    checkResponse(text)
  }

  // MARK: Contexts

  private static func checkContext(_ text: String, _ operation: UAFOperation) {
    let context: UAFContext
    do throws(UAFFailure) { context = try UAFContext(text, for: operation) } catch {
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
        session.map { $0.utf8.count <= 64 && own.hasPrefix($0) } ?? true, "a session is named by its id")
    }
    _ = UAFRequests.session(in: text)
  }

  private static func device(in text: String) -> String? {
    do throws(UAFFailure) { return try UAFTargets.device(in: text) } catch {
      require(error.status == .badRequest, "a refusal says why")
      return nil
    }
  }

  // MARK: Settings

  private static func checkSettings(_ input: [UInt8]) {
    guard let object = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }),
      let settings = settings(object)
    else { return }
    require(settings.prefix.hasPrefix("/") && !settings.prefix.hasSuffix("/"), "a prefix is a path")
    require(!settings.facets.isEmpty, "there is a facet")
    require((1...600).contains(settings.clockSkew), "a clock is off by so much")
    require(self.settings(settings.json) == settings, "what is written reads the same")
  }

  private static func settings(_ object: JSONObject) -> UAFSettings? {
    do { return try UAFSettings(object, domain: "main", among: NamedRequirements()) } catch { return nil }
  }
}
