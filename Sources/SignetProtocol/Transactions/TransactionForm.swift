public import SignetJSON

/// A transaction of typed fields under a template.
public struct TransactionForm: Hashable, Sendable {
  /// The largest number of fields.
  static let maximumFieldCount = 32

  /// The kind of transaction, 1 to 64 characters from `a-z 0-9 . -`: `payment`, `login` or any other name.
  public let template: String
  /// The fields in display order, 1 to 32.
  public let fields: [TransactionField]

  /// Creates a form.
  ///
  /// - Parameters:
  ///   - template: The kind of transaction.
  ///   - fields: The fields in display order.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a template, a number of fields or a field that is not allowed.
  public init(template: String, fields: [TransactionField]) throws(WireFailure) {
    (self.template, self.fields) = (template, fields)
    try check()
  }

  /// Parses a form.
  ///
  /// - Throws: ``WireFailure``, also for an unknown member or field type, which the device could not display.
  public init(_ object: JSONObject) throws(WireFailure) {
    try object.refuseMembers(except: ["fields", "template"])
    template = try object.wireString("template")
    let elements = try Wire.reading(object.array("fields"))
    var fields: [TransactionField] = []
    for value in elements {
      guard case .object(let field) = value else {
        throw .invalid(member: "fields", reason: "has an element that is not an object")
      }
      fields.append(try TransactionField(field))
    }
    self.fields = fields
    try check()
  }

  func check() throws(WireFailure) {
    guard (1...64).contains(template.utf8.count), template.utf8.allSatisfy(Self.isAllowed) else {
      throw .invalid(member: "template", reason: "must have 1 to 64 characters from a-z 0-9 . -")
    }
    guard (1...Self.maximumFieldCount).contains(fields.count) else {
      throw .invalid(member: "fields", reason: "must have 1 to \(Self.maximumFieldCount) fields")
    }
    for field in fields { try field.check() }
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }

  var json: JSONObject {
    ["fields": .array(fields.map { .object($0.json) }), "template": .string(template)]
  }
}
