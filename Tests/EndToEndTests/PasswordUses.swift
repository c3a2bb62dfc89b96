/// The use of passwords and keys by each command of `signet`, and the scenario of `LastWriteTests` that searches its memory for
/// them.
///
/// Every command declares `--password-fd`. A command that is not in this table fails `DescribedCommandTests/passwords`.
enum PasswordUse: Sendable {
  /// It uses a password, or opens the vault or uses the agent without one, and its memory is searched.
  case searched(Scenario)
  /// It asks for none, and opens no vault.
  case asksForNone
  /// It uses one, but its memory is not searched, for this reason.
  case unsearched(String)

  /// A test that runs commands one after the other.
  enum Scenario: String, CaseIterable, Sendable {
    /// A container, its codes, transactions, data and settings.
    case container
    /// A session key with a separate password.
    case session
    /// Fingers and the device's passcode.
    case ways
    /// Imported accounts under a password.
    case accounts
    /// Apps that receive requests of a server and that make codes.
    case apps
    /// UAF keys.
    case uaf
    /// The agent.
    case agent
  }

  static let ofCommands: [String: PasswordUse] = [
    "account clear": .searched(.accounts),
    "account delete": .searched(.accounts),
    "account list": .searched(.accounts),
    "account lock": .searched(.accounts),
    "account protect": .searched(.accounts),
    "account rename": .searched(.accounts),
    "account respond": .searched(.accounts),
    "account unlock": .searched(.accounts),
    "account unprotect": .searched(.accounts),
    "activate": .searched(.container),
    "agent": .asksForNone,  // its scenario searches the agent's memory
    "approve": .searched(.container),
    "biometrics disable": .searched(.ways),
    "biometrics enable": .searched(.ways),
    "biometrics status": .searched(.ways),
    "cancel": .searched(.session),
    "completion": .asksForNone,
    "condition lock": .searched(.session),
    "condition report": .searched(.session),
    "condition show": .searched(.container),
    "condition unlock": .searched(.session),
    "data decrypt": .searched(.container),
    "data encrypt": .searched(.container),
    "delete": .searched(.session),
    "deny": .searched(.container),
    "doctor": .searched(.container),
    "export": .searched(.accounts),
    "help": .asksForNone,
    "import": .searched(.accounts),
    "initiate": .searched(.container),
    "list": .searched(.container),
    "listen": .searched(.session),
    "lock": .searched(.agent),
    "message approve": .searched(.apps),
    "message delete": .searched(.apps),
    "message deny": .searched(.apps),
    "message list": .searched(.apps),
    "message receive": .searched(.apps),
    "message show": .searched(.apps),
    "message token": .searched(.apps),
    "otp": .searched(.container),
    "passcode disable": .searched(.ways),
    "passcode enable": .searched(.ways),
    "passcode status": .searched(.ways),
    "password change": .searched(.container),
    "password verify": .searched(.container),
    "pending": .searched(.session),
    "policy explain": .searched(.container),
    "policy lint": .asksForNone,
    "recovery create": .searched(.container),
    "recovery reset": .searched(.container),
    "rename": .searched(.container),
    "renew": .searched(.container),
    "report": .searched(.container),
    "reset": .searched(.session),
    "scan": .searched(.accounts),
    "status": .searched(.agent),
    "trust": .searched(.container),
    "uaf authenticate": .searched(.uaf),
    "uaf delete": .searched(.uaf),
    "uaf deregister": .searched(.uaf),
    "uaf device": .searched(.uaf),
    "uaf list": .searched(.uaf),
    "uaf metadata": .asksForNone,
    "uaf oob": .searched(.uaf),
    "uaf password": .searched(.uaf),
    "uaf pending": .searched(.uaf),
    "uaf pin": .searched(.uaf),
    "uaf register": .searched(.uaf),
    "unlock": .searched(.agent),
  ]

  /// Returns the command at the start of a command line, the longest name in the table.
  static func command(of words: [String]) -> String? {
    [2, 1].lazy.map { words.prefix($0).joined(separator: " ") }.first { ofCommands[$0] != nil }
  }

  /// The commands that a scenario has to search.
  static func commands(of scenario: Scenario) -> Set<String> {
    Set(ofCommands.filter { if case .searched(scenario) = $0.value { true } else { false } }.keys)
  }
}
