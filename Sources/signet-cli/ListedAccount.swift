import Signet
import SignetJSON
import SignetTerminal

/// An imported or enrolled account with all its parts on this device: one-time codes, push messages, locks.
struct ListedAccount {
  let id: Account.ID
  let issuer: String
  let name: String
  /// The generators of one-time codes or challenge responses.
  let codes: [Account]
  let push: PushMechanism?
  /// True if it was enrolled, and is deleted as a whole.
  let isEnrolled: Bool
  private let created: Int64
  /// The accepted issuers and names: as shown, and as enrolled.
  private let names: [(issuer: String, name: String)]

  init(_ account: Account) {
    id = account.id
    issuer = account.issuer
    name = account.name
    created = account.imported
    codes = [account]
    push = nil
    isEnrolled = false
    names = [(account.issuer, account.name)]
  }

  /// Creates the entry of an enrolled account, with the names that are shown.
  init(_ account: EnrolledAccount) {
    let enrolled = (account.issuer, account.name)
    let shown =
      account.codes.first.map { ($0.issuer, $0.name) } ?? account.push.map { ($0.issuer, $0.name) }
      ?? enrolled
    id = account.id
    created = account.created
    codes = account.codes
    push = account.push
    ((issuer, name), isEnrolled) = (shown, true)
    names = [shown, enrolled]
  }

  /// Returns all accounts, sorted by issuer and name.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The accounts.
  /// - Throws: The vault's error.
  static func all(on device: Device, by password: SharedSecretBox?) async throws -> [ListedAccount] {
    let enrolled = try await device.accounts.enrolled(by: password)
    let grouped = Set(enrolled.flatMap { $0.codes.map(\.id) })
    let ungrouped = try await device.accounts.list(by: password).filter { !grouped.contains($0.id) }
    return (enrolled.map { ListedAccount($0) } + ungrouped.map { ListedAccount($0) }).sorted {
      ($0.issuer.lowercased(), $0.name.lowercased(), $0.id.description)
        < ($1.issuer.lowercased(), $1.name.lowercased(), $1.id.description)
    }
  }

  var parts: [Account.ID] { codes.map(\.id) + (push.map { [$0.id] } ?? []) }

  /// Returns true if the text is one of its names.
  func isCalled(_ text: String) -> Bool {
    let query = text.lowercased()
    if text.count >= 8, ([id] + parts).contains(where: { $0.description.hasPrefix(query) }) { return true }
    return names.contains { issuer, name in
      ["\(issuer):\(name)", issuer, name].contains { !$0.isEmpty && $0.lowercased() == query }
    }
  }

  /// Returns its code generator, if there is exactly one.
  ///
  /// - Throws: `CommandFailure` if there is none, or more than one.
  func onlyCodes() throws(CommandFailure) -> Account {
    guard let first = codes.first else {
      throw CommandFailure(
        .dataError, "\(shown) makes no codes; it receives push messages: signet message list shows them")
    }
    guard codes.count == 1 else {
      let ids = codes.map { "\($0.id.shortForm) (\($0.kind))" }.joined(separator: ", ")
      throw CommandFailure(.dataError, "\(shown) makes codes in several ways; write the id of one: \(ids)")
    }
    return first
  }

  var shown: TerminalText {
    TerminalText(
      issuer.isEmpty ? name : name.isEmpty ? issuer : "\(issuer) (\(name))", limit: 200)
  }

  /// Returns the row of the table.
  ///
  /// - Parameter status: The account's locks.
  /// - Returns: The cells.
  func row(_ status: AccountStatus?) -> [String] {
    [
      id.shortForm, issuer, name,
      (codes.map(\.kind) + (push == nil ? [] : ["push"])).joined(separator: ", "),
      status?.lock.shown ?? "active", codes.contains(where: \.isExportable) ? "yes" : "no",
      Moment.text(created),
    ]
  }

  /// Returns the `--json` form; never a secret.
  ///
  /// - Parameter status: The account's locks.
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
  /// The kind of its codes, in a word or two.
  fileprivate var kind: String {
    period.map { "every \($0) s" } ?? (suite == nil ? "counter" : "challenge")
  }
}
