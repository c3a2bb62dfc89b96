import SignetCrypto
import SignetIntegrity
package import SignetJSON
import SignetPolicy
import SignetStorage
import SignetWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FolderSettings {
  /// Why settings were refused; the caller adds the file's name.
  package enum Refusal: Error {
    case tooNew(Int64)
    case reason(String)
  }

  package static let limitRanges: [(name: String, range: ClosedRange<Int64>)] = [
    ("inviteAttempts", 1...100), ("inviteLifetime", 60...2_592_000),
    ("transactionLifetime", TransactionOrder.lifetimes), ("codeAttempts", 1...100),
    ("pendingTransactions", 1...64),
    ("challenges", 1...1000), ("challengeWait", 1...86_400), ("challengeLongestWait", 1...86_400),
    ("numberAttempts", 1...10), ("initiatedTransactions", 1...1000),
  ]

  package static let busyTimeouts: ClosedRange<Int64> = 1...60

  package static let codeRules:
    [(name: String, range: ClosedRange<Int64>, member: any WritableKeyPath<CodeRules, Int> & Sendable)] = [
      ("lookBack", 0...20, \.lookBack), ("lookAhead", 0...20, \.lookAhead),
      ("counterLookAhead", 0...100, \.counterLookAhead), ("resyncWindow", 10...1000, \.resyncWindow),
      ("driftLimit", 0...100, \.driftLimit), ("freeAttempts", 0...20, \.freeAttempts),
      ("firstWait", 0...3600, \.firstWait), ("longestWait", 1...86_400, \.longestWait),
    ]

  /// Reads the text of `server.json`.
  package init(parsing bytes: [UInt8]) throws(Refusal) {
    do {
      let object = try JSONObject(parsing: bytes)
      // Before anything else is looked at: a newer format may have anything in it.
      let format = try object.integer("format")
      guard (1...Self.format).contains(format) else { throw Refusal.tooNew(format) }
      try Self.refuseMembers(
        of: object, at: nil,
        except: [
          "format", "url", "listen", "profile", "tls", "limits", "codes", "connections", "devices", "push",
          "openID", "requirements", "uaf", "database", "operator", "runtime", "masterKeyCheck",
        ])
      let listen = try object.object("listen")
      try Self.refuseMembers(of: listen, at: "listen", except: ["address", "port"])
      guard let port = UInt16(exactly: try listen.integer("port")), port > 0 else {
        throw Refusal.reason("\"port\" in \"listen\" is 1 to 65535")
      }
      self.init(
        serverURL: try ServerURL(object.string("url")), listenAddress: try listen.string("address"),
        listenPort: port, profile: try ContainerProfile(object.object("profile")))
      try AccountPolicyRegistry().check(profile.accountPolicies)
      tls = try Self.tlsFiles(object.object("tls"))
      try readDevices(object.optionalObject("devices") ?? [:])
      try readLimits(object.optionalObject("limits") ?? [:])
      try readCodeRules(object.optionalObject("codes") ?? [:])
      connections = try ConnectionSettings(object.optionalObject("connections") ?? [:])
      push = try PushSettings(object.optionalObject("push") ?? [:])
      try readDatabase(object.optionalObject("database") ?? [:])
      try readOpenID(object.optionalObject("openID") ?? [:])
      requirements = try NamedRequirements(object.optionalObject("requirements") ?? [:])
      try readOperator(object.optionalObject("operator") ?? [:])
      uaf = try object.optionalObject("uaf").map {
        try UAFSettings($0, domain: serverURL.domain, among: requirements)
      }
      runtime = try object.optionalString("runtime")
      guard runtime.map({ $0.hasPrefix("/") && !$0.utf8.contains(0) }) ?? true else {
        throw Refusal.reason("\"runtime\" is the full path of a folder in memory")
      }
      masterKeyCheck = try Base64URL.decode(object.string("masterKeyCheck"))
    } catch let refusal as Refusal {
      throw refusal
    } catch {
      throw .reason("\(error)")  // each of them says which member is wrong and how
    }
  }

  private static func tlsFiles(_ object: JSONObject) throws -> TLSFiles {
    try refuseMembers(of: object, at: "tls", except: ["certificate", "key", "authority"])
    let files = TLSFiles(
      certificate: try object.string("certificate"), key: try object.string("key"),
      authority: try object.optionalString("authority"))
    for name in [files.certificate, files.key] + (files.authority.map { [$0] } ?? []) {
      guard mayNameFile(name) else {
        throw Refusal.reason("a file in \"tls\" is a name within the folder or a full path")
      }
    }
    return files
  }

  /// Whether a text is the address of a database server.
  public static func mayNameServer(_ address: String) -> Bool {
    !address.utf8.contains(0) && ["postgres://", "postgresql://"].contains { address.hasPrefix($0) }
  }

  /// Whether a text is a name within the folder or a full path.
  static func mayNameFile(_ name: String) -> Bool {
    let isInside = !name.contains("/") && name != "." && name != ".."
    return !name.isEmpty && !name.utf8.contains(0) && (isInside || name.hasPrefix("/"))
  }

  private mutating func readDevices(_ object: JSONObject) throws {
    try Self.refuseMembers(
      of: object, at: "devices", except: ["keystore", "reactions", "flavours", "tampering"])
    for (name, value) in try object.optionalObject("reactions")?.members ?? [] {
      guard case .string(let text) = value, let reaction = AccountRules.Reaction(rawValue: text) else {
        let known = AccountRules.Reaction.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        throw Refusal.reason("\"\(name)\" in \"reactions\" in \"devices\" is one of \(known)")
      }
      accountRules.reactions[name] = reaction
    }
    accountRules.flavours = Set(try object.optionalStrings("flavours") ?? [])
    if let tampering = try object.optionalObject("tampering") {
      try Self.refuseMembers(of: tampering, at: "tampering", except: ["scoring", "weights"])
      do throws(IntegrityFailure) {
        accountRules.tampering = try IntegritySettings(tampering, over: IntegritySettings(reaction: .report))
      } catch { throw Refusal.reason("in \"tampering\" in \"devices\": \(error)") }
    }
    guard let text = try object.optionalString("keystore") else { return }
    guard let requirement = KeystoreRequirement(rawValue: text) else {
      let known = KeystoreRequirement.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw Refusal.reason("\"keystore\" in \"devices\" is one of \(known)")
    }
    keystoreRequirement = requirement
  }

  private mutating func readOpenID(_ object: JSONObject) throws {
    try Self.refuseMembers(of: object, at: "openID", except: ["authority"])
    guard let name = try object.optionalString("authority") else { return }
    guard Self.mayNameFile(name) else {
      throw Refusal.reason("\"authority\" in \"openID\" is a name within the folder or a full path")
    }
    openIDAuthority = name
  }

  private mutating func readDatabase(_ object: JSONObject) throws {
    try Self.refuseMembers(of: object, at: "database", except: ["busyTimeout", "server"])
    databaseServer = try object.optionalString("server")
    guard databaseServer.map(Self.mayNameServer) ?? true else {
      throw Refusal.reason("\"server\" in \"database\" begins with postgres:// or postgresql://")
    }
    guard let value = try object.optionalInteger("busyTimeout") else { return }
    guard Self.busyTimeouts.contains(value) else {
      throw Refusal.reason("\"busyTimeout\" in \"database\" is 1 to 60 (seconds)")
    }
    busyTimeout = value
  }

  private mutating func readLimits(_ object: JSONObject) throws {
    try Self.refuseMembers(of: object, at: "limits", except: Self.limitRanges.map(\.name))
    var values: [String: Int64] = [:]
    for (name, range) in Self.limitRanges {
      guard let value = try object.optionalInteger(name) else { continue }
      guard range.contains(value) else {
        throw Refusal.reason("\"\(name)\" is \(range.lowerBound) to \(range.upperBound)")
      }
      values[name] = value
    }
    inviteAttempts = values["inviteAttempts"].map(Int.init) ?? inviteAttempts
    inviteLifetime = values["inviteLifetime"] ?? inviteLifetime
    transactionLifetime = values["transactionLifetime"] ?? transactionLifetime
    codeAttempts = values["codeAttempts"].map(Int.init) ?? codeAttempts
    let limits = challengeLimits
    challengeLimits.pending = values["pendingTransactions"].map(Int.init) ?? limits.pending
    challengeLimits.challenges = values["challenges"].map(Int.init) ?? limits.challenges
    challengeLimits.wait = values["challengeWait"] ?? limits.wait
    challengeLimits.longestWait = values["challengeLongestWait"] ?? limits.longestWait
    challengeLimits.wrongNumbers = values["numberAttempts"].map(Int.init) ?? limits.wrongNumbers
    challengeLimits.initiated = values["initiatedTransactions"].map(Int.init) ?? limits.initiated
  }

  private mutating func readCodeRules(_ object: JSONObject) throws {
    try Self.refuseMembers(of: object, at: "codes", except: Self.codeRules.map(\.name))
    for (name, range, member) in Self.codeRules {
      guard let value = try object.optionalInteger(name) else { continue }
      guard range.contains(value) else {
        throw Refusal.reason("\"\(name)\" in \"codes\" is \(range.lowerBound) to \(range.upperBound)")
      }
      codes[keyPath: member] = Int(value)
    }
  }

  private mutating func readOperator(_ object: JSONObject) throws {
    try Self.refuseMembers(of: object, at: "operator", except: ["addresses"])
    guard let texts = try object.optionalStrings("addresses") else { return }
    let addresses = texts.map(Self.canonicalAddress)
    guard addresses.count <= 64, addresses.allSatisfy({ $0 != nil }) else {
      throw Refusal.reason(
        "\"addresses\" in \"operator\" are 64 numeric addresses at most, such as \"192.0.2.7\"")
    }
    operatorAddresses = Set(addresses.compactMap(\.self))
  }

  /// A numeric address in the one form that requests come with; `nil` where it is none.
  private static func canonicalAddress(_ text: String) -> String? {
    var address = in6_addr()
    for family in [AF_INET, AF_INET6] where inet_pton(family, text, &address) == 1 {
      var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      guard inet_ntop(family, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
      return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return nil
  }

  static func refuseMembers(
    of object: JSONObject, at place: String?, except known: [String]
  ) throws(Refusal) {
    for member in object.members where !known.contains(member.name) {
      let location = place.map { " in \"\($0)\"" } ?? ""
      throw .reason(
        "\"\(member.name.prefix(40))\"\(location) is not known here; remove it or correct its name")
    }
  }

  /// The settings as `server.json` has them; limits are written where they differ from the defaults.
  package var json: JSONObject {
    var tlsObject: JSONObject = ["certificate": .string(tls.certificate), "key": .string(tls.key)]
    if let authority = tls.authority { tlsObject["authority"] = .string(authority) }
    var object: JSONObject = [
      "format": .integer(Self.format), "url": .string(serverURL.shortForm),
      "listen": ["address": .string(listenAddress), "port": .integer(Int64(listenPort))],
      "profile": .object(profile.json), "tls": .object(tlsObject),
    ]
    let defaults = FolderSettings(serverURL: serverURL, profile: profile)
    var limits = JSONObject()
    if inviteAttempts != defaults.inviteAttempts {
      limits["inviteAttempts"] = .integer(Int64(inviteAttempts))
    }
    if inviteLifetime != defaults.inviteLifetime { limits["inviteLifetime"] = .integer(inviteLifetime) }
    if transactionLifetime != defaults.transactionLifetime {
      limits["transactionLifetime"] = .integer(transactionLifetime)
    }
    if codeAttempts != defaults.codeAttempts { limits["codeAttempts"] = .integer(Int64(codeAttempts)) }
    let challenges = challengeLimits
    for (name, value, usual) in [
      ("pendingTransactions", Int64(challenges.pending), Int64(defaults.challengeLimits.pending)),
      ("challenges", Int64(challenges.challenges), Int64(defaults.challengeLimits.challenges)),
      ("challengeWait", challenges.wait, defaults.challengeLimits.wait),
      ("challengeLongestWait", challenges.longestWait, defaults.challengeLimits.longestWait),
      ("numberAttempts", Int64(challenges.wrongNumbers), Int64(defaults.challengeLimits.wrongNumbers)),
      ("initiatedTransactions", Int64(challenges.initiated), Int64(defaults.challengeLimits.initiated)),
    ] where value != usual {
      limits[name] = .integer(value)
    }
    var devices = JSONObject()
    if keystoreRequirement != .any { devices["keystore"] = .string(keystoreRequirement.rawValue) }
    if !accountRules.reactions.isEmpty {
      var reactions = JSONObject()
      for (name, reaction) in accountRules.reactions.sorted(by: { $0.key < $1.key }) {
        reactions[name] = .string(reaction.rawValue)
      }
      devices["reactions"] = .object(reactions)
    }
    if let tampering = accountRules.tampering {
      var object = tampering.json
      (object["threshold"], object["reaction"]) = (nil, nil)
      devices["tampering"] = .object(object)
    }
    if !accountRules.flavours.isEmpty {
      devices["flavours"] = .array(accountRules.flavours.sorted().map { .string($0) })
    }
    if !devices.isEmpty { object["devices"] = .object(devices) }
    if !limits.isEmpty { object["limits"] = .object(limits) }
    var rules = JSONObject()
    for (name, _, member) in Self.codeRules where codes[keyPath: member] != defaults.codes[keyPath: member] {
      rules[name] = .integer(Int64(codes[keyPath: member]))
    }
    if !rules.isEmpty { object["codes"] = .object(rules) }
    if connections != ConnectionSettings() { object["connections"] = .object(connections.json) }
    var database = JSONObject()
    if busyTimeout != defaults.busyTimeout { database["busyTimeout"] = .integer(busyTimeout) }
    if let databaseServer { database["server"] = .string(databaseServer) }
    if !database.members.isEmpty { object["database"] = .object(database) }
    if operatorAddresses != Self.defaultOperatorAddresses {
      object["operator"] = ["addresses": .array(operatorAddresses.sorted().map { .string($0) })]
    }
    if push != PushSettings() { object["push"] = .object(push.json) }
    if let openIDAuthority { object["openID"] = ["authority": .string(openIDAuthority)] }
    if !requirements.own.isEmpty { object["requirements"] = .object(requirements.json) }
    if let uaf { object["uaf"] = .object(uaf.json) }
    if let runtime { object["runtime"] = .string(runtime) }
    object["masterKeyCheck"] = .string(Base64URL.encode(masterKeyCheck))
    return object
  }
}
