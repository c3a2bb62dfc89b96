import Signet
import SignetPolicy
import SignetTerminal
import SignetUAFClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
  import SignetLinux
#else
  import Foundation
#endif

/// Checks a device; opens no container and makes no attempt.
struct Doctor {
  let options: DeviceOptions

  func diagnostics() async -> [Diagnostic] {
    var diagnostics = [Self.lockedMemory]
    let device: Device
    do {
      guard let opened = try options.deviceIfAny() else {
        diagnostics.append(
          Diagnostic(
            subject: "data folder", weight: .note,
            text: "nothing was activated in \(shellWord(options.folder)) yet",
            advice: "activate this device: \(command: "signet activate --qr FILE")"))
        return diagnostics
      }
      device = opened
    } catch {
      return diagnostics + [.failure("data folder", error)]
    }
    diagnostics.append(folder)
    diagnostics += await keystore(of: device)
    diagnostics += await losses(of: device)
    diagnostics.append(await clock(of: device))
    diagnostics += await gates
    do {
      let containers = try await device.containers()
      if !containers.isEmpty { diagnostics.append(Self.servers) }
      for container in containers { diagnostics += await state(of: container, on: device) }
      for container in try await device.unconfirmedContainers() {
        diagnostics.append(
          Diagnostic(
            subject: TerminalText(container.fullName), weight: .problem,
            text: "the server has not confirmed it yet",
            advice: "when its server can be reached, run \(command: "signet pending")"))
      }
      diagnostics += try await accounts(on: device)
      for notice in try await device.queuedNotices() { diagnostics.append(Self.waiting(notice)) }
    } catch { diagnostics.append(.failure("containers", error)) }
    return diagnostics
  }

  // MARK: The device

  /// Opening the vault has rejected write access of other users, and removed their read access.
  private var folder: Diagnostic {
    Diagnostic(
      subject: "data folder", weight: .fine,
      text: "\(shellWord(options.folder)) is accessible to this user only")
  }

  private func keystore(of device: Device) async -> [Diagnostic] {
    let status: KeystoreStatus
    do throws(SignetError) { status = try await device.keystoreStatus() } catch {
      return [.failure("keys", error)]
    }
    var diagnostics = [Self.keystore(status)]
    if status.isLockoutPasswordSet == false {
      diagnostics.append(
        Diagnostic(
          subject: "keys", weight: .note,
          text:
            "the TPM's lockout has no password, so whoever may use the TPM can lift its limits of guesses",
          advice: "have the administrator set one: tpm2_changeauth -c lockout"))
    }
    return diagnostics
  }

  private static func keystore(_ status: KeystoreStatus) -> Diagnostic {
    if status.kind == .software {
      return Diagnostic(
        subject: "keys", weight: .note,
        text: TerminalText(ours: ProtectionWeakness.softwareKeystore.description),
        advice: tpmAdvice)
    }
    let maker = [status.manufacturer, status.firmware].compactMap(\.self).joined(separator: " ")
    let name = maker.isEmpty ? "\(status.kind)" : "\(status.kind), \(maker)"
    if let lockout = status.lockout, lockout.isLocked {
      return Diagnostic(
        subject: "keys", weight: .problem, text: "\(name): it is in lockout after wrong guesses",
        advice: "nothing is lost; try again in at most \(lockout.secondsLeft) s")
    }
    if status.isSimulator {
      return Diagnostic(
        subject: "keys", weight: .note, text: "\(name): a simulator, not hardware",
        advice: "use a hardware TPM")
    }
    return Diagnostic(subject: "keys", weight: .fine, text: TerminalText(name))
  }

  private static var tpmAdvice: TerminalText {
    if access("/dev/tpmrm0", F_OK) == 0, access("/dev/tpmrm0", R_OK | W_OK) != 0 {
      return
        "this machine has a TPM: become a member of the group that owns /dev/tpmrm0 (often tss), and activate again"
    }
    if access("/dev/tpmrm0", R_OK | W_OK) == 0 {
      return "this machine has a TPM, and this vault was made without it: activate again in another folder"
    }
    return "this machine shows no TPM: if it has one, switch it on in the firmware's settings"
  }

