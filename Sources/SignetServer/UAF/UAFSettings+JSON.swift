import SignetJSON
import SignetUAF

extension UAFSettings {
  private static let names = [
    "prefix", "appID", "facets", "policies", "requirements", "metadata", "requestLifetime", "tokenLifetime",
    "authorizationLifetime", "clockSkew", "openRequests", "reply", "link", "conformance",
  ]

  private static let numbers:
    [(name: String, range: ClosedRange<Int64>, member: any WritableKeyPath<UAFSettings, Int64> & Sendable)] =
      [
        ("requestLifetime", 10...3_600, \.requestLifetime), ("tokenLifetime", 10...604_800, \.tokenLifetime),
        ("authorizationLifetime", 10...OpenIDNames.tokenLifetime, \.authorizationLifetime),
        ("clockSkew", 1...600, \.clockSkew), ("openRequests", 1...1_000_000, \.openRequests),
      ]

  /// Reads the member `uaf` of `server.json`.
  ///
  /// - Parameters:
  ///   - object: The member.
  ///   - domain: The domain of the server.
  ///   - requirements: The requirements that there are.
  /// - Throws: What is wrong.
  init(_ object: JSONObject, domain: String, among requirements: NamedRequirements) throws {
    try FolderSettings.refuseMembers(of: object, at: "uaf", except: Self.names)
    self.init(facets: try object.strings("facets"))
    guard !facets.isEmpty, facets.allSatisfy({ FacetID($0) != nil }) else {
      throw FolderSettings.Refusal.reason("\"facets\" in \"uaf\" are apps or https origins, one at least")
    }
    if let text = try object.optionalString("prefix") {
      guard Self.isPrefix(text) else {
        throw FolderSettings.Refusal.reason(
          "\"prefix\" in \"uaf\" is a path of letters, digits, \"-\" and \"_\", such as \"/nevisfido\"")
      }
      prefix = text
    }
    guard prefix.split(separator: "/").first.map(String.init) != domain else {
      throw FolderSettings.Refusal.reason("\"prefix\" in \"uaf\" begins with the domain of the server")
    }
    if let text = try object.optionalString("appID") {
      guard WebOrigin(text) != nil, text.utf8.count <= 512 else {
        throw FolderSettings.Refusal.reason("\"appID\" in \"uaf\" is an https URL")
      }
      appID = text
    }
    for (name, value) in try object.optionalObject("policies")?.members ?? [] {
      guard case .object(let members) = value else {
        throw FolderSettings.Refusal.reason("each of the \"policies\" in \"uaf\" is an object")
      }
      let policy: Policy
      do throws(MessageFailure) { policy = try Policy(members) } catch {
        throw FolderSettings.Refusal.reason("the policy \"\(name.prefix(40))\" in \"uaf\": \(error)")
      }
      guard policy.isWellFormed else {
        throw FolderSettings.Refusal.reason(
          "the policy \"\(name.prefix(40))\" in \"uaf\" may not be sent to clients")
      }
      policies[name] = policy
    }
    for (name, value) in try object.optionalObject("requirements")?.members ?? [] {
      guard policies[name] != nil || name == UAFNames.defaultPolicy else {
        throw FolderSettings.Refusal.reason(
          "\"\(name.prefix(40))\" in \"requirements\" in \"uaf\" is none of its \"policies\"")
      }
      guard case .string(let requirement) = value, requirements[requirement] != nil else {
        throw FolderSettings.Refusal.reason(
          "\"\(name.prefix(40))\" in \"requirements\" in \"uaf\" is the name of a requirement: \(requirements.names.joined(separator: ", "))"
        )
      }
      self.requirements[name] = requirement
    }
    if let name = try object.optionalString("metadata") {
      guard FolderSettings.mayNameFile(name) else {
        throw FolderSettings.Refusal.reason(
          "\"metadata\" in \"uaf\" is a name within the folder or a full path")
      }
      metadata = name
    }
    for (name, range, member) in Self.numbers {
      guard let value = try object.optionalInteger(name) else { continue }
      guard range.contains(value) else {
        throw FolderSettings.Refusal.reason(
          "\"\(name)\" in \"uaf\" is \(range.lowerBound) to \(range.upperBound)")
      }
      self[keyPath: member] = value
    }
    if let text = try object.optionalString("reply") {
      guard let kind = Reply(rawValue: text) else {
        throw FolderSettings.Refusal.reason("\"reply\" in \"uaf\" is \"jwt\" or \"cookie\"")
      }
      reply = kind
    }
    if let text = try object.optionalString("link") {
      let isLink = text.utf8.count <= 512 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
      guard isLink, text.contains("://"), !text.contains("?"), !text.contains("#") else {
        throw FolderSettings.Refusal.reason("\"link\" in \"uaf\" is a URL without a query")
      }
      link = text
    }
    hasConformanceAdapter = try object.optionalBool("conformance") ?? false
  }

  private static func isPrefix(_ text: String) -> Bool {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard text.utf8.count <= 128, parts.count >= 2, parts[0].isEmpty else { return false }
    return parts.dropFirst().allSatisfy { part in
      !part.isEmpty
        && part.utf8.allSatisfy {
          (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D || $0 == 0x5F
        }
    }
  }

  /// The settings as `server.json` has them.
  var json: JSONObject {
    let usual = UAFSettings(facets: [])
    var object: JSONObject = ["prefix": .string(prefix)]
    if let appID { object["appID"] = .string(appID) }
    object["facets"] = .array(facets.map { .string($0) })
    if !policies.isEmpty {
      var members = JSONObject()
      for (name, policy) in policies.sorted(by: { $0.key < $1.key }) { members[name] = .object(policy.json) }
      object["policies"] = .object(members)
    }
    if !requirements.isEmpty {
      var members = JSONObject()
      for (name, requirement) in requirements.sorted(by: { $0.key < $1.key }) {
        members[name] = .string(requirement)
      }
      object["requirements"] = .object(members)
    }
    if let metadata { object["metadata"] = .string(metadata) }
    for (name, _, member) in Self.numbers where self[keyPath: member] != usual[keyPath: member] {
      object[name] = .integer(self[keyPath: member])
    }
    if reply != usual.reply { object["reply"] = .string(reply.rawValue) }
    if link != usual.link { object["link"] = .string(link) }
    if hasConformanceAdapter { object["conformance"] = true }
    return object
  }
}
