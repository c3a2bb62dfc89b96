import SignetCrypto
import SignetSystem

/// The SHA-256 digest that identifies a public key of any kind of authenticator.
///
/// For a key on an elliptic curve its input is the uncompressed point, X9.63, which is the format of containers' keys; for
/// an RSA key it is the SubjectPublicKeyInfo. So a key has one digest, independent of the authenticator's encoding.
package struct PublicKeyDigest: Hashable, Sendable {
  /// 32 bytes.
  package let bytes: [UInt8]

  /// Computes the digest of a key.
  ///
  /// - Parameter key: The point or the SubjectPublicKeyInfo.
  package init(of key: [UInt8]) { bytes = HashFunction.sha256.digest(of: key) }
}

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
    kind == other.kind && user == other.user && authenticator.hasSameBytes(as: other.authenticator)
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
