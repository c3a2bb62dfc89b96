/// The authenticator to which a public key belongs.
package struct KeyHolder: Hashable, Sendable {
  /// Its kind.
  package let kind: AuthenticatorRecord.Kind
  /// Its id among its kind.
  package let authenticator: String
  /// The user.
  package let user: UserID

  /// Makes a holder.
  package init(kind: AuthenticatorRecord.Kind, authenticator: String, user: UserID) {
    self.kind = kind
    self.authenticator = authenticator
    self.user = user
  }

  /// Returns `true` if this is the same authenticator of the same user.
  fileprivate func isSame(as other: Self) -> Bool {
    kind == other.kind && user == other.user && authenticator.utf8.elementsEqual(other.authenticator.utf8)
  }
}

/// A public key in the register: it belongs to one authenticator, even after that was revoked or removed.
package enum RegisteredPublicKey: Hashable, Sendable {
  /// It belongs, or belonged, to this authenticator.
  case held(by: KeyHolder)
  /// It belongs to a deleted user, or its owner is unknown.
  case forgotten

  /// Returns `true` if an authenticator cannot have it, because it is not the holder.
  package func isTaken(for new: KeyHolder) -> Bool {
    switch self {
    case .held(let holder): !holder.isSame(as: new)
    case .forgotten: true
    }
  }
}
