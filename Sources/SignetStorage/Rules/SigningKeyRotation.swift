/// The rotation of the signing key.
package enum SigningKeyRotation: Hashable, Sendable {
  /// Rejected: the present key is not the one that the new key was made to replace.
  case superseded
  /// The new key signs, after the retired one; `nil` for none. A key whose row was altered stays altered.
  case signs(after: SigningKeyRecord?)

  /// Decides on a new key.
  ///
  /// - Parameters:
  ///   - new: The key.
  ///   - present: The key that signs; `nil` for none.
  ///   - id: The id of the key to replace; `nil` if none is expected.
  package init(to new: SigningKeyRecord, from present: SigningKeyRecord?, replacing id: String?) {
    guard present?.id == id else {
      self = .superseded
      return
    }
    var retired = present
    retired?.retired = new.created
    self = .signs(after: retired)
  }
}

extension SigningKeyRecords {
  /// The key that a new one would replace, even if its row was altered; `nil` for none.
  package var replaceable: SigningKeyRecord? { all.last { $0.retired == nil } }

  /// The key that signs, if its row's MAC verifies.
  package var present: SigningKeyRecord? { all.last { $0.retired == nil && !$0.isAltered } }

  /// Indicates whether the row of the key that signs was removed: a rotation never leaves only retired keys.
  package var isPresentRemoved: Bool { !isNew && all.allSatisfy { $0.retired != nil && !$0.isAltered } }

  /// Indicates whether the server cannot sign, because the row of the key that signs was altered or removed.
  package var isPresentMissing: Bool { !isNew && present == nil }
}
