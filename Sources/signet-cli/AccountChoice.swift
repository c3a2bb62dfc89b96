import Signet
import SignetJSON
import SignetTerminal

/// The key material for a code.
enum CodeSource {
  /// A container that a server has provisioned.
  case container(Container)
  /// An imported account, and the password that opened it, if any.
  case account(Account, SharedSecretBox?)
}

extension DeviceOptions {
  /// Returns the container or account that the command line names, or the only one.
  func codeSource(on device: Device) async throws -> CodeSource {
    guard let query = arguments.optionalString("name") else {
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
        // Throws the message for a device without containers.
        return .container(try await ContainerChoice.container(arguments, of: device))
      }
      throw CommandFailure(
        .usage, "there are \(codes.count) accounts; name one (signet account list shows them)")
    }
    let containers = try await device.containers().filter { $0.isCalled(query) }
    if containers.count == 1 { return .container(containers[0]) }
    guard containers.isEmpty else {
      throw CommandFailure(
        .dataError,
        "\(containers.count) containers are called that; write more of the id (signet list shows them)")
    }
    let (accounts, password) = try await accounts(on: device)
    return .account(
      try AccountChoice.codes(query, of: accounts, orContainers: true), password)
  }

  /// Returns all imported and enrolled accounts, with the password that opened them, if any.
  func accounts(
    on device: Device
  ) async throws -> (accounts: [ListedAccount], password: SharedSecretBox?) {
    let password = try await accountsPassword(on: device)
    return (try await ListedAccount.all(on: device, by: password), password)
  }

  /// Runs a body with the password of the accounts; `nil` if they have none.
  ///
  /// The password is wiped when this returns. The body therefore returns the result, and the caller prints it.
  func withAccountsPassword<Value>(
    on device: Device, _ body: (SharedSecretBox?) async throws -> Value
  ) async throws -> Value {
    let password = try await accountsPassword(on: device)
    return try await body(password)
  }

  /// Returns the password of the accounts; `nil` if they have none.
  func accountsPassword(on device: Device) async throws -> SharedSecretBox? {
    guard try await device.accounts.havePassword() else { return nil }
    return try await password(for: "the accounts")
  }
}

enum AccountChoice {
  /// Returns the account with this name.
  ///
  /// - Parameters:
  ///   - query: The name.
  ///   - accounts: All accounts.
  ///   - mayBeContainer: True if containers were searched as well, for the error message.
  /// - Returns: The account.
  /// - Throws: `CommandFailure` unless there is exactly one.
  static func one(
    _ query: String, of accounts: [ListedAccount], orContainers mayBeContainer: Bool = false
  ) throws(CommandFailure) -> ListedAccount {
    let found = accounts.filter { $0.isCalled(query) }
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

  /// Returns the code generator of the account with this name or ID.
  ///
  /// - Throws: `CommandFailure` like ``one(_:of:orContainers:)``, and if the account makes no codes or several kinds.
  static func codes(
    _ query: String, of accounts: [ListedAccount], orContainers mayBeContainer: Bool = false
  ) throws(CommandFailure) -> Account {
    let account = try one(query, of: accounts, orContainers: mayBeContainer)
    if query.count >= 8,
      let match = account.codes.first(where: { $0.id.description.hasPrefix(query.lowercased()) })
    {
      return match
    }
    return try account.onlyCodes()
  }

  /// Returns the code generators of the named accounts; of all accounts if none is named.
  static func several(
    _ query: [String], of accounts: [ListedAccount]
  ) throws(CommandFailure) -> [Account] {
    guard !query.isEmpty else { return accounts.flatMap(\.codes) }
    var chosen: [Account] = []
    for name in query {
      let account = try one(name, of: accounts)
      // An account without codes gets an error message of its own.
      if account.codes.isEmpty { _ = try account.onlyCodes() }
      for codes in account.codes where !chosen.contains(codes) { chosen.append(codes) }
    }
    return chosen
  }
}

extension Account {
  /// The `--json` form of an account; never the secret.
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

  var shown: TerminalText { TerminalText(description, limit: 200) }
}
