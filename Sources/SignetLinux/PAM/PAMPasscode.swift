import SignetCrypto
import SignetSystem
public import SignetVault
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The passcode of the user's own account on Linux, by PAM.
///
/// PAM asks for the factors in the service's file: a password, a smart card, or several of them. The device's administrator writes
/// the file `/etc/pam.d/signet`; without it the device is not capable. This file asks for the same factors as a login:
///
/// ```
/// auth    include common-auth
/// account include common-account
/// ```
///
/// The check runs inside of this process, as its user. `pam_unix` has a helper program for passwords that only root can read; it
/// lets each user verify their own.
public final class PAMPasscode: DevicePasscode {
  private let service: String
  private let folder: String?
  private let timeLimit: Duration
  private let isActive = Mutex(false)

  /// Creates a passcode check by a PAM service of the system.
  ///
  /// - Parameters:
  ///   - service: The name of its file: letters, digits, `-`, `_` and `.` of ASCII.
  ///   - timeLimit: The time-out for all answers of the user together.
  /// - Precondition: The name is valid.
  public convenience init(service: String = "signet", timeLimit: Duration = .seconds(120)) {
    self.init(service: service, folder: nil, timeLimit: timeLimit)
  }

  /// Creates a passcode check by a PAM service in a folder, or of the system.
  ///
  /// - Parameters:
  ///   - service: The name of its file.
  ///   - folder: The folder of the file, instead of the system's folders.
  ///   - timeLimit: The time-out for all answers of the user together.
  package init(service: String, folder: String?, timeLimit: Duration = .seconds(120)) {
    let isName = service.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
    precondition(
      isName && service.contains { $0 != "." }, "a PAM service is named by letters, digits, -, _ and .")
    self.service = service
    self.folder = folder
    self.timeLimit = timeLimit
  }

  /// Ready if the service has a file; without one PAM would use the unrelated rules of `other`.
  public func state() async -> DevicePasscodeState {
    let folders = folder.map { [$0] } ?? ["/etc/pam.d", "/usr/lib/pam.d"]
    let exists = folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(service)") }
    return exists ? .ready : .notCapable
  }

  /// Authenticates the user with PAM, and checks that the account may be used.
  ///
  /// - Throws: ``DevicePasscodeFailure``.
  public func verify(
    _ reason: String, conversation: any PasscodeConversation
  ) async throws(DevicePasscodeFailure) {
    guard await state() == .ready else { throw .notCapable }
    let isFirst = isActive.withLock { isActive in
      defer { isActive = true }
      return !isActive
    }
    guard isFirst else { throw .busy }
    defer { isActive.withLock { $0 = false } }
    let bridge = PAMConversationBridge(reason: reason, conversation: conversation, timeLimit: timeLimit)
    let transaction = PAMTransaction(service: service, folder: folder, bridge: bridge)
    let failure = await withTaskCancellationHandler {
      await BlockingExecutor(label: "signet.pam").run { () -> DevicePasscodeFailure? in
        // Modules leave parts of the answer on the stack of the calling thread.
        var failure: DevicePasscodeFailure?
        let isRun = WipedThread.run {
          do throws(DevicePasscodeFailure) { try transaction.run() } catch { failure = error }
        }
        return isRun ? failure : .unavailable("the system has no thread left; close other programs")
      }
    } onCancel: {
      bridge.end(.cancelled)
    }
    if let failure { throw failure }
  }
}
