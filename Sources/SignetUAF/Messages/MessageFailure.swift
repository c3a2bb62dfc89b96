package import SignetJSON

/// The reasons why a text is no message of the protocol.
package enum MessageFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is malformed JSON, or too large.
  case json(JSONFailure)
  /// The text is no array of messages.
  case notAnArray
  /// The text contains no message in any known form.
  case notAMessage
  /// The message is a server's request instead of a client's response.
  case request
  /// The array is empty, or an element is no object.
  case noMessage
  /// No element has a supported version.
  case unsupportedVersion
  /// Two elements have the same version.
  case repeatedVersion(UAFVersion)
  /// The operation is not the expected one.
  case operation(String)
  /// A member, with its path, is invalid.
  case member(String, Problem)
  /// An unknown extension must not be ignored.
  case unknownExtension(String)

  package enum Problem: Hashable, Sendable, CustomStringConvertible {
    /// The member is missing.
    case missing
    /// The member has another type.
    case type(JSONFailure.ExpectedType)
    /// The member is empty.
    case empty
    /// The member is longer than this number of characters, elements or bytes.
    case tooLong(Int)
    /// The member is shorter than this number of bytes.
    case tooShort(Int)
    /// The number is outside its range.
    case range
    /// The string is not base64url.
    case base64URL
    /// The value is unknown to the protocol.
    case value
    /// The member does not have the form that the protocol requires.
    case form
    /// The member conflicts with another one.
    case conflict

    package var description: String {
      switch self {
      case .missing: "is missing"
      case .type(let expected): "is not \(expected.rawValue)"
      case .empty: "is empty"
      case .tooLong(let limit): "is longer than \(limit)"
      case .tooShort(let limit): "is shorter than \(limit)"
      case .range: "is out of range"
      case .base64URL: "is not base64url: write - and _ in place of + and /, and no blanks"
      case .value: "is not a value of the protocol"
      case .form: "does not have the form of the protocol"
      case .conflict: "contradicts another member"
      }
    }
  }

  package var description: String {
    switch self {
    case .json(let failure): failure.description
    case .notAnArray: "the message is not a JSON array"
    case .notAMessage:
      "the JSON holds no message: give the list, one message with its header, or what carries it in uafResponse or uafProtocolMessage"
    case .request: "the message is a request of a server; give the client's response"
    case .noMessage: "the array holds no message"
    case .unsupportedVersion: "no message is of a supported version"
    case .repeatedVersion(let version): "two messages are of version \(version)"
    case .operation(let operation):
      "the operation is \"\(operation.prefix(16))\", which is not the expected one"
    case .member(let path, let problem): "\(path) \(problem)"
    case .unknownExtension(let id): "the extension \"\(id)\" is not known and must not be ignored"
    }
  }
}
