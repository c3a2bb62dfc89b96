/// A JSON text as a value (RFC 8259), read strictly and printed deterministically.
///
/// Why not Foundation's `JSONSerialization` or `JSONDecoder`: they silently keep one of several members with the
/// same name, which RFC 7515 section 4 and RFC 7519 section 4 do not let a JOSE library do unnoticed (two
/// readers of one signed message could see two meanings); they keep neither the order of members nor the exact
/// size of a whole number; their depth and size limits are not ours to set; and for the small headers of JOSE they
/// are several times slower. The reader here works on UTF-8 bytes, refuses all that RFC 8259 leaves to chance and
/// is bounded by ``JSONLimits``.
public enum JSONValue: Sendable, Hashable {
  /// The literal `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number written without fraction and exponent that fits 64 bits, kept exactly. `-0` reads as 0.
  case integer(Int64)
  /// Any other number, as the nearest IEEE 754 double; always finite when it was read.
  case number(Double)
  /// A string, with its escapes resolved.
  case string(String)
  /// An array, in order.
  case array([JSONValue])
  /// An object, its members in the order in which they were written.
  case object(JSONObject)

  /// Reads one JSON text and nothing after it but white space.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8 without a byte order mark.
  ///   - limits: How large and how deep the text may be.
  /// - Throws: ``JSONFailure`` with the byte offset of what was refused.
  public init(parsing bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONFailure) {
    self = try JSONParser.parse(bytes.span, limits)
  }

  /// Reads one JSON text held in a string.
  ///
  /// - Parameters:
  ///   - text: The JSON text.
  ///   - limits: How large and how deep the text may be.
  /// - Throws: ``JSONFailure`` with the byte offset (in UTF-8) of what was refused.
  public init(parsing text: String, limits: JSONLimits = .standard) throws(JSONFailure) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }

  /// Equal when type and content are: strings code point by code point (RFC 8259 section 8.3), so that texts that
  /// merely look alike (`"K"` and the Kelvin sign) are different; objects without regard to order; an integer
  /// never equals a fraction.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a.hasSameCodePoints(as: b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  /// Feeds what equality looks at.
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
  /// Equality of code points; `==` on `String` is canonical equivalence, by which U+212A equals "K", and takes a second for
  /// some thousands of combining marks.
  @inline(__always)
  func hasSameCodePoints(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    // Where the bytes lie in one place, less than half of the time that the views take.
    let isSame = unsafe utf8.withContiguousStorageIfAvailable { mine in
      unsafe other.utf8.withContiguousStorageIfAvailable { unsafe $0.elementsEqual(mine) }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// What a hash is made of where ``hasSameCodePoints(as:)`` is the equality.
  var codePoints: [UInt8] { Array(utf8) }
}
