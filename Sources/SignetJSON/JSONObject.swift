import SignetSystem

/// The members of a JSON object with unique names, in the order of the text.
///
/// Names are compared code point by code point (RFC 8259 section 8.3), not by the canonical equivalence of `String`.
public struct JSONObject: Sendable, Hashable {
  /// Name and value of each member, in order.
  public private(set) var members: [(name: String, value: JSONValue)]

  /// Creates an object without members.
  public init() { members = [] }

  /// Creates an object from members with distinct names, without a check.
  init(uncheckedMembers: [(name: String, value: JSONValue)]) { members = uncheckedMembers }

  /// Parses one JSON text that must be an object.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8 without a byte order mark.
  ///   - limits: The limits of size and depth.
  /// - Throws: ``JSONFailure``; ``JSONFailure/notAnObject`` for any other JSON value.
  public init(parsing bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONFailure) {
    guard case .object(let object) = try JSONParser.parse(bytes.span, limits) else { throw .notAnObject }
    self = object
  }

  /// The number of members.
  public var count: Int { members.count }

  /// True if there are no members.
  public var isEmpty: Bool { members.isEmpty }

  /// The value of the member with this name.
  ///
  /// Setting replaces in place or appends; setting `nil` removes.
  public subscript(name: String) -> JSONValue? {
    get {
      for member in members where member.name.hasSameBytes(as: name) { return member.value }
      return nil
    }
    set {
      let index = members.firstIndex { $0.name.hasSameBytes(as: name) }
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append((name, value))
      case (nil, nil): break
      }
    }
  }

  /// Sets a member: in place if the name exists, otherwise at the end.
  public mutating func set(_ name: String, _ value: JSONValue) { self[name] = value }

  /// Returns true if there is a member with this name.
  public func contains(_ name: String) -> Bool {
    members.contains { $0.name.hasSameBytes(as: name) }
  }

  /// Returns true if both have the same members, in any order (RFC 8259 section 4).
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    guard left.count == right.count else { return false }
    // Equal objects usually have the same order. Others are sorted: looking up each name would take quadratic time.
    let isOneOrder = zip(left.members, right.members).allSatisfy { $0.name.hasSameBytes(as: $1.name) }
    let (a, b) = isOneOrder ? (left.members, right.members) : (left.sortedMembers, right.sortedMembers)
    return zip(a, b).allSatisfy { $0.name.hasSameBytes(as: $1.name) && $0.value == $1.value }
  }

  /// Hashes the members without regard to order.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for member in sortedMembers {
      hasher.combine(member.name.codePoints)
      hasher.combine(member.value)
    }
  }

  /// The members ordered by the code points of their names (RFC 7638 section 3.3), which is the order of UTF-8 bytes.
  var sortedMembers: [(name: String, value: JSONValue)] {
    members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
