import SignetJSON

/// A field of a form: a value with a label.
///
/// An amount, a payee and a date may have no label: the device then displays its own label in the user's language.
public struct TransactionField: Hashable, Sendable {
  /// A name and its value in a group.
  public struct Pair: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value.
    public let value: String

    /// Creates a pair.
    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }

  /// The kinds of field values.
  public enum Value: Hashable, Sendable {
    /// An amount of money.
    case amount(MoneyAmount)
    /// The recipient of a payment; the account is optional.
    case payee(name: String, account: String?)
    /// A text.
    case text(String)
    /// A day.
    case date(CalendarDay)
    /// Names and values under a heading; the label is the heading.
    case group([Pair])
  }

  /// The label before the value; `nil` for the device's own label.
  public let label: String?
  /// The value.
  public let value: Value

  /// Creates a field.
  public init(_ value: Value, label: String? = nil) { (self.value, self.label) = (value, label) }

  /// Parses a field.
  ///
  /// - Throws: ``WireFailure`` for an unknown type or member, or a malformed value.
  init(_ object: JSONObject) throws(WireFailure) {
    label = try Wire.reading(object.optionalString("label"))
    switch try object.wireName("type") {
    case "amount":
      try object.refuseMembers(except: ["currency", "label", "type", "value"])
      value = .amount(try MoneyAmount(object.wireString("value"), currency: object.wireString("currency")))
    case "payee":
      try object.refuseMembers(except: ["account", "label", "name", "type"])
      value = .payee(
        name: try object.wireString("name"), account: try Wire.reading(object.optionalString("account")))
    case "text":
      try object.refuseMembers(except: ["label", "type", "value"])
      value = .text(try object.wireString("value"))
    case "date":
      try object.refuseMembers(except: ["label", "type", "value"])
      value = .date(try CalendarDay(object.wireString("value")))
    case "group":
      try object.refuseMembers(except: ["label", "pairs", "type"])
      value = .group(try Self.pairs(object))
    default:
      throw .invalid(member: "type", reason: "must be amount, payee, text, date or group")
    }
  }

  private static func pairs(_ object: JSONObject) throws(WireFailure) -> [Pair] {
    var pairs: [Pair] = []
    let elements = try Wire.reading(object.array("pairs"))
    for value in elements {
      guard case .object(let pair) = value else {
        throw .invalid(member: "pairs", reason: "has an element that is not an object")
      }
      try pair.refuseMembers(except: ["name", "value"])
      pairs.append(Pair(try pair.wireString("name"), try pair.wireString("value")))
    }
    return pairs
  }

  func check() throws(WireFailure) {
    if let label { try DisplayText.checkLine(label, member: "label", limit: 128) }
    switch value {
    case .amount, .date: return
    case .payee(let name, let account):
      try DisplayText.checkLine(name, member: "name", limit: 256)
      if let account { try DisplayText.checkLine(account, member: "account", limit: 128) }
    case .text(let text):
      try requireLabel()
      try DisplayText.check(text, member: "value")
    case .group(let pairs):
      try requireLabel()
      guard !pairs.isEmpty else { throw .invalid(member: "pairs", reason: "must have at least one pair") }
      for pair in pairs {
        try DisplayText.checkLine(pair.name, member: "name", limit: 128)
        try DisplayText.checkLine(pair.value, member: "value", limit: 1024)
      }
    }
  }

  private func requireLabel() throws(WireFailure) {
    guard label != nil else {
      throw .invalid(member: "label", reason: "is required: it says what the value is")
    }
  }

  var json: JSONObject {
    var object = JSONObject()
    if let label { object["label"] = .string(label) }
    switch value {
    case .amount(let amount):
      object["type"] = "amount"
      object["value"] = .string(amount.value)
      object["currency"] = .string(amount.currency)
    case .payee(let name, let account):
      object["type"] = "payee"
      object["name"] = .string(name)
      if let account { object["account"] = .string(account) }
    case .text(let text):
      object["type"] = "text"
      object["value"] = .string(text)
    case .date(let day):
      object["type"] = "date"
      object["value"] = .string(day.text)
    case .group(let pairs):
      object["type"] = "group"
      object["pairs"] = .array(
        pairs.map { ["name": .string($0.name), "value": .string($0.value)] })
    }
    return object
  }
}
