import Signet
import SignetJSON
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

extension Command {
  static let list = Command(
    "list", "List the containers on this device",
    description:
      "No network is needed. If there is no container yet, nothing is listed, and the exit status is 0. "
      + "If none is left, servers that were not notified of the end of the last ones are notified. "
      + "Accounts that were imported are listed by signet account list."
  ) { arguments in
    var all: [ListedContainer] = []
    let options = try DeviceOptions(arguments)
    if let device = try options.deviceIfAny() {
      for container in try await device.containers() + device.unconfirmedContainers() {
        all.append(try await ListedContainer(container, on: device))
      }
      if all.isEmpty { try await options.sendNotices(of: device, evenIfEarly: true) }
    }
    if arguments.isSet("json") {
      let list = JSONValue.array(all.map { .object($0.json) })
      arguments.output.print(json: JSONValue.object(["containers": list]).text)
      return .success
    }
    if all.isEmpty {
      arguments.errorOutput.print(DeviceOptions.noContainerMessage)
      return .success
    }
    var table = TextTable(["ID", "USER", "SERVER", "NAME", "STATE", "CREATED", "PROTECTION"])
    for listed in all { table.append(listed.row) }
    arguments.output.print(table)
    return .success
  }

  static let otp = Command(
    "otp", "Print a one-time password",
    description: """
      No network is needed. If the one-time password key has its own password, that one is asked for.

      A name is first looked up among the containers: the beginning of the id, the name, USER or USER@SERVER, as with \
      --container; then among the imported accounts: the beginning of the id (8 digits or more), ISSUER:NAME, the \
      issuer or the name, ignoring case. Without a name, the command uses the only container, or the only account if \
      there is no container.

      The code of a counter-based account is new each time, and the counter is stored before the code is shown.
      """,
    options: [ContainerChoice.option],
    arguments: [Argument("name", "The container or account", arity: .optional)]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    try await options.catchUp(with: device, prompting: false)
    let code: AccountCode
    switch try await options.codeSource(on: device) {
    case .container(let container):
      let timed = try await options.authenticated(
        container, key: .oneTimePassword, on: device, to: "Make a one-time password"
      ) {
        try await device.oneTimePassword(for: container, by: $0)
      }
      code = AccountCode(timed)
    case .account(let account, let password):
      code = try await device.accounts.code(of: account.id, by: password)
    }
    if arguments.isSet("json") {
      var object: JSONObject = ["code": .string(code.code)]
      if let validity = code.validity {
        object["validFrom"] = .integer(validity.lowerBound)
        object["validUntil"] = .integer(validity.upperBound)
      } else {
        object["counter"] = Int64(exactly: code.counter).map { .integer($0) } ?? .string(String(code.counter))
      }
      arguments.output.print(json: JSONValue.object(object).text)
    } else {
      arguments.output.print("\(ours: code.code)")
      if arguments.output.isTerminal,
        let rest = code.secondsLeft(at: Int64(Date().timeIntervalSince1970))
      {
        arguments.errorOutput.print("valid for \(rest) s")
      }
    }
    return .success
  }
}

extension Container {
  /// The beginning of the ID, as in the list.
  var shortID: String { String(id.description.prefix(8)) }

  /// The name for users.
  var fullName: String { "\(user.text) at \(server.shortForm)" }

  var json: JSONObject {
    var json: JSONObject = [
      "id": .string(id.description), "serverContainer": .string(serverContainerID.text),
      "user": .string(user.text), "server": .string(server.fullForm),
      "name": .string(name), "confirmed": .bool(isConfirmed), "created": .integer(created),
      "firstCreated": .integer(firstCreated), "renewals": .integer(renewals),
      "profile": .object(profile.json), "keys": .array(keys.map { .object($0.json) }),
    ]
    if let unknownToServerSince { json["unknownToServerSince"] = .integer(unknownToServerSince) }
    if let otherServerKeySince { json["otherServerKeySince"] = .integer(otherServerKeySince) }
    return json
  }
}

/// A time for users: local, to the second, with the offset from UTC (ISO 8601).
enum Moment {
  static func text(_ seconds: Int64) -> String {
    var (time, parts) = (time_t(seconds), tm())
    guard unsafe localtime_r(&time, &parts) != nil else { return "\(seconds) s since 1970" }
    let offset = parts.tm_gmtoff / 60
    func digits(_ number: Int, _ count: Int = 2) -> String {
      let text = String(abs(number))
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let date =
      "\(digits(Int(parts.tm_year) + 1900, 4))-\(digits(Int(parts.tm_mon) + 1))-\(digits(Int(parts.tm_mday)))"
    let clock = "\(digits(Int(parts.tm_hour))):\(digits(Int(parts.tm_min))):\(digits(Int(parts.tm_sec)))"
    let zone = offset == 0 ? "Z" : "\(offset < 0 ? "-" : "+")\(digits(offset / 60)):\(digits(offset % 60))"
    return "\(date)T\(clock)\(zone)"
  }
}
