import SignetServerTesting
import SignetStorage
import Testing

/// Operators' changes to users, and the users who are accepted.
@Suite struct UserRulesTests {
  private static func user(_ state: UserRecord.State) -> UserRecord {
    var user = UserRecord(id: "alice", subject: "~1", created: 1)
    (user.state, user.stateReason, user.codeDigest) = (state, "before", [1])
    user.displayName = "Alice Adams"
    return user
  }

  @Test(
    "only an active user's requests are accepted",
    arguments: [
      (.active, nil), (.suspended, .userNotActive(.suspended)), (.deleted, .userNotActive(.deleted)),
      (.altered, .altered(row: "alice", of: "users")),
    ] as [(UserRecord.State, StorageFailure?)])
  func refusal(_ state: UserRecord.State, _ refusal: StorageFailure?) {
    #expect(Self.user(state).refusal == refusal)
  }

  @Test(
    "an active and an altered user can be suspended",
    arguments: [
      (.active, nil), (.altered, nil), (.suspended, .unchanged), (.deleted, .unknown),
    ] as [(UserRecord.State, UserChangeOutcome?)])
  func suspension(_ state: UserRecord.State, _ refusal: UserChangeOutcome?) throws {
    let change = Self.user(state).suspended(because: "left", calling: "~2", at: 5)
    guard refusal == nil, case .made(let user) = change else {
      #expect(change == refusal.map { .refused($0) })
      return
    }
    #expect((user.state, user.stateReason, user.stateSince) == (.suspended, "left", 5))
    // The code, the subject and the name in an altered row may belong to another user.
    #expect(user.subject == (state == .altered ? "~2" : "~1"))
    #expect(user.codeDigest == (state == .altered ? nil : [1]))
    #expect(user.displayName == (state == .altered ? nil : "Alice Adams"))
  }

  @Test(
    "a suspended user can be resumed; an altered row must be rewritten first",
    arguments: [
      (.suspended, nil), (.active, .unchanged), (.deleted, .unknown), (.altered, .altered),
    ] as [(UserRecord.State, UserChangeOutcome?)])
  func resumption(_ state: UserRecord.State, _ refusal: UserChangeOutcome?) {
    let change = Self.user(state).resumed(at: 5)
    guard refusal == nil, case .made(let user) = change else {
      #expect(change == refusal.map { .refused($0) })
      return
    }
    #expect((user.state, user.stateReason, user.stateSince) == (.active, "", 5))
    #expect((user.subject, user.codeDigest) == ("~1", [1]))
    #expect(user.displayName == "Alice Adams")
  }

  @Test(
    "an existing user is renamed in any state, except with an altered row",
    arguments: [
      (.active, nil), (.suspended, nil), (.altered, .altered), (.deleted, .unknown),
    ] as [(UserRecord.State, UserChangeOutcome?)], ["Alice Brown", nil])
  func renaming(_ found: (UserRecord.State, UserChangeOutcome?), _ name: String?) {
    let before = Self.user(found.0)
    var renamed = before
    renamed.displayName = name
    #expect(before.renamed(to: name) == (found.1.map { .refused($0) } ?? .made(renamed)))
    #expect(renamed.renamed(to: name) == .refused(found.1 ?? .unchanged))
  }

  @Test(
    "a user is deleted once, together with code and name",
    arguments: [UserRecord.State.active, .suspended, .altered, .deleted])
  func deletion(_ state: UserRecord.State) {
    let change = Self.user(state).deleted(calling: "~2", at: 5)
    guard state != .deleted, case .made(let user) = change else {
      #expect(change == .refused(.unchanged))
      #expect(state == .deleted)
      return
    }
    #expect((user.state, user.stateReason, user.stateSince) == (.deleted, "", 5))
    #expect(user.codeDigest == nil && user.displayName == nil)
    #expect(user.subject == (state == .altered ? "~2" : "~1"))
  }
}
