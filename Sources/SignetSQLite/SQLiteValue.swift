/// One value that SQLite stores: the five storage classes (<https://www.sqlite.org/datatype3.html>, section 2).
///
/// Values are bound to statements, never pasted into SQL, and never appear in an error text.
package enum SQLiteValue: Sendable, Hashable {
  /// `NULL`.
  case null
  /// `INTEGER`: a signed 64-bit number.
  case integer(Int64)
  /// `REAL`: an IEEE 754 double. SQLite turns a NaN into `NULL`.
  case real(Double)
  /// `TEXT`: UTF-8. Text from the file that is not UTF-8 is repaired with U+FFFD before use.
  case text(String)
  /// `BLOB`: bytes.
  case blob([UInt8])

  /// The name of the storage class as SQLite spells it.
  var storageClass: String {
    switch self {
    case .null: "NULL"
    case .integer: "INTEGER"
    case .real: "REAL"
    case .text: "TEXT"
    case .blob: "BLOB"
    }
  }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
  /// Makes an integer, for literals in calls.
  package init(integerLiteral value: Int64) { self = .integer(value) }

  /// Makes a text, for literals in calls.
  package init(stringLiteral value: String) { self = .text(value) }

  /// Makes `NULL`, for `nil` in calls.
  package init(nilLiteral: ()) { self = .null }
}

extension SQLiteValue {
  /// Makes an integer from an `Int`.
  package static func int(_ value: Int) -> Self { .integer(Int64(value)) }

  /// Makes an integer, or `NULL` for `nil`.
  package static func optional(_ value: Int64?) -> Self { value.map(Self.integer) ?? .null }

  /// Makes a text, or `NULL` for `nil`.
  package static func optional(_ value: String?) -> Self { value.map(Self.text) ?? .null }

  /// Makes bytes, or `NULL` for `nil`.
  package static func optional(_ value: [UInt8]?) -> Self { value.map(Self.blob) ?? .null }
}
