import Foundation
import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let list = Command("list", "List the containers on this device") { arguments in
    var all: [(container: Container, state: ContainerState)] = []
    if let device = try DeviceOptions(arguments).deviceIfAny() {
      for container in try await device.containers() + device.unconfirmedContainers() {
        all.append((container, try await ContainerState(of: container, on: device)))
      }
    }
    if arguments.isSet("json") {
      let list = all.map { container, state in
        var json = container.json
        json["lock"] = .object(state.json)
        return JSONValue.object(json)
      }
      arguments.output.print(JSONValue.object(["containers": .array(list)]).text)
      return .success
    }
    if all.isEmpty {
      arguments.errorOutput.print(DeviceOptions.nothingYet)
      return .success
    }
    var table = TextTable(["ID", "USER", "SERVER", "NAME", "STATE", "CREATED"])
    for (container, state) in all {
      table.append([
        String(container.id.description.prefix(8)), container.user.text, container.server.shortForm,
        container.name, container.isConfirmed ? state.description : "not confirmed",
        Moment.text(container.created),
      ])
    }
    arguments.output.write(table.text)
    return .success
  }

  static let otp = Command(
    "otp", "Print a one-time password", description: "No network is needed.",
    options: [ContainerChoice.option]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    try await options.catchUp(with: device)
    let container = try await ContainerChoice.container(arguments, of: device)
    let code = try await options.authenticated(container, on: device, to: "Make a one-time password") {
      try await device.oneTimePassword(for: container, by: $0)
    }
    if arguments.isSet("json") {
      let object: JSONObject = [
        "code": .string(code.code), "validFrom": .integer(code.validFrom),
        "validUntil": .integer(code.validUntil),
      ]
      arguments.output.print(JSONValue.object(object).text)
    } else {
      arguments.output.print(code.code)
      if arguments.output.isTerminal {
        let rest = code.validUntil - Int64(Date().timeIntervalSince1970)
        arguments.errorOutput.print("valid for \(max(0, rest)) s")
      }
    }
    return .success
  }
}

extension Container {
  /// What it is called in a prompt.
  var fullName: String { "\(user.text) at \(server.shortForm)" }

  /// What `--json` prints of a container.
  var json: JSONObject {
    [
      "id": .string(id.description), "user": .string(user.text), "server": .string(server.fullForm),
      "name": .string(name), "confirmed": .bool(isConfirmed), "created": .integer(created),
      "firstCreated": .integer(firstCreated), "renewals": .integer(renewals),
      "profile": .object(profile.json),
    ]
  }
}

/// A point in time, for people: local, to the second, with the offset from UTC (ISO 8601).
enum Moment {
  static func text(_ seconds: Int64) -> String {
    let formatter = ISO8601DateFormatter()
    formatter.timeZone = .current
    return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
  }
}
