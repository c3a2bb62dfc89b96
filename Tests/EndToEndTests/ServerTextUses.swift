import Testing

/// The foreign texts that each command of `signet-server` prints, and the test of `ScreenTests` that checks its rows.
///
/// A command that is not in this table fails `DescribedCommandTests/serverTexts`.
enum ServerTextUse: Sendable {
  /// It prints foreign texts, and its rows are checked.
  case shown(Scenario)
  /// It prints only our words, IDs, keys, times, numbers and the caller's own input.
  case own
  /// It prints foreign texts but is not checked, for this reason.
  case unshown(String)

  /// A test that runs commands on screens.
  enum Scenario: String, Sendable {
    /// `ScreenTests/serverLists`.
    case lists
    /// `ScreenTests/uaf`.
    case uaf
    /// `ScreenTests/copied`.
    case copied
  }

  private static let serial = "one line with a serial, as token disable prints it"
  private static let user = "one line with a user, as container revoke prints it"

  static let ofCommands: [String: ServerTextUse] = [
    "activation create": .own,
    "audit list": .shown(.lists),
    "audit verify": .own,
    "app invite": .own,
    "app list": .shown(.lists),
    "app remove": .own,
    "backup": .own,
    "certificate renew": .unshown("the fields that certificate show prints"),
    "certificate show": .shown(.copied),
    "client add": .own,
    "client list": .shown(.lists),
    "client revoke": .own,
    "client show": .shown(.lists),
    "completion": .own,
    "container account": .shown(.lists),
    "container list": .shown(.lists),
    "container lock": .own,
    "container policies": .unshown("what an operator has attached, one line of JSON"),
    "container renew": .own,
    "container revoke": .shown(.lists),
    "container show": .shown(.lists),
    "container unlock": .own,
    "container wipe": .own,
    "device list": .shown(.lists),
    "device lock": .unshown(user),
    "device revoke": .unshown(user),
    "device unlock": .unshown(user),
    "help": .own,
    "init": .own,
    "key create": .own,
    "key list": .shown(.lists),
    "key revoke": .own,
    "message create": .own,
    "message show": .own,
    "otp resync": .own,
    "otp validate": .own,
    "restore": .own,
    "serve": .own,
    "settings": .own,
    "signing-key list": .own,
    "signing-key rotate": .own,
    "token assign": .unshown(serial),
    "token disable": .shown(.lists),
    "token enable": .unshown(serial),
    "token import": .own,
    "token list": .shown(.lists),
    "token remove": .unshown(serial),
    "token resync": .unshown(serial),
    "token unassign": .unshown(serial),
    "token verify": .unshown(serial),
    "transaction answer": .own,
    "transaction create": .own,
    "transaction initiated": .shown(.lists),
    "transaction list": .shown(.lists),
    "transaction offer": .own,
    "transaction offline": .own,
    "transaction show": .shown(.lists),
    "transaction typed": .own,
    "transaction verify": .shown(.lists),
    "transaction withdraw": .own,
    "uaf credentials": .shown(.uaf),
    "uaf metadata": .shown(.uaf),
    "uaf release-credential": .own,
    "uaf remove-credential": .own,
    "uaf remove-target": .own,
    "uaf targets": .shown(.uaf),
    "uaf verify": .unshown("fields, as transaction verify prints them"),
    "user add": .own,
    "user code": .own,
    "user delete": .own,
    "user list": .shown(.lists),
    "user rename": .own,
    "user resume": .own,
    "user show": .shown(.lists),
    "user suspend": .own,
    "user unlock": .own,
  ]

  /// Expects that the commands run on screens, each with the program's name first, are those that a scenario has to show.
  static func expectAll(
    of scenario: Scenario, in lines: [[String]], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let shown = Set(
      lines.map { line in
        let words = line.dropFirst()
        return [2, 1].lazy.map { words.prefix($0).joined(separator: " ") }.first { ofCommands[$0] != nil }
          ?? words.joined(separator: " ")
      })
    let wanted = Set(ofCommands.filter { if case .shown(scenario) = $0.value { true } else { false } }.keys)
    #expect(shown == wanted, "the table says what \(scenario.rawValue) shows", sourceLocation: sourceLocation)
  }
}
