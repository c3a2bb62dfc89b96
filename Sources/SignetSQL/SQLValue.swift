/// One value of a column.
///
/// Values are bound to statements, never pasted into SQL, and never appear in an error text.
public enum SQLValue: Sendable, Hashable {
  /// `NULL`.
  case null
  /// A signed 64-bit number.
  case integer(Int64)
  /// An IEEE 754 double; a NaN is refused, since SQLite would store `NULL`.
  case real(Double)
  /// Text; with a NUL in it, it is refused, since PostgreSQL cannot store that.
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
  /// An integer, for literals in calls.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// Text, for literals in calls.
  public init(stringLiteral value: String) { self = .text(value) }

  /// `NULL`.
  public init(nilLiteral: ()) { self = .null }
}

extension SQLValue {
  /// The integer, from the type that counts and sizes have.
  public static func int(_ value: Int) -> Self { .integer(Int64(value)) }

  /// 1 or 0: columns of SQLite have no truth values.
  public static func bool(_ value: Bool) -> Self { .integer(value ? 1 : 0) }

  /// The integer, or `NULL` for `nil`.
  public static func optional(_ value: Int64?) -> Self { value.map(Self.integer) ?? .null }

  /// The text, or `NULL` for `nil`.
  public static func optional(_ value: String?) -> Self { value.map(Self.text) ?? .null }

  /// The bytes, or `NULL` for `nil`.
  public static func optional(_ value: [UInt8]?) -> Self { value.map(Self.blob) ?? .null }

  /// The identifier or status, or `NULL` for `nil`.
  public static func optional(_ value: (some SQLRepresentable)?) -> Self { value.map(of) ?? .null }

  /// The column of an identifier or a status.
  public static func of(_ value: some SQLRepresentable) -> Self { value.sqlValue }
}

/// A type that is one column: an identifier, a status.
public protocol SQLRepresentable: Sendable {
  /// The value that is stored.
  var sqlValue: SQLValue { get }

  /// The value that was stored; `nil` where it is none of this type.
  init?(sqlValue: SQLValue)
}

extension SQLRepresentable where Self: RawRepresentable, RawValue == String {
  /// The raw value.
  public var sqlValue: SQLValue { .text(rawValue) }

  /// The case of a raw value.
  @inlinable public init?(sqlValue: SQLValue) {
    guard case .text(let text) = sqlValue else { return nil }
    self.init(rawValue: text)
  }
}
