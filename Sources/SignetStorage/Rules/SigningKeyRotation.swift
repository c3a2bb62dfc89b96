/// Whether another key signs from now on, and what becomes of the one before.
package enum SigningKeyRotation: Hashable, Sendable {
  /// It does not: the present key is not the one that it was made to replace.
  case overtaken
  /// It does, after the retired one; `nil` for none. One whose row was altered stays altered.
  case signs(after: SigningKeyRecord?)

  /// Judges a new key.
  ///
  /// - Parameters:
  ///   - new: The key.
  ///   - present: The one that signs; `nil` for none.
  ///   - id: The one that it is to replace; `nil` where there is to be none.
  package init(to new: SigningKeyRecord, from present: SigningKeyRecord?, replacing id: String?) {
    guard present?.id == id else {
      self = .overtaken
      return
    }
    var retired = present
    retired?.retired = new.created
    self = .signs(after: retired)
  }
}

extension SigningKeyRecords {
  /// The key that another one would replace, also where its row was altered; `nil` for none.
  package var replaceable: SigningKeyRecord? { all.last { $0.retired == nil } }

  /// The key that signs, where its row is as this server wrote it.
  package var present: SigningKeyRecord? { all.last { $0.retired == nil && !$0.isAltered } }

  /// Whether somebody has removed the row of the key that signs: one is retired in the step that adds the next.
  package var isPresentRemoved: Bool { !isNew && all.allSatisfy { $0.retired != nil && !$0.isAltered } }

  /// Whether nothing is signed, since the row of the key that signs was altered or removed.
  package var isPresentMissing: Bool { !isNew && present == nil }
}
