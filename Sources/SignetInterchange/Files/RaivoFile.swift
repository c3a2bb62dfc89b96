import SignetJSON

/// The JSON file in the archive of Raivo: an array of objects in which every value is a text.
enum RaivoFile {
  static func matches(_ entries: [JSONValue]) -> Bool {
    guard case .object(let entry)? = entries.first else { return false }
    return entry.contains("kind") && entry.contains("account")
  }

  static func read(_ entries: [JSONValue]) throws(InterchangeFailure) -> ImportedAccounts {
    var imported = ImportedAccounts(.raivo)
    for entry in entries {
      try imported.read(title: entry.entryTitle("issuer", "account")) { () throws(InterchangeFailure) in
        try account(entry.entry())
      }
    }
    return imported
  }

  private static func account(_ entry: JSONObject) throws(InterchangeFailure) -> OTPAccount {
    let kind = try entry.entryKind(entry.entryText("kind"), period: "timer", counter: "counter")
    var foreign = ForeignMembers(.raivo)
    foreign.collect(
      from: entry, except: ["issuer", "account", "secret", "algorithm", "digits", "kind", "timer", "counter"])
    return try OTPAccount(
      issuer: try entry.entryText("issuer") ?? "", name: try entry.entryText("account") ?? "", kind: kind,
      algorithm: try entry.entryAlgorithm("algorithm"), digits: try entry.entryDigits(),
      secret: try entry.entrySecret(), foreign: foreign.members)
  }
}
