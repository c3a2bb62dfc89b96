import Signet
import SignetTerminal

enum ContainerChoice {
  static let option = Option.value(
    "container",
    "The container: the beginning of its id, its name, USER or USER@SERVER; not needed where there is one",
    short: "c",
    named: "which")

  /// Returns the container that the command line names, or the only one.
  ///
  /// - Parameters:
  ///   - arguments: The command line.
  ///   - device: The device with the containers.
  ///   - includesUnconfirmed: True to accept a container that its server has not confirmed.
  /// - Returns: The container.
  /// - Throws: `CommandFailure` unless there is exactly one, and the vault's error.
  static func container(
    _ arguments: Arguments, of device: Device, includingUnconfirmed includesUnconfirmed: Bool = false
  ) async throws -> Container {
    var all = try await device.containers()
    if includesUnconfirmed { all += try await device.unconfirmedContainers() }
    guard let query = arguments.optionalString("container") else {
      if all.count == 1, let only = all.first { return only }
      throw all.isEmpty
        ? CommandFailure(
          .configuration,
          "there is no container yet; activate this device: \(command: "signet activate --qr FILE")")
        : CommandFailure(
          .usage, "there are \(all.count) containers; name one with --container (signet list shows them)")
    }
    let found = all.filter { $0.isCalled(query) }
    guard found.count == 1, let container = found.first else {
      throw CommandFailure(
        .dataError,
        found.isEmpty
          ? "no container is called that; signet list shows them"
          : "\(found.count) containers are called that; write more of the id (signet list shows them)")
    }
    return container
  }
}

extension ContainerChoice {
  /// Returns the containers for a command without `--container`: all, in the order of `signet list`.
  ///
  /// - Parameters:
  ///   - arguments: The command line.
  ///   - device: The device with the containers.
  /// - Returns: The container that the command line names, or all.
  /// - Throws: `CommandFailure` if there is none, or not exactly one with the name.
  static func containers(_ arguments: Arguments, of device: Device) async throws -> [Container] {
    let all = try await device.containers()
    guard all.count > 1, arguments.optionalString("container") == nil else {
      return [try await container(arguments, of: device)]
    }
    return all
  }
}

extension Container {
  /// Returns true if the text is one of the container's names on this device.
  func isCalled(_ text: String) -> Bool {
    if id.description.hasPrefix(text) || "\(user.text)@\(server.shortForm)" == text { return true }
    return user.text == text || name == text
  }
}
