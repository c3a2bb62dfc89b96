import SignetServer
import SignetUAF

extension UAFSettings {
  static let schema = SettingsSchema(
    absent: UAFSettings(facets: []),
    settings: [
      Setting(
        required: "facets", \.facets,
        .list(.string("an app's id or an https origin", where: { FacetID($0) != nil }), 1...),
        "the apps and pages that may use keys for the application; `linux:app-id:signet` is the command `signet uaf`"
      ),
      Setting(
        optional: "appID", \.appID,
        .string("an https URL of at most 512 bytes", pattern: "^https://") {
          $0.hasPrefix("https://") && WebOrigin($0) != nil && $0.utf8.count <= 512
        },
        "the application that keys are for; another one is another application, with keys of its own",
        default: "the URL of the server's facets"),
      Setting(
        "prefix", \.prefix,
        .string(
          "a path of letters, digits, - and _, at most 128 bytes, such as /nevisfido",
          pattern: "^(/[A-Za-z0-9_-]+)+$", where: isPrefix),
        "the prefix of all paths, which must not be the server's domain"),
      Setting(
        "policies", \.policies,
        .map(
          to: .object("a `Policy` of the protocol", read: { policy, _ in try Policy(policy) }, json: \.json)),
        "which authenticators are accepted, by the name that a request chooses one by",
        default: "`default`: all known models, each by itself"),
      Setting(
        "requirements", \.requirements, .map(to: .string("the name of a requirement")),
        "a [requirement](#requirements) that keys must meet besides a policy, by the policy's name, such as `{\"default\": \"staff\"}`; a key that attests itself meets none for attested hardware",
        default: "none"),
      Setting(
        optional: "metadata", \.metadata, .file,
        "a folder of metadata statements (`*.json`) of the models that are known beside Signet's own; no other user may have write access",
        default: "none"),
      Setting(
        "requestLifetime", \.requestLifetime, .seconds(10...3_600),
        "how long a request can be answered"),
      Setting(
        "tokenLifetime", \.tokenLifetime, .seconds(10...604_800),
        "how long a token can be redeemed"),
      Setting(
        "authorizationLifetime", \.authorizationLifetime,
        .seconds(10...OpenIDNames.tokenLifetime), "how long a user's authorization is valid"),
      Setting(
        "clockSkew", \.clockSkew, .seconds(1...600), "how far the clocks of devices may be off"),
      Setting(
        "openRequests", \.openRequests, .integer(1...1_000_000),
        "the maximum number of unauthenticated requests from one address, within the lifetime of a request, that did not succeed; behind a proxy, whose address all these requests have, the number that it lets through in that time"
      ),
      Setting(
        "reply", \.reply, Reply.shape,
        "the form of a user's authorization after an authentication: a token in the answer, or a cookie"),
      Setting(
        "link", \.link,
        .string("a URL without query and fragment, at most 512 bytes", pattern: "^[^?#]*://[^?#]*$") { link in
          link.utf8.count <= 512 && link.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && link.contains("://") && !link.contains("?") && !link.contains("#")
        }, "the prefix of the links that devices open"),
      Setting(
        "conformance", \.hasConformanceAdapter, Bool.shape,
        "whether the interface of the conformance tool is served, which needs no authentication: for tests only"
      ),
    ])

  /// Rejects settings that conflict with the rest of `server.json`.
  ///
  /// - Parameters:
  ///   - domain: The domain of the server.
  ///   - named: The known requirements.
  /// - Throws: `ServerConfigurationFile.Refusal`.
  func check(domain: String, among named: NamedRequirements) throws(ServerConfigurationFile.Refusal) {
    guard prefix.split(separator: "/").first.map(String.init) != domain else {
      throw .reason("\"uaf.prefix\" must not begin with the domain of the server, \"/\(domain)\"")
    }
    for (name, policy) in policies.sorted(by: { $0.key < $1.key }) where !policy.isWellFormed {
      throw .reason("\"uaf.policies.\(name.prefix(40))\" may not be sent to clients")
    }
    for (name, requirement) in requirements.sorted(by: { $0.key < $1.key }) {
      let setting = "\"uaf.requirements.\(name.prefix(40))\""
      guard policies[name] != nil || name == UAFNames.defaultPolicy else {
        throw .reason(
          "\(setting) is not one of its \"policies\"; "
            + suggestion(for: name, among: [UAFNames.defaultPolicy] + policies.keys.sorted()))
      }
      guard named[requirement] != nil else {
        throw .reason(
          "\(setting) must be the name of a requirement (\(named.names.joined(separator: ", "))); found "
            + "\"\(requirement.prefix(40))\"")
      }
    }
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
}

extension UAFSettings.Reply: Shaped {}
