package import SignetJSON

/// Why a list of tokens was not read: where it is wrong, and never a secret.
@nonexhaustive package enum TokenListFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// There are more bytes than are read at once.
  case tooLarge
  /// There is no token in it.
  case empty
  /// It is neither JSON nor CSV in UTF-8.
  case notUTF8
  /// The JSON is malformed, or has no array that is named `tokens`.
  case json(JSONFailure)
  /// The array `tokens` has something else than objects.
  case notObjects
  /// The PSKC document cannot be read, or not without another key.
  case container(InterchangeFailure)
  /// A key of a PSKC document has no name.
  case unnamedKey
  /// A key of a PSKC document is none of a token.
  case token(serial: String, InterchangeFailure)
  /// A token makes codes that a server does not check; the reason is the end of a sentence.
  case unsupported(serial: String, reason: String)
  /// The first line of CSV names a column that there is not.
  case unknownColumn(Int)
  /// The first line of CSV names a column twice, or not all that are needed.
  case missingColumns
  /// A line of CSV, from 1, has a field too many or too few, or one of another form.
  case line(Int, reason: String)
  /// Two tokens have one serial number; the places are the two's, such as `line 2`.
  case repeated(serial: String, first: String, again: String)

  /// What is wrong, for the operator who knows the file.
  package var description: String {
    switch self {
    case .tooLarge: "a file of tokens has at most \(TokenList.maximumByteCount >> 20) MiB"
    case .empty: "it has no token"
    case .notUTF8: "it is neither JSON nor CSV in UTF-8"
    case .json(let failure): "it is no file of tokens: \(failure)"
    case .notObjects: "it is no file of tokens: \"tokens\" has objects only"
    case .container(let failure): "\(failure)"
    case .unnamedKey: "a key has neither a serial number nor an id"
    case .token(let serial, let failure): "the token \(serial): \(failure)"
    case .unsupported(let serial, let reason):
      "the token \(serial) \(reason), which this server does not check"
    case .unknownColumn(let place):
      "the first line names the columns, of \(CSVTokens.columns.joined(separator: ", ")); its field \(place) is none of them"
    case .missingColumns: "the columns \"serial\", \"kind\" and one for the secret are needed, once each"
    case .line(let number, let reason): "line \(number): \(reason)"
    case .repeated(let serial, let first, let again):
      "\(first) and \(again) have the same serial number \(serial); remove one of them"
    }
  }
}
