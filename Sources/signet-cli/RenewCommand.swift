import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let renew = Command(
    "renew", "Renew the keys of a container, under the rules that its server has now",
    description: """
      All keys are replaced; encrypted data stays readable. The current keys stay valid until the server has confirmed \
      the new ones; if the connection fails, run the same command again.

      Passwords stay, unless the server's new rules do not allow them: then new ones are asked for. Biometrics and \
      recovery codes belong to the current keys: enable and print them again. With --password-fd the current passwords \
      come first: that of the container, then those of the signing key, the one-time password key and the session key, \
      if they have their own. New passwords, if needed, follow in the same order.
      """,
    options: [ContainerChoice.option]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    let notices = try await noticesOfVoidMethods(of: container, on: device)
    let progress = ProgressLine(on: arguments.errorOutput)
    let handler = TerminalActivation(options: options, progress: progress, renewing: container)
    let renewed: Container
    do {
      let password = try await options.password(for: container)
      var keyPasswords: [Key.Usage: SharedSecretBox] = [:]
      for key in Key.Usage.allCases {
        // An interrupted renewal continues, and uses the new password of this key.
        let owner = try await key == .sessionTransport ? device.staged(inPlaceOf: container) : container
        guard owner.hasOwnProtection(key) else { continue }
        keyPasswords[key] = try await options.password(for: owner, key: key)
      }
      renewed = try await device.renew(
        container, password: password, keyPasswords: keyPasswords, handler: handler)
    } catch {
      progress.finish()
      throw handler.failure ?? container.server.named(error)
    }
    progress.finish()
    if arguments.isSet("json") {
      arguments.output.print(json: JSONValue.object(renewed.json).text)
    } else {
      arguments.output.print("Renewed \(renewed.fullName).")
    }
    for notice in notices { arguments.errorOutput.print(notice) }
    return .success
  }

  /// Returns the recovery codes and biometrics that the renewal invalidates, with the command that renews each.
  private static func noticesOfVoidMethods(
    of container: Container, on device: Device
  ) async throws -> [TerminalText] {
    var sentences: [TerminalText] = []
    for key in [nil] + Key.Usage.allCases.filter(container.hasOwnProtection) {
      let (subject, option) = key.map { ("the \($0)", " --key \($0.name)") } ?? ("the container", "")
      if try await device.hasRecoveryCode(for: container, key: key) {
        sentences.append(
          "The earlier recovery code of \(ours: subject) is invalid; make another: \(command: "signet recovery create\(option)")"
        )
      }
      let methods = try await device.enabledUnlockMethods(of: container, key: key)
      if methods.contains(.biometrics) {
        sentences.append(
          "Fingerprints do not open \(ours: subject) any more; enable them again: \(command: "signet biometrics enable\(option)")"
        )
      }
      if methods.contains(.passcode) {
        sentences.append(
          "The passcode of this device does not open \(ours: subject) any more; enable it again: \(command: "signet passcode enable\(option)")"
        )
      }
    }
    return sentences
  }
}

extension Device {
  /// Returns the container stored by an interrupted renewal; the container itself if there is none.
  fileprivate func staged(inPlaceOf container: Container) async throws -> Container {
    let staged = try await unconfirmedContainers()
    return staged.first { $0.user == container.user && $0.server == container.server } ?? container
  }
}
