import Signet
import SignetJSON
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The kind of a scanned, pasted or read text, determined from its form.
enum ScannedKind {
  /// An activation code from an operator.
  case activationCode
  /// A link to a transaction for any user.
  case transactionLink
  /// An offline transaction for a device without a network.
  case carriedTransaction
  /// The digits of a transaction that the device cannot display.
  case typedDigits
  /// Accounts of authenticators.
  case accounts

  /// Determines the kind of a text; `nil` for others, such as files of other authenticators.
  init?(_ text: String) {
    let start = text.prefix(32).lowercased()
    if ["otpauth://", "otpauth-migration://", "pushauth://", "mfauth://"].contains(where: start.hasPrefix) {
      self = .accounts
    } else if start.hasPrefix("signet:transaction?") {
      self = .transactionLink
    } else if text.utf8.count == TypedApproval.challengeLength,
      text.utf8.allSatisfy({ (48...57).contains($0) })
    {
      self = .typedDigits
    } else if Self.isActivationCode(text) {
      self = .activationCode
    } else if Self.isCarriedTransaction(text) {
      self = .carriedTransaction
    } else {
      return nil
    }
  }

  /// Returns a text, unless another command accepts it.
  ///
  /// - Parameters:
  ///   - expected: The kind that the command accepts.
  ///   - text: The scanned, pasted or read text.
  /// - Returns: The text.
  /// - Throws: `CommandFailure`, which names the kind and the command for it.
  static func expect(_ expected: Self, _ text: String) throws(CommandFailure) -> String {
    guard let found = Self(text), found != expected else { return text }
    throw found.refusal
  }

  /// Returns true if an operand is a text itself and not the name of a file.
  static func isText(_ operand: String) -> Bool {
    if operand.contains("://") { return true }
    guard operand.hasPrefix("signet:") || Self(operand) != nil else { return false }
    return !FileManager.default.fileExists(atPath: operand)
  }

  /// Accepts the name of a file, and rejects a text in its place.
  ///
  /// - Throws: `CommandFailure`, which names the kind of the text and the command for it.
  static func expectFile(_ operand: String) throws(CommandFailure) {
    guard isText(operand), let found = Self(operand) else { return }
    throw found.refusal
  }

  private var refusal: CommandFailure {
    CommandFailure(.dataError, "this is \(ours: title); use \(ours: command)")
  }

  private var title: String {
    switch self {
    case .activationCode: "an activation code"
    case .transactionLink: "a link to a transaction"
    case .carriedTransaction: "a transaction for a device without a network"
    case .typedDigits: "the digits of a transaction that this device cannot display"
    case .accounts: "an account of an authenticator"
    }
  }

  private var command: String {
    switch self {
    case .activationCode: "signet activate --qr FILE, or --code-file FILE"
    case .transactionLink: "signet approve --qr FILE, or signet approve LINK"
    case .carriedTransaction: "signet approve --offline FILE"
    case .typedDigits: "signet approve --typed DIGITS"
    case .accounts: "signet scan FILE, or signet import URI"
    }
  }

  private static func isActivationCode(_ text: String) -> Bool {
    guard text.hasPrefix("{"), text.utf8.count <= ActivationCode.maximumByteCount else { return false }
    do throws(JSONFailure) {
      let object = try JSONObject(parsing: Array(text.utf8))
      return object.contains("uid") && object.contains("inv")
    } catch { return false }
  }

  private static func isCarriedTransaction(_ text: String) -> Bool {
    do throws(WireFailure) {
      _ = try OfflineTransaction.claimed(by: text)
      return true
    } catch { return false }
  }
}
