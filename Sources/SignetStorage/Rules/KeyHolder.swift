/// The authenticator that a public key belongs to.
package struct KeyHolder: Hashable, Sendable {
  /// Its kind.
  package let kind: AuthenticatorRecord.Kind
  /// Its name among its kind.
  package let authenticator: String
  /// Whose it is.
  package let user: UserID

  /// Names an authenticator.
  package init(kind: AuthenticatorRecord.Kind, authenticator: String, user: UserID) {
    (self.kind, self.authenticator, self.user) = (kind, authenticator, user)
  }

  /// Whether this is the same authenticator of the same user.
  fileprivate func isSame(as other: Self) -> Bool {
    kind == other.kind && user == other.user && authenticator.utf8.elementsEqual(other.authenticator.utf8)
  }
}

/// A public key that the register knows: it belongs to one authenticator, also when that is revoked or removed.
package enum RegisteredPublicKey: Hashable, Sendable {
  /// This authenticator has it, or had it.
  case held(by: KeyHolder)
  /// It is a deleted user's, or nobody knows whose it is.
  case forgotten

  /// Whether an authenticator may not have it: only its holder may.
  package func isTaken(for new: KeyHolder) -> Bool {
    switch self {
    case .held(let holder): !holder.isSame(as: new)
    case .forgotten: true
    }
  }
}
