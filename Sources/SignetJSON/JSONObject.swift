/// The members of a JSON object, each name once, in the order in which they were written.
///
/// Names are compared code point by code point (RFC 8259 section 8.3), not by the canonical equivalence of `String`.
public struct JSONObject: Sendable, Hashable {
  /// Name and value of each member, in order.
  public private(set) var members: [(name: String, value: JSONValue)]

  /// An object without members.
  public init() { members = [] }

  /// Takes members whose names are known to differ.
  init(uncheckedMembers: [(name: String, value: JSONValue)]) { members = uncheckedMembers }

  /// Reads one JSON text that must be an object.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8 without a byte order mark.
  ///   - limits: How large and how deep the text may be.
  /// - Throws: ``JSONFailure``; ``JSONFailure/notAnObject`` for any other JSON value.
  public init(parsing bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONFailure) {
    guard case .object(let object) = try JSONParser.parse(bytes.span, limits) else { throw .notAnObject }
    self = object
  }

  /// The number of members.
  public var count: Int { members.count }

  /// Whether there are no members.
  public var isEmpty: Bool { members.isEmpty }

  /// The value of the member with this name.
  ///
  /// Setting replaces in place or appends; setting nil removes.
  public subscript(name: String) -> JSONValue? {
    get {
      for member in members where member.name.hasSameCodePoints(as: name) { return member.value }
      return nil
    }
    set {
      let index = members.firstIndex { $0.name.hasSameCodePoints(as: name) }
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append((name, value))
      case (nil, nil): break
      }
    }
  }

  /// Sets a member, in place if there is one with this name, else at the end.
  public mutating func set(_ name: String, _ value: JSONValue) { self[name] = value }

  /// Whether there is a member with this name.
  public func contains(_ name: String) -> Bool {
    members.contains { $0.name.hasSameCodePoints(as: name) }
  }

  /// Equal when both have the same members, in any order (RFC 8259 section 4).
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    guard left.count == right.count else { return false }
    // Most objects that are equal have their members in one order. Others are sorted: to look up each name in many members would
    // take a time that grows with the square of their number.
    let isOneOrder = zip(left.members, right.members).allSatisfy { $0.name.hasSameCodePoints(as: $1.name) }
    let (a, b) = isOneOrder ? (left.members, right.members) : (left.sortedMembers, right.sortedMembers)
    return zip(a, b).allSatisfy { $0.name.hasSameCodePoints(as: $1.name) && $0.value == $1.value }
  }

  /// Feeds what equality looks at.
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
