import SignetStorage

/// Rows of UAF, as rules are given them.
enum UAFSample {
  static let aaid = "7357#0001"

  /// An operation of alice's that was begun at 1000 and takes responses until 1100, its token until then.
  static func operation(
    _ kind: String = "Auth", _ state: UAFOperationRecord.State = .requested, for transaction: String? = nil,
    target: String? = nil, by requester: String? = nil
  ) -> UAFOperationRecord {
    var operation = UAFOperationRecord(
      id: "s1", operation: kind, user: "alice", created: 1000, expires: 1100, state: state)
    (operation.transaction, operation.target, operation.requester) = (transaction, target, requester)
    if state == .tokenCreated { operation.tokenExpires = 1100 }
    return operation
  }

  /// A transaction of alice's that waits from 1000 to 1300.
  static func transaction(of user: String? = "alice") -> TransactionRecord {
    TransactionRecord(id: "t1", user: user, content: "{}", created: 1000, expires: 1300)
  }

  /// A key of alice's.
  static func key(
    _ number: UInt8 = 1, counter: UInt32 = 0, _ state: UAFCredentialRecord.State = .active,
    of user: String = "alice"
  ) -> UAFCredentialRecord {
    var key = UAFCredentialRecord(
      aaid: aaid, keyID: [number], user: user, publicKey: [4, number], algorithm: 1, keyFormat: 0x100,
      signCounter: counter, registrationCounter: 1, authenticatorVersion: 1, created: 900)
    key.state = state
    return key
  }

  static func use(_ number: UInt8 = 1, counter: UInt32) -> CounterUpdate {
    CounterUpdate(aaid: aaid, keyID: [number], signCounter: counter)
  }
}
