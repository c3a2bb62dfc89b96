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
      let codes = accounts.flatMap(\.codes)
      if codes.count == 1, let only = codes.first { return .account(only, password) }
      guard !codes.isEmpty else {
        // Says that there is none.
        return .container(try await ContainerChoice.container(arguments, of: device))
      }
      throw CommandFailure(
        .usage, "there are \(codes.count) accounts; name one (signet account list shows them)")
    }
    let containers = try await device.containers().filter { $0.isCalled(wanted) }
    if containers.count == 1 { return .container(containers[0]) }
    guard containers.isEmpty else {
      throw CommandFailure(
        .dataError,
        "\(containers.count) containers are called that; write more of the id (signet list shows them)")
    }
    let (accounts, password) = try await accounts(on: device)
    return .account(
      try AccountChoice.codes(wanted, of: accounts, orContainers: true), password)
  }

  /// All accounts that were imported or enrolled, with the password that opened them, where they have one.
  func accounts(
    on device: Device
  ) async throws -> (accounts: [ListedAccount], password: SharedSecretBox?) {
    let password = try await accountsPassword(on: device)
    return (try await ListedAccount.all(on: device, by: password), password)
  }

  /// Runs a body with the password of the accounts; `nil` where they have none.
  ///
  /// The password is wiped when this returns. So a body returns what is to be printed, and prints no result.
  func withAccountsPassword<Value>(
    on device: Device, _ body: (SharedSecretBox?) async throws -> Value
  ) async throws -> Value {
    let password = try await accountsPassword(on: device)
    return try await body(password)
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
  ///
  /// - Parameters:
  ///   - wanted: The name.
  ///   - accounts: Those that there are.
  ///   - mayBeContainer: Whether containers were looked at before, for what is said where there is none.
  /// - Returns: The account.
  /// - Throws: `CommandFailure` unless there is exactly one.
  static func one(
    _ wanted: String, of accounts: [ListedAccount], orContainers mayBeContainer: Bool = false
  ) throws(CommandFailure) -> ListedAccount {
    let found = accounts.filter { $0.isCalled(wanted) }
    guard found.count == 1, let account = found.first else {
      guard !found.isEmpty else {
        throw CommandFailure(
          .dataError,
          mayBeContainer
            ? "no container and no account is called that; signet list and signet account list show them"
            : "no account is called that; signet account list shows them")
      }
      let names = found.prefix(5).map { "\($0.id.shortForm) \($0.shown)" }.joined(separator: ", ")
      let fullNames = Set(found.map { "\($0.issuer):\($0.name)".lowercased() })
      let step = fullNames.count == found.count ? "write ISSUER:NAME or the id" : "name one by its id"
      throw CommandFailure(
        .dataError, "\(found.count) accounts are called that: \(names); \(ours: step)")
    }
    return account
  }

  /// What makes the codes of the account of this name, or of this id.
  ///
  /// - Throws: `CommandFailure`, as ``one(_:of:orContainers:)``, and where it makes none, or in several ways.
  static func codes(
    _ wanted: String, of accounts: [ListedAccount], orContainers mayBeContainer: Bool = false
  ) throws(CommandFailure) -> Account {
    let account = try one(wanted, of: accounts, orContainers: mayBeContainer)
    if wanted.count >= 8,
      let named = account.codes.first(where: { $0.id.description.hasPrefix(wanted.lowercased()) })
    {
      return named
    }
    return try account.onlyCodes()
  }

  /// What makes the codes of the accounts of these names; of all where none is named.
  static func several(
    _ wanted: [String], of accounts: [ListedAccount]
  ) throws(CommandFailure) -> [Account] {
    guard !wanted.isEmpty else { return accounts.flatMap(\.codes) }
    var chosen: [Account] = []
    for name in wanted {
      let account = try one(name, of: accounts)
      // One that makes none is named as such.
      if account.codes.isEmpty { _ = try account.onlyCodes() }
      for codes in account.codes where !chosen.contains(codes) { chosen.append(codes) }
    }
    return chosen
  }
}

extension Account {
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
  var shown: TerminalText { TerminalText(description, limit: 200) }
}
