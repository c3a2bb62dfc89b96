import Foundation
import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let list = Command("list", "List the containers on this device") { arguments in
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let confirmed = try await device.containers()
    let all = confirmed + (try await device.unconfirmedContainers())
    if arguments.isSet("json") {
      arguments.output.print(JSONValue.object(["containers": .array(all.map { .object($0.json) })]).text)
      return .success
    }
    if all.isEmpty {
      arguments.errorOutput.print(
        "There is no container yet; activate this device: signet activate --qr FILE")
      return .success
    }
    var table = TextTable(["ID", "USER", "SERVER", "NAME", "STATE", "CREATED"])
    for container in all {
      table.append([
        String(container.id.description.prefix(8)), container.user.text, container.server.shortForm,
        container.name,
        container.isConfirmed ? "active" : "not confirmed", Moment.text(container.created),
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
    let code = try await device.oneTimePassword(
      for: container, by: options.password(for: container).map { .password($0) })
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