  private func losses(of device: Device) async -> [Diagnostic] {
    let lost: [LostCredential]
    do throws(SignetError) { lost = try await device.lostCredentials() } catch {
      return [.failure("credentials", error)]
    }
    if lost.isEmpty {
      return [
        Diagnostic(subject: "credentials", weight: .fine, text: "all keys can be opened")
      ]
    }
    var diagnostics: [Diagnostic] = []
    for id in Set(lost.map(\.container)).sorted(by: { "\($0)" < "\($1)" }) {
      let reason = lost.first { $0.container == id }?.failure.description ?? ""
      var (subject, advice): (TerminalText, TerminalText) = (
        "container \(ours: id) is lost",
        "delete it, and activate again: \(command: "signet delete --container \(id)")"
      )
      do throws(SignetError) {
        if try await device.accounts.areStored(in: id) {
          (subject, advice) = (
            "the imported accounts are lost", "delete them (signet account clear), and import them again"
          )
        } else if try await UAFClient.storesKeys(in: id, of: device) {
          (subject, advice) = (
            "keys of FIDO UAF are lost", "remove those authenticators at their servers, and register again"
          )
        }
      } catch { diagnostics.append(.failure("credentials", error)) }
      diagnostics.append(
        Diagnostic(subject: "credentials", weight: .problem, text: "\(subject): \(reason)", advice: advice))
    }
    return diagnostics
  }

  private func clock(of device: Device) async -> Diagnostic {
    do throws(SignetError) {
      guard let seen = try await device.timeSeenAhead() else {
        return Diagnostic(subject: "clock", weight: .fine, text: "it is not behind the latest time seen")
      }
      return Diagnostic(
        subject: "clock", weight: .problem,
        text: "it is behind the latest time seen, \(ours: Moment.text(seen))",
        advice: "set it: one-time codes are wrong until then")
    } catch { return .failure("clock", error) }
  }

  /// Tries to lock the amount of memory that the first secrets need.
  private static var lockedMemory: Diagnostic {
    let byteCount = 512 * 1024
    let pages = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    defer { munmap(pages, byteCount) }
    if let pages, pages != MAP_FAILED, mlock(pages, byteCount) == 0 {
      return Diagnostic(subject: "memory", weight: .fine, text: "secrets are kept out of swap")
    }
    return Diagnostic(
      subject: "memory", weight: .problem,
      text: "this user may not lock memory, so secrets can get into swap",
      advice:
        "have the administrator allow 8 MiB, by the line “USER hard memlock 8192” in /etc/security/limits.conf, and log in again; or encrypt the swap"
    )
  }

  private var gates: [Diagnostic] {
    get async {
      #if os(Linux)
        [await Self.reader(FprintGate()), await Self.passcode(PAMPasscode())]
      #else
        []
      #endif
    }
  }

  private static func reader(_ gate: any BiometricGate) async -> Diagnostic {
    let subject: TerminalText = "fingerprints"
    do throws(BiometricFailure) {
      switch try await gate.state() {
      case .ready:
        return Diagnostic(subject: subject, weight: .fine, text: "fingers of this user are enrolled")
      case .notCapable:
        return Diagnostic(subject: subject, weight: .note, text: "there is no reader that fprintd can use")
      case .notEnrolled:
        return Diagnostic(
          subject: subject, weight: .note, text: "there is a reader, and no finger of this user is enrolled",
          advice: "enrol one in the system's settings, or with fprintd-enroll")
      }
    } catch {
      return Diagnostic(subject: subject, weight: .note, text: TerminalText(describing: error, limit: 1000))
    }
  }

