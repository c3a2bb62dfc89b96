public import SignetCrypto
import SignetOATH

/// A one-time invite: 80 random bits and a check symbol in Crockford's base 32 (`docs/protocol.md` section 2).
///
/// The check symbol catches a typing error before anything is sent. The code is a secret until it is used: it is
/// printed only where an operator asks for it.
public struct InviteCode: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The bytes of a code.
  public static let byteCount = 10

  private let bytes: [UInt8]

  /// Makes a fresh code.
  public init(random source: some RandomSource) {
    bytes = source.bytes(Self.byteCount)
  }

  /// Reads a code as a person types it: any case, with or without hyphens and spaces.
  ///
  /// - Throws: ``InviteCodeFailure``.
  public init(_ typed: String) throws(InviteCodeFailure) {
    do {
      bytes = try CrockfordBase32.decode(typed, byteCount: Self.byteCount, withCheckSymbol: true)
    } catch {
      switch error {
      case .length(_, let found): throw .length(found)
      case .symbol: throw .symbol
      default: throw .typingError
      }
    }
  }

  /// The 16 symbols in upper case, without the check symbol: what the key derivation takes.
  public var inviteText: String { CrockfordBase32.encode(bytes, withCheckSymbol: false) }

  /// The code in groups of four, the check symbol last: `7K3M-9QXT-0DWA-VH2P-*`.
  public var typedForm: String { CrockfordBase32.encode(bytes, withCheckSymbol: true, groupSize: 4) }

  /// A text without the code, so that printing a value that holds an invite does not give it away.
  public var description: String { "InviteCode(hidden)" }
  /// A mirror without the code, for the same reason.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

  /// The key that both sides derive from the invite: Argon2id over ``inviteText``, 32 bytes.
  ///
  /// - Parameters:
  ///   - salt: 16 bytes, from the server's offer.
  ///   - costs: Memory, passes and lanes.
  /// - Returns: 32 bytes.
  /// - Throws: `CryptoFailure` when memory runs out.
  public func key(salt: [UInt8], costs: Argon2id) throws(CryptoFailure) -> SecretBytes {
    try key(salt: salt, costs: costs, by: .argon2id)
  }

  /// The same with a derivation that a test shortens.
  package func key(
    salt: [UInt8], costs: Argon2id, by derivation: PasswordDerivation
  ) throws(CryptoFailure) -> SecretBytes {
    try derivation.derive(SecretBytes(copying: Array(inviteText.utf8)), salt, costs)
  }
}

/// Why what was typed is not an invite code.
@nonexhaustive public enum InviteCodeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The code has another number of symbols than 17.
  case length(Int)
  /// A symbol is not of Crockford's base 32.
  case symbol
  /// The check symbol does not fit: one symbol is wrong, or two are swapped.
  case typingError

  /// What to do.
  public var description: String {
    switch self {
    case .length(let found):
      "an invite code has 17 symbols (XXXX-XXXX-XXXX-XXXX-X), this one has \(found); type it again"
    case .symbol: "an invite code has digits and letters (no U but at the end); type it again"
    case .typingError: "the invite code has a typing error; compare it with what you were given"
    }
  }
}
