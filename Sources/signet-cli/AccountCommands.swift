import Signet
import SignetJSON
import SignetPolicy
import SignetTerminal

extension Command {
  static let account = Command(
    "account", "Manage the accounts that were imported",
    commands: [
      Command(
        "list", "List them",
        description: """
          Neither secrets nor codes are shown. Accounts that receive push messages have the type push; signet message \
          list shows the messages.
          """
      ) { arguments in
        let options = try DeviceOptions(arguments)
        var accounts: [(account: ListedAccount, status: AccountStatus?)] = []
        if let device = try options.deviceIfAny() {
          let found = try await options.accounts(on: device).accounts
          let statusByPart = try await device.accounts.evaluatePolicies()
          accounts = found.map { account in
            let statuses = account.parts.compactMap { statusByPart[$0] }
            return (account, statuses.first(where: \.lock.isLocked) ?? statuses.first)
          }
        }
        if arguments.isSet("json") {
          let list = JSONValue.array(accounts.map { .object($0.json($1)) })
          arguments.output.print(json: JSONValue.object(["accounts": list]).text)
          return .success
        }
        if accounts.isEmpty {
          arguments.errorOutput.print("Nothing was imported yet; see signet import and signet scan.")
          return .success
        }
        var table = TextTable([
          "ID", .init("ISSUER", limit: 40), .init("NAME", limit: 60), "TYPE", "STATE", "EXPORTABLE",
          "IMPORTED",
        ])
        for (account, status) in accounts { table.append(account.row(status)) }
        arguments.output.print(table)
        return .success
      },
      respond,
      Command(
        "rename", "Give an account another issuer or name",
        options: [
          .value("issuer", "The new issuer", named: "text"), .value("to", "The new name", named: "text"),
        ], arguments: [accountArgument]
      ) { arguments in
        guard arguments.isSet("issuer") || arguments.isSet("to") else {
          throw CommandFailure(.usage, "give --issuer, --to or both")
        }
        let (issuer, name) = (arguments.optionalString("issuer"), arguments.optionalString("to"))
        let renamed = try await withChosen(arguments) { device, account, password in
          if account.isEnrolled {
            return ListedAccount(
              try await device.accounts.renameEnrolled(account.id, issuer: issuer, name: name, by: password))
          }
          let codes = try account.onlyCodes().id
          return ListedAccount(
            try await device.accounts.rename(codes, issuer: issuer, name: name, by: password))
        }
        arguments.report("Renamed to \(renamed.shown).", renamed.json())
        return .success
      },
      Command(
        "delete", "Delete an account with all its secrets, for good",
        description: """
          A deleted account cannot be restored: export it first, or have its issuer set it up again. Push messages of \
          the account are deleted with it; its server is not notified, and may send more.
          """,
        options: [.flag("yes", "Do not ask for confirmation", short: "y")], arguments: [accountArgument]
      ) { arguments in
        let deleted: ListedAccount? = try await withChosen(arguments) { device, account, password in
          guard try await arguments.confirmsDeletion("Delete \(account.shown) for good") else { return nil }
          if account.isEnrolled {
            try await device.accounts.removeEnrolled(account.id, by: password)
          } else {
            try await device.accounts.delete(account.id, by: password)
          }
          return account
        }
        guard let deleted else { return .failure }
        arguments.report("Deleted \(deleted.shown).", ["deleted": .string(deleted.id.description)])
        return .success
      },
      Command(
        "lock", "Lock an account: it makes no codes and approves nothing until it is unlocked",
        options: [.value("reason", "Why", named: "text")], arguments: [accountArgument]
      ) { arguments in
        let reason = arguments.optionalString("reason") ?? ""
        let (account, lock) = try await withChosen(arguments) { device, account, password in
          (account, try await device.accounts.lock(account.id, reason: reason, by: password))
        }
        arguments.report("Locked \(account.shown).", ["lock": .object(lock.json)])
        return .success
      },
      Command(
        "unlock", "Unlock an account that was locked by hand, or after inactivity",
        arguments: [accountArgument]
      ) { arguments in
        let (account, lock) = try await withChosen(arguments) { device, account, password in
          (account, try await device.accounts.unlock(account.id, by: password))
        }
        arguments.report(
          "\(account.shown): \(lock.description, limit: 1000).",
          ["lock": .object(lock.json)])
        return lock.isLocked ? .failure : .success
      },
      Command(
        "clear", "Delete all accounts, also where their password is forgotten",
        description: "Deleted accounts cannot be restored. No password is asked for.",
        options: [.flag("yes", "Do not ask for confirmation", short: "y")]
      ) { arguments in
        let device = try DeviceOptions(arguments).device(createIfMissing: false)
        guard try await arguments.confirmsDeletion("Delete all accounts that were imported, for good") else {
          return .failure
        }
        try await device.accounts.deleteAll()
        arguments.report("All accounts were deleted.", ["deleted": .bool(true)])
        return .success
      },
      Command(
        "protect", "Set or change the password of the accounts",
        description: """
          The accounts can then be opened only with this password on this device. With --password-fd the current \
          password comes first, if there is one, and then the new one.
          """
      ) { arguments in
        let outcome = try await protected(arguments)
        arguments.report("The accounts have this password now.", ["password": .bool(true)])
        arguments.warn(of: outcome)
        return .success
      },
      Command("unprotect", "Remove the password of the accounts: the device alone then protects them") {
        arguments in
        let outcome = try await unprotected(arguments)
        arguments.report("The device alone opens the accounts now.", ["password": .bool(false)])
        arguments.warn(of: outcome)
        return .success
      },
    ])

