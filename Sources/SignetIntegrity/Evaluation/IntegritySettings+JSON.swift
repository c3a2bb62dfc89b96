public import SignetJSON

extension IntegritySettings {
  /// Reads settings:
  /// `{"scoring":"weighted-sum","threshold":0.7,"reaction":"lock","weights":{"emulator":0.9,"hook.call":1}}`.
  ///
  /// Missing members keep the values of `base`; weights are merged into those of `base`.
  ///
  /// - Parameters:
  ///   - object: The settings.
  ///   - base: The settings to change.
  ///   - names: The findings of the app's own guards; they may have weights like standard findings and categories.
  /// - Throws: ``IntegrityFailure/settings(member:_:)``, which names the member and the allowed values.
  public init(
    _ object: JSONObject, over base: IntegritySettings, findings names: Set<String> = []
  ) throws(IntegrityFailure) {
    self = base
    let members = ["scoring", "threshold", "reaction", "weights"]
    if let unknown = object.members.first(where: { !members.contains($0.name) }) {
      throw .settings(
        member: unknown.name, "is not known; there are \(members.joined(separator: ", "))")
    }
    scoring = try Self.choice("scoring", in: object) ?? scoring
    reaction = try Self.choice("reaction", in: object) ?? reaction
    if object.contains("threshold") {
      guard let number = Self.number(object["threshold"]), number > 0, number <= 1 else {
        throw .settings(member: "threshold", "is a number above 0 and up to 1")
      }
      threshold = number
    }
    guard let given = object["weights"] else { return }
    guard case .object(let given) = given else {
      throw .settings(member: "weights", "is an object with a number for each name")
    }
    for (name, value) in given.members {
      guard names.contains(name) || Self.weightNames.contains(name) else {
        throw .settings(
          member: "weights", "has \"\(name)\", which is neither a finding nor a category of evidence")
      }
      guard let weight = Self.number(value), weight >= 0, weight <= 1 else {
        throw .settings(member: "\(name)\" in \"weights", "is a number from 0 to 1")
      }
      weights[name] = weight
    }
  }

  /// The settings in the form that ``init(_:over:findings:)`` reads.
  public var json: JSONObject {
    [
      "scoring": .string(scoring.rawValue), "threshold": .number(threshold),
      "reaction": .string(reaction.rawValue),
      "weights": .object(
        weights.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { $0[$1.key] = .number($1.value) }),
    ]
  }

  /// The names that can have a weight: the standard findings and the categories of evidence.
  private static let weightNames = EvidenceCategory.allCases.map(\.rawValue) + Finding.standard.map(\.name)

  private static func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ member: String, in object: JSONObject
  ) throws(IntegrityFailure) -> Choice? {
    guard let value = object[member] else { return nil }
    guard case .string(let text) = value, let choice = Choice(rawValue: text) else {
      throw .settings(
        member: member,
        "must be one of \(Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))")
    }
    return choice
  }
}
