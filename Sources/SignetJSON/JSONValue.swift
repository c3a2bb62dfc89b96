import SignetSystem

/// A JSON text as a value (RFC 8259), parsed strictly and printed deterministically.
///
/// It replaces Foundation's `JSONSerialization` and `JSONDecoder` for these reasons:
///
/// - They silently keep one of several members with the same name, which RFC 7515 section 4 and RFC 7519 section 4 forbid a
///   JOSE library. Two readers of one signed message could see two meanings.
/// - They keep neither the order of members nor the exact value of an integer.
/// - Their depth and size limits cannot be configured.
/// - For the small headers of JOSE they are several times slower.
///
/// This parser works on UTF-8 bytes, rejects everything that RFC 8259 leaves undefined, and is bounded by ``JSONLimits``.
public enum JSONValue: Sendable, Hashable {
  /// The literal `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number written without fraction and exponent that fits 64 bits, kept exactly; `-0` becomes 0.
  case integer(Int64)
  /// Any other number, as the nearest IEEE 754 double; always finite if it was parsed.
  case number(Double)
  /// A string, with its escapes resolved.
  case string(String)
  /// An array, in order.
  case array([JSONValue])
  /// An object, its members in the order of the text.
  case object(JSONObject)

  /// Parses one JSON text; only white space may follow.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8 without a byte order mark.
  ///   - limits: The limits of size and depth.
  /// - Throws: ``JSONFailure`` with the byte offset of the error.
  public init(parsing bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONFailure) {
    self = try JSONParser.parse(bytes.span, limits)
  }

  /// Parses one JSON text in a string.
  ///
  /// - Parameters:
  ///   - text: The JSON text.
  ///   - limits: The limits of size and depth.
  /// - Throws: ``JSONFailure`` with the byte offset (in UTF-8) of the error.
  public init(parsing text: String, limits: JSONLimits = .standard) throws(JSONFailure) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }

  /// Returns true if type and content are equal.
  ///
  /// Strings are compared code point by code point (RFC 8259 section 8.3), so texts that only look alike (`"K"` and the Kelvin
  /// sign) differ. Objects are compared without regard to order. An integer never equals a number with a fraction or exponent.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  /// Hashes the content that equality compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value.codePoints)
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    }
  }
}

extension String {
  /// The bytes to hash if ``hasSameBytes(as:)`` is the equality.
  var codePoints: [UInt8] { Array(utf8) }
}
