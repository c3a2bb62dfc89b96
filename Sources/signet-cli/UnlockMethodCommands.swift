import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let biometrics = Command(
    "biometrics", "Let a fingerprint open a container instead of the password",
    commands: [
      Command(
        "enable", "Let a fingerprint open the container from now on",
        description: """
          The password is asked for first, and still opens the container afterwards. When a finger is enrolled or \
          removed in the system's settings, fingerprints open nothing any more until this is done again.

          A fingerprint reader on Linux only reports a match, and this program then opens the container: programs that \
          run as this user can open it without a finger.
          """, options: [ContainerChoice.option, KeyChoice.option]
      ) { arguments in
        let (options, device, container, key) = try await chosen(arguments)
        switch try await device.biometricStatus(for: container, key: key) {
        case .notOffered: throw SignetError.unlockMethodNotOffered(.biometrics)
        case .notCapable: throw SignetError.biometrics(.notCapable)
        case .notEnrolled: throw SignetError.biometrics(.notEnrolled)
        default: break
        }
        if let password = try await options.password(for: container, key: key) {
          try await device.enableBiometrics(for: container, key: key, password: password)
        }
        report(try await device.biometricStatus(for: container, key: key), container, arguments)
        return .success
      },
      Command(
        "disable", "Stop fingerprints from opening the container",
        options: [ContainerChoice.option, KeyChoice.option]
      ) { arguments in
        let (_, device, container, key) = try await chosen(arguments)
        try await device.disableBiometrics(for: container, key: key)
        arguments.report("Fingerprints do not open the container.", status(container, "notEnabled"))
        return .success
      },
      Command(
        "status", "Show whether a fingerprint opens the container",
        description: "The exit status is 0 if one does, 1 if none does.",
        options: [ContainerChoice.option, KeyChoice.option]
      ) { arguments in
        let (_, device, container, key) = try await chosen(arguments)
        let status = try await device.biometricStatus(for: container, key: key)
        report(status, container, arguments)
        return status == .enabled ? .success : .failure
      },
    ])

  static let passcode = Command(
    "passcode", "Let the passcode of this device open a container instead of the password",
    commands: [
      Command(
        "enable", "Let the passcode of this device open the container from now on",
        description: """
          The passcode is what this account logs in with: PAM checks it, by its service “signet” (/etc/pam.d/signet). \
          The container's password is asked for first, and still opens the container afterwards.

          PAM only reports a match, and this program then opens the container: programs that run as this user can open \
          it without the passcode.
          """, options: [ContainerChoice.option, KeyChoice.option]
      ) { arguments in
        let (options, device, container, key) = try await chosen(arguments)
        switch try await device.passcodeStatus(for: container, key: key) {
        case .notOffered: throw SignetError.unlockMethodNotOffered(.passcode)
        case .notCapable: throw SignetError.passcode(.notCapable)
        default: break
        }
        if let password = try await options.password(for: container, key: key) {
          try await device.enablePasscode(for: container, key: key, password: password)
        }
        report(try await device.passcodeStatus(for: container, key: key), container, arguments)
        return .success
      },
      Command(
        "disable", "Stop the passcode of this device from opening the container",
        options: [ContainerChoice.option, KeyChoice.option]
      ) { arguments in
        let (_, device, container, key) = try await chosen(arguments)
        try await device.disablePasscode(for: container, key: key)
        arguments.report(
          "The passcode of this device does not open the container.", status(container, "notEnabled"))
        return .success
      },
      Command(
        "status", "Show whether the passcode of this device opens the container",
        description: "The exit status is 0 if it does, 1 if it does not.",
        options: [ContainerChoice.option, KeyChoice.option]
      ) { arguments in
        let (_, device, container, key) = try await chosen(arguments)
        let status = try await device.passcodeStatus(for: container, key: key)
        report(status, container, arguments)
        return status == .enabled ? .success : .failure
      },
    ])

  private static func chosen(_ arguments: Arguments) async throws
    -> (DeviceOptions, Device, Container, Key.Usage?)
  {
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    return (options, device, container, try KeyChoice.key(arguments, of: container))
  }

  private static func report<Status: RawRepresentable<String> & CustomStringConvertible>(
    _ value: Status, _ container: Container, _ arguments: Arguments
  ) {
    let text = value.description
    arguments.report(
      "\(ours: text.prefix(1).uppercased() + text.dropFirst()).", status(container, value.rawValue))
  }

  private static func status(_ container: Container, _ state: String) -> JSONObject {
    ["container": .string(container.id.description), "status": .string(state)]
  }
}
