/// One value of a column.
///
/// Values are bound to statements, never pasted into SQL, and never appear in an error text.
public enum SQLValue: Sendable, Hashable {
  /// `NULL`.
  case null
  /// A signed 64-bit number.
  case integer(Int64)
  /// An IEEE 754 double; a NaN is rejected, because SQLite would store `NULL`.
  case real(Double)
  /// Text; a text with a NUL is rejected, because PostgreSQL cannot store it.
  case text(String)
  /// Bytes.
  case blob([UInt8])

  /// The kind of the value, for error texts.
  var kind: String {
    switch self {
    case .null: "NULL"
    case .integer: "an integer"
    case .real: "a real number"
    case .text: "text"
    case .blob: "bytes"
    }
  }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
  /// Makes an integer, for literals in calls.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// Makes a text, for literals in calls.
  public init(stringLiteral value: String) { self = .text(value) }

  /// Makes `NULL`, for `nil` in calls.
  public init(nilLiteral: ()) { self = .null }
}

extension SQLValue {
  /// Makes an integer from an `Int`.
  public static func int(_ value: Int) -> Self { .integer(Int64(value)) }

  /// Makes 1 or 0: SQLite has no Boolean columns.
  public static func bool(_ value: Bool) -> Self { .integer(value ? 1 : 0) }

  /// Makes an integer, or `NULL` for `nil`.
  public static func optional(_ value: Int64?) -> Self { value.map(Self.integer) ?? .null }

  /// Makes a text, or `NULL` for `nil`.
  public static func optional(_ value: String?) -> Self { value.map(Self.text) ?? .null }

  /// Makes bytes, or `NULL` for `nil`.
  public static func optional(_ value: [UInt8]?) -> Self { value.map(Self.blob) ?? .null }

  /// Makes the value of an identifier or enumeration, or `NULL` for `nil`.
  @inlinable public static func optional(_ value: (some SQLRepresentable)?) -> Self {
    value.map { $0.sqlValue } ?? .null
  }

  /// Makes the value of an identifier or enumeration.
  @inlinable public static func of(_ value: some SQLRepresentable) -> Self { value.sqlValue }
}

/// A type that is stored in one column: an identifier or an enumeration.
public protocol SQLRepresentable: Sendable {
  /// The value that is stored.
  var sqlValue: SQLValue { get }

  /// Makes an instance from a stored value; `nil` if the value is not valid for this type.
  init?(sqlValue: SQLValue)
}

extension SQLRepresentable where Self: RawRepresentable, RawValue == String {
  /// The raw value.
  public var sqlValue: SQLValue { .text(rawValue) }

  /// Makes the case with a raw value.
  @inlinable public init?(sqlValue: SQLValue) {
    guard case .text(let text) = sqlValue else { return nil }
    self.init(rawValue: text)
  }
}
