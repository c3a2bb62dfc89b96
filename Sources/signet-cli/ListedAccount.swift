import Signet
import SignetJSON
import SignetTerminal

/// An account that was imported or enrolled, with all that this device has of it: one-time codes, push messages, locks.
struct ListedAccount {
  /// What names it to commands and programs.
  let id: Account.ID
  let issuer: String
  let name: String
  /// What makes its one-time codes, or answers challenges.
  let codes: [Account]
  /// By what it is asked.
  let push: PushMechanism?
  /// Whether it was enrolled, and goes as a whole.
  let isEnrolled: Bool
  private let created: Int64
  /// Issuer and name by which it may be called: as it is shown, and as it was enrolled.
  private let names: [(issuer: String, name: String)]

  /// One that was imported.
  init(_ account: Account) {
    (id, issuer, name, created) = (account.id, account.issuer, account.name, account.imported)
    (codes, push, isEnrolled) = ([account], nil, false)
    names = [(account.issuer, account.name)]
  }

  /// One that was enrolled, under the names by which it is shown.
  init(_ account: EnrolledAccount) {
    let enrolled = (account.issuer, account.name)
    let shown =
      account.codes.first.map { ($0.issuer, $0.name) } ?? account.push.map { ($0.issuer, $0.name) }
      ?? enrolled
    (id, created, codes, push) = (account.id, account.created, account.codes, account.push)
    ((issuer, name), isEnrolled) = (shown, true)
    names = [shown, enrolled]
  }

  /// All of them, by issuer and name.
  ///
  /// - Parameters:
  ///   - device: Whose.
  ///   - password: What opens them, where they have one.
  /// - Returns: The accounts.
  /// - Throws: What the vault says.
  static func all(on device: Device, by password: SharedSecretBox?) async throws -> [ListedAccount] {
    let enrolled = try await device.accounts.enrolled(by: password)
    let grouped = Set(enrolled.flatMap { $0.codes.map(\.id) })
    let others = try await device.accounts.list(by: password).filter { !grouped.contains($0.id) }
    return (enrolled.map { ListedAccount($0) } + others.map { ListedAccount($0) }).sorted {
      ($0.issuer.lowercased(), $0.name.lowercased(), $0.id.description)
        < ($1.issuer.lowercased(), $1.name.lowercased(), $1.id.description)
    }
  }

  /// The ids of its parts.
  var parts: [Account.ID] { codes.map(\.id) + (push.map { [$0.id] } ?? []) }

  /// Whether this is one of its names.
  func isCalled(_ text: String) -> Bool {
    let wanted = text.lowercased()
    if text.count >= 8, ([id] + parts).contains(where: { $0.description.hasPrefix(wanted) }) { return true }
    return names.contains { issuer, name in
      ["\(issuer):\(name)", issuer, name].contains { !$0.isEmpty && $0.lowercased() == wanted }
    }
  }

  /// What makes its codes, where that is one thing.
  ///
  /// - Throws: `CommandFailure` where there is none, or more than one.
  func onlyCodes() throws(CommandFailure) -> Account {
    guard let first = codes.first else {
      throw CommandFailure(
        .dataError, "\(shown) makes no codes; it is asked by push messages: signet message list shows them")
    }
    guard codes.count == 1 else {
      let ids = codes.map { "\($0.id.shortForm) (\($0.kind))" }.joined(separator: ", ")
      throw CommandFailure(.dataError, "\(shown) makes codes in several ways; write the id of one: \(ids)")
    }
    return first
  }

  /// Issuer and name, for a line at a terminal.
  var shown: TerminalText {
    TerminalText(
      issuer.isEmpty ? name : name.isEmpty ? issuer : "\(issuer) (\(name))", limit: 200)
  }

  /// The row of the table.
  ///
  /// - Parameter status: What locks it.
  /// - Returns: The cells.
  func row(_ status: AccountStatus?) -> [String] {
    [
      id.shortForm, issuer, name,
      (codes.map(\.kind) + (push == nil ? [] : ["push"])).joined(separator: ", "),
      status?.lock.shown ?? "active", codes.contains(where: \.isExportable) ? "yes" : "no",
      Moment.text(created),
    ]
  }

  /// What `--json` prints; never a secret.
  ///
  /// - Parameter status: What locks it.
  /// - Returns: The members.
  func json(_ status: AccountStatus? = nil) -> JSONObject {
    var json =
      codes.first?.json ?? ["type": "push", "exportable": false, "imported": .integer(created)]
    (json["id"], json["issuer"], json["name"]) = (.string(id.description), .string(issuer), .string(name))
    json["push"] = .bool(push != nil)
    if codes.count > 1 { json["codes"] = .array(codes.map { .object($0.json) }) }
    json["isLocked"] = .bool(status?.lock.isLocked ?? false)
    if let status { json["account"] = .object(status.json) }
    return json
  }
}

extension Account {
  /// How its codes are made, in a word or two.
  fileprivate var kind: String {
    period.map { "every \($0) s" } ?? (suite == nil ? "counter" : "challenge")
  }
}
