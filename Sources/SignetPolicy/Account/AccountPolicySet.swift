public import SignetJSON

/// The policies of an account, or of a container: names, each with its parameters.
///
/// The JSON form is an object, `{"deviceTampering": {"score": 0.8}, "biometricAvailable": {}}`. It says nothing of the order in
/// which policies are evaluated: that is the order in which they are registered.
public struct AccountPolicySet: Sendable, Hashable {
  /// The longest JSON form, in bytes.
  public static let maximumByteCount = 4_096
  /// The most policies.
  public static let maximumCount = 32
  static let limits = JSONLimits(
    maximumDepth: 8, maximumByteCount: maximumByteCount, maximumMemberCount: 256)

  /// The parameters, each under the name of its policy, in the order in which they were written.
  public let json: JSONObject

  /// No policies.
  public init() { json = [:] }

  /// Reads the JSON form.
  ///
  /// - Parameter bytes: UTF-8 without a byte order mark.
  /// - Throws: ``AccountPolicyFailure``: `malformed`, `tooLong`, `tooMany`, `invalidName`.
  public init(parsing bytes: [UInt8]) throws(AccountPolicyFailure) {
    guard bytes.count <= Self.maximumByteCount else {
      throw .tooLong(byteCount: bytes.count, limit: Self.maximumByteCount)
    }
    let object: JSONObject
    do { object = try JSONObject(parsing: bytes, limits: Self.limits) } catch { throw .malformed(error) }
    try self.init(checking: object)
  }

  /// Takes an object that was read as part of another text.
  ///
  /// - Parameter object: Parameters by name.
  /// - Throws: ``AccountPolicyFailure``: `malformed`, `tooLong`, `tooMany`, `invalidName`.
  public init(_ object: JSONObject) throws(AccountPolicyFailure) {
    // What is larger than our own limits is refused by them, whoever has read it.
    try self.init(parsing: object.bytes)
  }

  private init(checking object: JSONObject) throws(AccountPolicyFailure) {
    guard object.count <= Self.maximumCount else {
      throw .tooMany(count: object.count, limit: Self.maximumCount)
    }
    for (name, _) in object.members where !Self.isName(name) { throw .invalidName(name) }
    json = object
  }

  /// Whether there are none.
  public var isEmpty: Bool { json.isEmpty }

  /// The names, in the order in which they were written.
  public var names: [String] { json.members.map(\.name) }

  /// The parameters of a policy; `nil` where it is not among these.
  public subscript(name: String) -> AccountPolicyParameters? {
    json[name].map { AccountPolicyParameters(policy: name, value: $0) }
  }

  /// Whether a policy may have this name: 1 to 64 visible ASCII characters.
  public static func isName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { 0x21...0x7e ~= $0 }
  }

  /// A name as a message may show it, whatever it is.
  static func shown(_ name: String) -> String {
    String(name.unicodeScalars.prefix(64).map { 0x20...0x7e ~= $0.value ? Character($0) : "?" })
  }
}

/// What an account asks of a policy: the value beside its name.
public struct AccountPolicyParameters: Sendable, Hashable {
  /// The name of the policy.
  public let policy: String
  /// The value, as it was written: an object in all policies of ours.
  public let value: JSONValue

  /// Names both.
  public init(policy: String, value: JSONValue) { (self.policy, self.value) = (policy, value) }

  /// The members.
  ///
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)`` where the value is no object; `null` counts as
  ///   an empty one.
  public func object() throws(AccountPolicyFailure) -> JSONObject {
    switch value {
    case .object(let object): return object
    case .null: return [:]
    default: throw failure("", "takes an object, such as {}")
    }
  }

  /// A number in a range.
  ///
  /// - Parameters:
  ///   - name: The parameter.
  ///   - isAllowed: Whether a number is one that the policy takes.
  ///   - expected: What it takes, to go on with "use …".
  /// - Returns: The number; `nil` where the parameter is left out.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func number(
    _ name: String, where isAllowed: (Double) -> Bool, expected: String
  ) throws(AccountPolicyFailure) -> Double? {
    let number: Double
    switch try object()[name] {
    case nil: return nil
    case .integer(let value): number = Double(value)
    case .number(let value): number = value
    default: throw failure(name, "is no number; use \(expected)")
    }
    guard isAllowed(number) else { throw failure(name, "is \(number); use \(expected)") }
    return number
  }

  /// A whole number in a range.
  ///
  /// - Parameters:
  ///   - name: The parameter, which has to be there.
  ///   - allowed: The numbers that the policy takes.
  /// - Returns: The number.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func integer(
    _ name: String, in allowed: ClosedRange<Int64>
  ) throws(AccountPolicyFailure) -> Int64 {
    let expected = "use a whole number from \(allowed.lowerBound) to \(allowed.upperBound)"
    guard let value = try object()[name] else { throw failure(name, "is missing; \(expected)") }
    guard case .integer(let number) = value, allowed.contains(number) else {
      throw failure(name, "is out of range; \(expected)")
    }
    return number
  }

  /// A flag.
  ///
  /// - Parameter name: The parameter.
  /// - Returns: The flag; `false` where the parameter is left out.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func flag(_ name: String) throws(AccountPolicyFailure) -> Bool {
    switch try object()[name] {
    case nil: return false
    case .bool(let flag): return flag
    default: throw failure(name, "is neither true nor false")
    }
  }

  /// A version.
  ///
  /// - Parameters:
  ///   - name: The parameter.
  ///   - object: Where it stands.
  /// - Returns: The version; `nil` where the parameter is left out.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  public func version(_ name: String, in object: JSONObject) throws(AccountPolicyFailure) -> SoftwareVersion?
  {
    switch object[name] {
    case nil: return nil
    case .string(let text):
      guard let version = SoftwareVersion(text) else {
        throw failure(name, "is no version; use one such as \"2.10\"")
      }
      return version
    default: throw failure(name, "is no text; use a version such as \"2.10\"")
    }
  }

  func failure(_ parameter: String, _ reason: String) -> AccountPolicyFailure {
    .invalidParameter(policy: policy, parameter: parameter, reason: reason)
  }
}
