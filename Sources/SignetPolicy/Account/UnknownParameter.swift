import SignetJSON

/// A parameter that its policy does not know and ignores: from a later version, or a typing error.
package struct UnknownParameter: Hashable, Sendable {
  /// The parameter's name, such as `linx`.
  package let name: String
  /// The name with the names of its enclosing objects: `osVersion.linx`.
  package let path: String
  /// The known names in that object.
  package let known: [String]

  /// Returns the unknown members of an object.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - place: The path of the object.
  ///   - known: The known names.
  /// - Returns: The unknown members, in the order in which they were written.
  static func all(in object: JSONObject, of place: String, known: [String]) -> [UnknownParameter] {
    object.members.filter { member in !known.contains { $0.utf8.elementsEqual(member.name.utf8) } }.map {
      let name = AccountPolicySet.shown($0.name)
      return UnknownParameter(name: name, path: "\(place).\(name)", known: known)
    }
  }
}