  private static func passcode(_ passcode: any DevicePasscode) async -> Diagnostic {
    if await passcode.state() == .ready {
      return Diagnostic(subject: "passcode", weight: .fine, text: "PAM checks it by the service “signet”")
    }
    return Diagnostic(
      subject: "passcode", weight: .note, text: "PAM has no service “signet”, so nothing checks it",
      advice: "have the administrator write /etc/pam.d/signet, if a container is to be opened with it")
  }

  private static func waiting(_ notice: QueuedNotice) -> Diagnostic {
    Diagnostic(
      subject: TerminalText(notice.fullName), weight: .note,
      text: "the server was not notified yet of its end",
      advice:
        "signet pending notifies it from \(ours: Moment.text(notice.nextAttempt)) on; after \(ours: Moment.text(notice.expires)) its operator has to revoke the container"
    )
  }

  // MARK: Containers

  /// The doctor uses no network (decision 79).
  private static let servers = Diagnostic(
    subject: "servers", weight: .note,
    text: "none was contacted, so it is unknown whether they can be reached and are trusted",
    advice: "contact them: \(command: "signet pending")")

  private func state(of container: Container, on device: Device) async -> [Diagnostic] {
    let subject = TerminalText(container.fullName)
    var diagnostics = [
      Diagnostic(
        subject: subject, weight: .fine, text: "its id at the server is \(container.serverContainerID)")
    ]
    if let since = container.unknownToServerSince {
      diagnostics.append(
        Diagnostic(
          subject: subject, weight: .problem,
          text: "its server does not know it any more, since \(ours: Moment.text(since))",
          advice: "ask for a new activation code; signet pending asks the server once more"))
    }
    if let since = container.otherServerKeySince {
      diagnostics.append(
        Diagnostic(
          subject: subject, weight: .problem,
          text:
            "its server has answered with another key than the stored one since \(ours: Moment.text(since))",
          advice:
            "ask its operator whether the key was lost; if so, make new keys: \(command: "signet renew --container \(container.shortID)")"
        ))
    }
    do {
      diagnostics += try await lock(of: container, on: device)
      diagnostics += Self.condition(
        try await device.evaluateAccountPolicies(of: container), of: container)
      if device.weaknesses(of: container).contains(.noAuthentication) {
        diagnostics.append(
          Diagnostic(
            subject: subject, weight: .note,
            text: TerminalText(ours: ProtectionWeakness.noAuthentication.description)))
      }
      if let diagnostic = try await unlockMethods(of: container, on: device) {
        diagnostics.append(diagnostic)
      }
    } catch { diagnostics.append(.failure(subject, error)) }
    if diagnostics.count == 1 {
      diagnostics.append(Diagnostic(subject: subject, weight: .fine, text: "the container is in order"))
    }
    return diagnostics
  }

  private func lock(of container: Container, on device: Device) async throws -> [Diagnostic] {
    let subject = TerminalText(container.fullName)
    func problem(_ text: TerminalText, _ advice: TerminalText) -> [Diagnostic] {
      [Diagnostic(subject: subject, weight: .problem, text: text, advice: advice)]
    }
    switch try await ContainerState(of: container, on: device) {
    case .ready:
      guard try await device.isPasswordExpired(of: container) else { return [] }
      return problem("its password is too old", "change it: signet password change")
    case .failed(let remaining):
      let left: TerminalText = remaining.map { "; tries left: \($0)" } ?? ""
      return [Diagnostic(subject: subject, weight: .note, text: "the last password was wrong\(left)")]
    case .waiting(let seconds, _):
      return [
        Diagnostic(
          subject: subject, weight: .note, text: "it waits after wrong passwords",
          advice: "try again in \(seconds) s")
      ]
    case .lockedOut:
      return problem(
        "it is locked after too many wrong passwords",
        "use the recovery code (signet recovery reset), or ask for a new activation code")
    case .erased:
      return problem(
        "everything that its password protected was erased after too many wrong passwords",
        "ask for a new activation code")
    }
  }

