import SignetCrypto
public import SignetJSON

/// What can be said about a UAF message without knowing the request, as a JSON object: for tools that compare.
public enum UAFReport {
  /// What is looked at.
  public enum Input: Sendable {
    /// The JSON text of a response: the list, one message, or the object that carries it over HTTP.
    case response(String)
    /// An assertion in base64url, and the `fcParams` that belong to it, where they are known.
    case assertion(String, finalChallenge: String?)
  }

  /// Why there is no report.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What cannot be read.
    public enum Part: Sendable {
      /// The response.
      case message
      /// The scheme of an assertion.
      case scheme
      /// An assertion.
      case assertion
      /// The base64url of an assertion.
      case encoding
      /// The name of a key's format.
      case keyFormat
    }

    /// What cannot be read.
    public let part: Part
    /// What is wrong with it.
    public let description: String

    init(_ part: Part, _ description: String) { (self.part, self.description) = (part, description) }

    init(_ failure: Inspection.Failure) {
      switch failure {
      case .message: part = .message
      case .scheme: part = .scheme
      case .assertion: part = .assertion
      }
      description = failure.description
    }
  }

  /// Looks at a message.
  ///
  /// - Parameters:
  ///   - input: The message.
  ///   - publicKey: The key of an authentication, or nil where it is not known.
  ///   - keyFormat: A number of the registry, as `0x0100`, or its name; nil for what the key looks like.
  /// - Throws: ``Failure``.
  /// - Returns: What the message says; docs/signet-check.md has the members.
  public static func make(
    _ input: Input, publicKey: [UInt8]? = nil, keyFormat: String? = nil
  ) throws(Failure) -> JSONObject {
    var format: UAFKeyFormat?
    if let keyFormat {
      format = UAFKeyFormat(named: keyFormat)
      guard format != nil else {
        throw Failure(.keyFormat, "use a number of the registry, such as 0x0100, or its name")
      }
    }
    let key = publicKey.map { InspectionKey($0, format: format) }
    let inspection = try inspect(input, key)
    var report = inspection.assertions[0].json
    report["kind"] = .string(inspection.kind.rawValue)
    report["acceptable"] = .bool(inspection.objections.isEmpty)
    report["objections"] = .strings(inspection.objections)
    if inspection.assertions.count > 1 {
      report["assertions"] = .dictionaries(inspection.assertions.map(\.json))
    }
    return report
  }

  private static func inspect(_ input: Input, _ key: InspectionKey?) throws(Failure) -> Inspection {
    do throws(Inspection.Failure) {
      switch input {
      case .response(let text): return try Inspection(response: text, key: key)
      case .assertion(let text, let finalChallenge):
        guard let bytes = Base64URL.decodePadded(text) else { break }
        return try Inspection(assertion: bytes, finalChallenge: finalChallenge, key: key)
      }
    } catch {
      throw Failure(error)
    }
    throw Failure(.encoding, "\(MessageFailure.Problem.base64URL)")
  }
}
