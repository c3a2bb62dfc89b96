package import SignetJSON

/// The reasons why a list of tokens cannot be read; they name the location, never a secret.
@nonexhaustive package enum TokenListFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The list exceeds ``TokenList/maximumByteCount``.
  case tooLarge
  /// The list has no token.
  case empty
  /// The list is neither JSON nor CSV in UTF-8.
  case notUTF8
  /// The JSON is malformed, or has no array named `tokens`.
  case json(JSONFailure)
  /// The array `tokens` has an element that is no object.
  case notObjects
  /// The PSKC document cannot be read, or needs another key.
  case container(InterchangeFailure)
  /// A key of a PSKC document has neither a serial number nor an id.
  case unnamedKey
  /// A key of a PSKC document is not a token's.
  case token(serial: String, InterchangeFailure)
  /// The server does not support the codes of a token; the reason is a predicate.
  case unsupported(serial: String, reason: String)
  /// A column name in the first line of CSV is unknown; the value is the column's number, from 1.
  case unknownColumn(Int)
  /// The first line of CSV repeats a column or lacks a required one.
  case missingColumns
  /// A line of CSV, from 1, has too many or too few fields, or a malformed one.
  case line(Int, reason: String)
  /// Two tokens have the same serial number; the other values are their locations, such as `line 2`.
  case repeated(serial: String, first: String, again: String)

  package var description: String {
    switch self {
    case .tooLarge: "a file of tokens has at most \(TokenList.maximumByteCount >> 20) MiB"
    case .empty: "it has no token"
    case .notUTF8: "it is neither JSON nor CSV in UTF-8"
    case .json(let failure): "it is not a file of tokens: \(failure)"
    case .notObjects: "it is not a file of tokens: \"tokens\" has objects only"
    case .container(let failure): "\(failure)"
    case .unnamedKey: "a key has neither a serial number nor an id"
    case .token(let serial, let failure): "the token \(serial): \(failure)"
    case .unsupported(let serial, let reason):
      "the token \(serial) \(reason), which this server does not support"
    case .unknownColumn(let column):
      "the first line names the columns, of \(CSVTokens.columns.joined(separator: ", ")); its field \(column) is not one of them"
    case .missingColumns: "the columns \"serial\", \"kind\" and one for the secret are needed, once each"
    case .line(let number, let reason): "line \(number): \(reason)"
    case .repeated(let serial, let first, let again):
      "\(first) and \(again) have the same serial number \(serial); remove one of them"
    }
  }
}
