public import SignetCrypto
import SignetOATH

/// A one-time invite: 80 random bits and a check symbol in Crockford's base 32 (`docs/protocol.md` section 2).
///
/// The check symbol detects a typing error before anything is sent. Until it is used, the code is a secret: print it only if
/// an operator asks for it.
public struct InviteCode: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The length of a code without the check symbol, in bytes.
  public static let byteCount = 10

  private let bytes: [UInt8]

  /// Creates a random code.
  public init(random source: some RandomSource) {
    bytes = source.bytes(Self.byteCount)
  }

  /// Parses a code as a person types it: any case, with or without hyphens and spaces.
  ///
  /// - Throws: ``InviteCodeFailure`` for a wrong length, symbol or check symbol.
  public init(_ typed: String) throws(InviteCodeFailure) {
    do {
      bytes = try CrockfordBase32.decode(typed, byteCount: Self.byteCount, withCheckSymbol: true)
    } catch {
      switch error {
      case .length(_, let count): throw .length(count)
      case .symbol: throw .symbol
      default: throw .typingError
      }
    }
  }

  /// The 16 symbols in upper case without the check symbol: the input of the key derivation.
  public var inviteText: String { CrockfordBase32.encode(bytes, withCheckSymbol: false) }

  /// The code in groups of four with the check symbol last: `7K3M-9QXT-0DWA-VH2P-*`.
  public var typedForm: String { CrockfordBase32.encode(bytes, withCheckSymbol: true, groupSize: 4) }

  /// A text without the code, so that printing a value that contains an invite does not disclose it.
  public var description: String { "InviteCode(hidden)" }
  /// A mirror without the code, for the same reason.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

  /// Derives the invite key with Argon2id over ``inviteText``.
  ///
  /// - Parameters:
  ///   - salt: The salt from the server's offer, 16 bytes.
  ///   - costs: Memory, passes and lanes.
  /// - Returns: The key, 32 bytes.
  /// - Throws: `CryptoFailure` if memory runs out.
  public func key(salt: [UInt8], costs: Argon2id) throws(CryptoFailure) -> SecretBytes {
    try key(salt: salt, costs: costs, by: .argon2id)
  }

  /// Derives the invite key with a replaceable derivation: tests use a cheaper one.
  package func key(
    salt: [UInt8], costs: Argon2id, by derivation: PasswordDerivation
  ) throws(CryptoFailure) -> SecretBytes {
    try derivation.derive(SecretBytes(copying: Array(inviteText.utf8)), salt, costs)
  }
}

/// The reasons why typed input is no invite code.
@nonexhaustive public enum InviteCodeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number of symbols is not 17; the associated value is the number found.
  case length(Int)
  /// A symbol is not in Crockford's base 32.
  case symbol
  /// The check symbol does not match: one symbol is wrong, or two are swapped.
  case typingError

  /// The reason and what to do about it.
  public var description: String {
    switch self {
    case .length(let count):
      "an invite code has 17 symbols (XXXX-XXXX-XXXX-XXXX-X), this one has \(count); type it again"
    case .symbol: "an invite code has digits and letters (U only at the end); type it again"
    case .typingError: "the invite code has a typing error; compare it with what you were given"
    }
  }
}
