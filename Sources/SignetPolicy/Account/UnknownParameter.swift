import SignetJSON

/// A parameter that its policy does not know, and so ignores: one of a later version, or a typing error.
package struct UnknownParameter: Hashable, Sendable {
  /// Its name, such as `linx`.
  package let name: String
  /// The names of what it stands in, and its own: `osVersion.linx`.
  package let path: String
  /// The names that are known there.
  package let known: [String]

  /// The unknown members of an object.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - place: The names of what it stands in.
  ///   - known: The names that are known there.
  /// - Returns: The members, in the order in which they were written.
  static func all(in object: JSONObject, of place: String, known: [String]) -> [UnknownParameter] {
    object.members.filter { member in !known.contains { $0.utf8.elementsEqual(member.name.utf8) } }.map {
      let name = AccountPolicySet.shown($0.name)
      return UnknownParameter(name: name, path: "\(place).\(name)", known: known)
    }
  }
}
