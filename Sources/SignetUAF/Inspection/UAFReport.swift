import SignetCrypto
public import SignetJSON

/// The inspection of a UAF message without knowledge of the request, as a JSON object, for comparison tools.
public enum UAFReport {
  /// The message to inspect.
  public enum Input: Sendable {
    /// The JSON text of a response: the list, one message, or the object that carries it over HTTP.
    case response(String)
    /// An assertion in base64url, and its `fcParams` if they are known.
    case assertion(String, finalChallenge: String?)
  }

  /// The reason why there is no report.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The parts that can be malformed.
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

    /// The malformed part.
    public let part: Part
    /// The description of the error.
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

  /// Inspects a message.
  ///
  /// - Parameters:
  ///   - input: The message.
  ///   - publicKey: The key of an authentication; `nil` if it is unknown.
  ///   - keyFormat: The number in the registry, such as `0x0100`, or the name; `nil` to derive the format from the key.
  /// - Throws: ``Failure`` if a part of the input is malformed.
  /// - Returns: The content of the message and the objections; docs/signet-check.md lists the members.
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
