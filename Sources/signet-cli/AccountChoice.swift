import Signet
import SignetJSON
import SignetTerminal

/// What a code is made with.
enum CodeSource {
  /// What a server has provisioned.
  case container(Container)
  /// What was imported, and the password that opened it, if there is one.
  case account(Account, SharedSecretBox?)
}

extension DeviceOptions {
  /// The container or account that the command line names, or the only one.
  func codeSource(on device: Device) async throws -> CodeSource {
    guard let wanted = arguments.optionalString("name") else {
      if arguments.isSet("container") {
        return .container(try await ContainerChoice.container(arguments, of: device))
      }
      guard try await device.containers().isEmpty else {
        return .container(try await ContainerChoice.container(arguments, of: device))
      }
      let (accounts, password) = try await accounts(on: device)
      if accounts.count == 1 { return .account(accounts[0], password) }
      guard !accounts.isEmpty else {
        // Says that there is none.
        return .container(try await ContainerChoice.container(arguments, of: device))
      }
      throw CommandFailure(
        .usage, "there are \(accounts.count) accounts; name one (signet account list shows them)")
    }
    let containers = try await device.containers().filter { $0.isCalled(wanted) }
    if containers.count == 1 { return .container(containers[0]) }
    guard containers.isEmpty else {
      throw CommandFailure(
        .dataError,
        "\(containers.count) containers are called that; write more of the id (signet list shows them)")
    }
    let (accounts, password) = try await accounts(on: device)
    return .account(try AccountChoice.one(wanted, of: accounts), password)
  }

  /// All accounts that were imported, with the password that opened them, where they have one.
  func accounts(on device: Device) async throws -> (accounts: [Account], password: SharedSecretBox?) {
    let password = try await accountsPassword(on: device)
    return (try await device.accounts.list(by: password), password)
  }

  /// The password of the accounts; `nil` where they have none.
  func accountsPassword(on device: Device) async throws -> SharedSecretBox? {
    guard try await device.accounts.havePassword() else { return nil }
    return try await password(for: "the accounts")
  }
}

/// Which accounts a command is about.
enum AccountChoice {
  /// The account of this name.
  static func one(_ wanted: String, of accounts: [Account]) throws -> Account {
    let found = accounts.filter { $0.isCalled(wanted) }
    guard found.count == 1, let account = found.first else {
      guard !found.isEmpty else {
        throw CommandFailure(
          .dataError,
          "no container and no account is called that; signet list and signet account list show them")
      }
      let names = found.prefix(5).map { "\($0.id.description.prefix(8)) \($0)" }.joined(separator: ", ")
      throw CommandFailure(
        .dataError, "\(found.count) accounts are called that: \(names); write ISSUER:NAME or the id")
    }
    return account
  }

  /// The accounts of these names; all where none is named.
  static func several(_ wanted: [String], of accounts: [Account]) throws -> [Account] {
    guard !wanted.isEmpty else { return accounts }
    var chosen: [Account] = []
    for name in wanted {
      let account = try one(name, of: accounts)
      if !chosen.contains(account) { chosen.append(account) }
    }
    return chosen
  }
}

extension Account {
  /// Whether this is one of its names.
  fileprivate func isCalled(_ text: String) -> Bool {
    let wanted = text.lowercased()
    if text.count >= 8, id.description.hasPrefix(wanted) { return true }
    return ["\(issuer):\(name)", issuer, name].contains { !$0.isEmpty && $0.lowercased() == wanted }
  }

  /// What `--json` prints of an account; never the secret.
  var json: JSONObject {
    var object: JSONObject = [
      "id": .string(id.description), "issuer": .string(issuer), "name": .string(name),
      "type": .string(suite != nil ? "ocra" : isTimed ? "totp" : "hotp"),
      "algorithm": .string(algorithm.rawValue),
      "digits": .integer(Int64(digits)), "exportable": .bool(isExportable), "imported": .integer(imported),
    ]
    if let period { object["period"] = .integer(Int64(period)) }
    if let suite { object["suite"] = .string(suite.description) }
    if let challengeLengths {
      object["challengeMin"] = .integer(Int64(challengeLengths.lowerBound))
      object["challengeMax"] = .integer(Int64(challengeLengths.upperBound))
    }
    if hasCheckDigit { object["checkDigit"] = true }
    return object
  }

  /// Issuer and name, for a line at a terminal.
  var shown: String { TerminalText.sanitised(description, limit: 200) }
}