  // Functions that ask for passwords return before any output, so that the passwords are wiped by then.

  private static func protected(_ arguments: Arguments) async throws -> PasswordChangeOutcome {
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: true)
    let present = try await options.accountsPassword(on: device)
    // Verify the present password before asking for a new one.
    _ = try await device.accounts.list(by: present)
    let new = try await options.newPassword(under: Accounts.passwordPolicy, .none, .change)
    return try await device.accounts.setPassword(new, by: present)
  }

  private static func unprotected(_ arguments: Arguments) async throws -> PasswordChangeOutcome {
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    guard let present = try await options.accountsPassword(on: device) else {
      throw CommandFailure(.dataError, "the accounts have no password")
    }
    return try await device.accounts.setPassword(nil, by: present)
  }

  static let accountArgument = Argument("account", "ISSUER:NAME, the issuer, the name, or the id")

  /// Runs a body with the account that the command line names, and the password of the accounts, like
  /// ``DeviceOptions/withAccountsPassword(on:_:)``.
  private static func withChosen<Value>(
    _ arguments: Arguments, _ body: (Device, ListedAccount, SharedSecretBox?) async throws -> Value
  ) async throws -> Value {
    try await withAccounts(arguments) { device, accounts, password in
      try await body(device, try AccountChoice.one(arguments.string("account"), of: accounts), password)
    }
  }

  /// Runs a body with the code generator of the account that the command line names, in the same way.
  static func withChosenCodes<Value>(
    _ arguments: Arguments, secretsFrom others: [String],
    _ body: (Device, Account, SharedSecretBox?) async throws -> Value
  ) async throws -> Value {
    try await withAccounts(arguments, secretsFrom: others) { device, accounts, password in
      try await body(device, try AccountChoice.codes(arguments.string("account"), of: accounts), password)
    }
  }

  private static func withAccounts<Value>(
    _ arguments: Arguments, secretsFrom others: [String] = [],
    _ body: (Device, [ListedAccount], SharedSecretBox?) async throws -> Value
  ) async throws -> Value {
    let options = try DeviceOptions(arguments, secretsFrom: others)
    guard let device = try options.deviceIfAny() else {
      throw CommandFailure(
        .dataError,
        "nothing was imported in \(shellWord(options.folder)) yet; see signet import and signet scan")
    }
    return try await options.withAccountsPassword(on: device) { password in
      try await body(device, try await ListedAccount.all(on: device, by: password), password)
    }
  }
}
