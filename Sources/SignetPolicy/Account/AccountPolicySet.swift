public import SignetJSON

/// The policies of an account or a container: policy names, each with its parameters.
///
/// The JSON form is an object, `{"deviceTampering": {"score": 0.8}, "biometricAvailable": {}}`. The order of its members
/// does not matter: policies are evaluated in the order of registration.
public struct AccountPolicySet: Sendable, Hashable {
  /// The maximum size of the JSON form, in bytes.
  public static let maximumByteCount = 4_096
  /// The maximum number of policies.
  public static let maximumCount = 32
  static let limits = JSONLimits(
    maximumDepth: 8, maximumByteCount: maximumByteCount, maximumMemberCount: 256)

  /// The parameters by policy name, in the order in which they were written.
  public let json: JSONObject

  /// Creates an empty set.
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

  /// Validates an object that was read as part of another text.
  ///
  /// - Parameter object: Parameters by policy name.
  /// - Throws: ``AccountPolicyFailure``: `malformed`, `tooLong`, `tooMany`, `invalidName`.
  public init(_ object: JSONObject) throws(AccountPolicyFailure) {
    // The outer text may have been read with other limits, so these apply again.
    try self.init(parsing: object.bytes)
  }

  private init(checking object: JSONObject) throws(AccountPolicyFailure) {
    guard object.count <= Self.maximumCount else {
      throw .tooMany(count: object.count, limit: Self.maximumCount)
    }
    for (name, _) in object.members where !Self.isName(name) { throw .invalidName(name) }
    json = object
  }

  /// True if the set has no policies.
  public var isEmpty: Bool { json.isEmpty }

  /// The names, in the order in which they were written.
  public var names: [String] { json.members.map(\.name) }

  /// The parameters of a policy; `nil` if the set does not have it.
  public subscript(name: String) -> AccountPolicyParameters? {
    json[name].map { AccountPolicyParameters(policy: name, value: $0) }
  }

  /// True for a valid policy name: 1 to 64 visible ASCII characters.
  public static func isName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { 0x21...0x7e ~= $0 }
  }

  /// Returns a name that is safe to show: cut to 64 characters, with `?` for all that is not printable ASCII.
  static func shown(_ name: String) -> String {
    String(name.unicodeScalars.prefix(64).map { 0x20...0x7e ~= $0.value ? Character($0) : "?" })
  }
}
