import SignetJSON

extension NamedRequirements {
  /// Reads the member `requirements` of `server.json`.
  init(_ object: JSONObject) throws {
    self.init()
    guard object.members.count <= Self.limit else {
      throw FolderSettings.Refusal.reason("\"requirements\" has at most \(Self.limit) members")
    }
    for (name, value) in object.members {
      let place = "\"\(name.prefix(40))\" in \"requirements\""
      guard Self.mayBeName(name) else {
        throw FolderSettings.Refusal.reason(
          "\(place) is no name: 1 to \(Self.longestName) visible ASCII characters without quotes and backslashes"
        )
      }
      guard !Self.builtInNames.contains(name), !name.hasPrefix(Self.prefix) else {
        throw FolderSettings.Refusal.reason("\(place) is built in; choose another name")
      }
      guard case .object(let members) = value else {
        throw FolderSettings.Refusal.reason("\(place) is an object")
      }
      let requirement: AuthenticationRequirement
      do {
        requirement = try AuthenticationRequirement(reading: members, at: place)
      } catch let error as JSONFailure {
        throw FolderSettings.Refusal.reason("in \(place): \(error)")
      }
      guard requirement != AuthenticationRequirement() else {
        throw FolderSettings.Refusal.reason("\(place) demands nothing")
      }
      add(name, requirement)
    }
  }

  /// The operator's requirements as `server.json` has them.
  var json: JSONObject {
    var object = JSONObject()
    for (name, requirement) in own.sorted(by: { $0.key < $1.key }) {
      object[name] = .object(requirement.json)
    }
    return object
  }
}

extension AuthenticationRequirement {
  private static let members = [
    "factors", "userVerification", "phishingResistance", "keyProtection", "contentSigned", "reportAge",
    "numberDigits", "kinds",
  ]
  /// The words of `keyProtection`, in rising order; the first is that of no demand.
  private static let protections: [(word: String, value: KeyAssurance)] = [
    ("any", .software), (KeyAssurance.hardwareClaimed.rawValue, .hardwareClaimed),
    (KeyAssurance.hardwareAttested.rawValue, .hardwareAttested),
  ]

  /// Reads the members of a requirement, which `place` names in messages.
  fileprivate init(reading object: JSONObject, at place: String) throws {
    self.init()
    for member in object.members where !Self.members.contains(member.name) {
      throw FolderSettings.Refusal.reason(
        "\"\(member.name.prefix(40))\" in \(place) is not known here; remove it or correct its name")
    }
    if let count = try object.optionalInteger("factors") {
      guard Self.factorCounts.contains(count) else {
        throw FolderSettings.Refusal.reason(
          "\"factors\" in \(place) is \(Self.factorCounts.lowerBound) to \(Self.factorCounts.upperBound)")
      }
      factors = Int(count)
    }
    needsUserVerification = try object.optionalBool("userVerification") ?? false
    needsPhishingResistance = try object.optionalBool("phishingResistance") ?? false
    needsSignedContent = try object.optionalBool("contentSigned") ?? false
    if let word = try object.optionalString("keyProtection") {
      guard let protection = Self.protections.first(where: { $0.word == word })?.value else {
        throw FolderSettings.Refusal.reason(
          "\"keyProtection\" in \(place) is one of \(Self.quoted(Self.protections.map(\.word)))")
      }
      keyProtection = protection
    }
    if let age = try object.optionalInteger("reportAge") {
      guard Self.reportAges.contains(age) else {
        throw FolderSettings.Refusal.reason(
          "\"reportAge\" in \(place) is \(Self.reportAges.lowerBound) to \(Self.reportAges.upperBound)")
      }
      longestReportAge = age
    }
    if let count = try object.optionalInteger("numberDigits") {
      guard Self.numberDigitCounts.contains(count) else {
        throw FolderSettings.Refusal.reason(
          "\"numberDigits\" in \(place) is \(Self.numberDigitCounts.lowerBound) to \(Self.numberDigitCounts.upperBound)"
        )
      }
      numberDigits = Int(count)
    }
    for word in try object.optionalStrings("kinds") ?? [] {
      guard let kind = AuthenticationEvidence.Kind(rawValue: word) else {
        let known = Self.quoted(AuthenticationEvidence.Kind.allCases.map(\.rawValue))
        throw FolderSettings.Refusal.reason("\"kinds\" in \(place) are some of \(known)")
      }
      kinds.insert(kind)
    }
  }

  private static func quoted(_ words: [String]) -> String {
    words.map { "\"\($0)\"" }.joined(separator: ", ")
  }

  /// The requirement as `server.json` has it: what is demanded.
  fileprivate var json: JSONObject {
    var object = JSONObject()
    if factors > 1 { object["factors"] = .integer(Int64(factors)) }
    if needsUserVerification { object["userVerification"] = true }
    if needsPhishingResistance { object["phishingResistance"] = true }
    if keyProtection > .software { object["keyProtection"] = .string(keyProtection.rawValue) }
    if needsSignedContent { object["contentSigned"] = true }
    object["reportAge"] = longestReportAge.map { .integer($0) }
    if numberDigits > 0 { object["numberDigits"] = .integer(Int64(numberDigits)) }
    if !kinds.isEmpty { object["kinds"] = .array(kinds.map(\.rawValue).sorted().map { .string($0) }) }
    return object
  }
}
