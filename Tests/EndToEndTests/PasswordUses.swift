/// What each command of `signet` does with passwords and keys, and which scenario of `LastWriteTests` searches its memory for them.
///
/// Every command declares `--password-fd`. A command that is not in this table fails `DescribedCommandTests/passwords`.
enum PasswordUse: Sendable {
  /// It takes a password, or opens the vault or speaks to the agent without one, and its memory is searched.
  case searched(Scenario)
  /// It asks for none, and opens no vault.
  case asksForNone
  /// It takes one and is not searched; why.
  case unsearched(String)

  /// A test that runs commands one after the other.
  enum Scenario: String, CaseIterable, Sendable {
    /// A container, its codes, transactions, data and settings.
    case container
    /// A session key with a password of its own.
    case session
    /// Fingers and the device's passcode.
    case ways
    /// Imported accounts under a password.
    case accounts
    /// Apps that a server asks and that make codes.
    case apps
    /// Keys of UAF.
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
    "agent": .asksForNone,  // what unlock sends it is searched for in its memory by the agent's scenario
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

  /// The command that words name: as many of the first as a name in the table has.
  static func command(of words: [String]) -> String? {
    [2, 1].lazy.map { words.prefix($0).joined(separator: " ") }.first { ofCommands[$0] != nil }
  }

  /// The commands that a scenario has to search.
  static func commands(of scenario: Scenario) -> Set<String> {
    Set(ofCommands.filter { if case .searched(scenario) = $0.value { true } else { false } }.keys)
  }
}
