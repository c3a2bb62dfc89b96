package import SignetJSON

/// Why a text is no message of the protocol.
package enum MessageFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is no JSON, or too large.
  case json(JSONFailure)
  /// The text is not an array of messages.
  case notAnArray
  /// The text carries no message in any way that is known.
  case notAMessage
  /// The message is a request of a server where a client's response is wanted.
  case request
  /// The array is empty, or an element is no object.
  case noMessage
  /// No element is of a version that is supported here.
  case unsupportedVersion
  /// Two elements are of the same version.
  case repeatedVersion(UAFVersion)
  /// The operation is another than the wanted one.
  case operation(String)
  /// A member, named with its path, is not what it has to be.
  case member(String, Problem)
  /// An extension that has to be known is not.
  case unknownExtension(String)

  /// What is wrong with a member.
  package enum Problem: Hashable, Sendable, CustomStringConvertible {
    /// It is not there.
    case missing
    /// It has another type.
    case type(JSONFailure.ExpectedType)
    /// It is empty.
    case empty
    /// It is longer than so many characters, elements or bytes.
    case tooLong(Int)
    /// It is shorter than so many bytes.
    case tooShort(Int)
    /// It is a number outside its range.
    case range
    /// It is no base64url.
    case base64URL
    /// It is none of the values that the protocol has.
    case value
    /// It is not of the form that the protocol gives it.
    case form
    /// It stands beside another that excludes it.
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
      case .conflict: "does not go with another member"
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
      "the operation is \"\(operation.prefix(16))\", which is not the wanted one"
    case .member(let path, let problem): "\(path) \(problem)"
    case .unknownExtension(let id): "the extension \"\(id)\" is not known and must not be ignored"
    }
  }
}