  /// Returns findings about the policies and locks of a container.
  private static func condition(_ status: AccountStatus, of container: Container) -> [Diagnostic] {
    let (subject, option) = (TerminalText(container.fullName), "--container \(container.shortID)")
    func diagnostic(_ weight: Diagnostic.Weight, _ text: TerminalText, _ advice: TerminalText? = nil)
      -> Diagnostic
    {
      Diagnostic(subject: subject, weight: weight, text: text, advice: advice)
    }
    func reason(_ order: AccountLock.Order) -> TerminalText {
      order.reason.isEmpty ? "" : ": \(order.reason)"
    }
    var diagnostics = status.lock.broken.map { broken in
      diagnostic(
        .problem, "its policy \(broken.breach.policy) locks it: \(broken.breach.reason)",
        "it is unlocked as soon as the cause is fixed; \(command: "signet condition report \(option)") also reports that to its server"
      )
    }
    if let server = status.lock.server {
      diagnostics.append(
        diagnostic(
          .problem, "its server locks it\(reason(server))",
          "ask its operator to unlock it; or fix the cause, and report that: \(command: "signet condition report \(option)")"
        ))
    }
    if let manual = status.lock.manual {
      diagnostics.append(
        diagnostic(
          .note, "it was locked by hand\(reason(manual))",
          "unlock it: \(command: "signet condition unlock \(option)")"))
    }
    if let stepUp = status.stepUpReason {
      diagnostics.append(diagnostic(.note, "its server accepts no codes for now, but approvals: \(stepUp)"))
    }
    if !status.unknownPolicies.isEmpty {
      let names = status.unknownPolicies.joined(separator: ", ")
      diagnostics.append(diagnostic(.note, "unknown policies, which are not evaluated: \(names)"))
    }
    return diagnostics
  }

  /// Returns findings about imported accounts, without their password.
  private func accounts(on device: Device) async throws -> [Diagnostic] {
    let subject: TerminalText = "imported accounts"
    var diagnostics: [Diagnostic] = []
    let locks = try await device.accounts.evaluatePolicies().values.map(\.lock).filter(\.isLocked)
    if !locks.isEmpty {
      let isPolicy = locks.contains { !$0.broken.isEmpty }
      diagnostics.append(
        Diagnostic(
          subject: subject, weight: isPolicy ? .problem : .note,
          text: isPolicy ? "some are locked by their policies" : "some were locked by hand",
          advice: isPolicy
            ? "signet account list shows which"
            : "signet account list shows which, and signet account unlock unlocks them")
      )
    }
    guard try await !device.accounts.havePassword() else { return diagnostics }
    for account in try await device.accounts.enrolled() where account.push?.isUpdateDue == true {
      diagnostics.append(
        Diagnostic(
          subject: "\(account.issuer) (\(account.name))", weight: .problem,
          text: "its server does not have the current push token", advice: "send it: signet message token"))
    }
    return diagnostics
  }

  private func unlockMethods(of container: Container, on device: Device) async throws -> Diagnostic? {
    let methods = try await device.enabledUnlockMethods(of: container)
    if methods.contains(.biometrics) {
      do throws(SignetError) {
        let status = try await device.biometricStatus(for: container)
        let advice: TerminalText? = status == .invalidated ? "signet biometrics enable" : nil
        return Diagnostic(
          subject: TerminalText(container.fullName), weight: advice == nil ? .note : .problem,
          text: status == .enabled
            ? "\(ours: status); programs that run as this user can open it without either"
            : TerminalText(ours: status.description),
          advice: advice)
      } catch {
        return Diagnostic(
          subject: TerminalText(container.fullName), weight: .note,
          text: TerminalText(describing: error, limit: 1000)
        )
      }
    }
    if methods.contains(.passcode) {
      let status = try await device.passcodeStatus(for: container)
      return Diagnostic(
        subject: TerminalText(container.fullName), weight: .note,
        text: status == .enabled
          ? "\(ours: status); programs that run as this user can open it without either"
          : TerminalText(ours: status.description))
    }
    return nil
  }
}
