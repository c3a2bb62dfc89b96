import SignetStorage

/// Rows for tests of rules about requests: those of alice, asked at 1000 and open until 1300.
enum RequestSample {
  static let limits = TransactionLimits(
    pending: 5, challenges: 4, wait: 60, longestWait: 200, wrongNumbers: 3, initiated: 3)

  static func transaction(
    user: String? = "alice", _ state: TransactionRecord.State = .pending,
    of kind: AuthenticatorRecord.Kind? = nil
  ) -> TransactionRecord {
    var transaction = TransactionRecord(
      id: "t", user: user, content: "Pay", created: 1000, expires: 1300, state: state)
    transaction.soleKind = kind
    return transaction
  }

  static func decision(
    _ state: TransactionRecord.State = .accepted, by container: String = "c1", at time: Int64 = 1100
  ) -> DecisionRecord {
    DecisionRecord(state: state, jws: "jws", container: container, time: time)
  }

  static func end(
    _ state: TransactionRecord.State, by container: String? = nil, at time: Int64 = 1100
  ) -> EndRecord {
    EndRecord(state: state, reason: "reason", container: container, time: time)
  }

  /// The transaction after a decision of `c1`.
  static func decided(_ state: TransactionRecord.State) -> TransactionRecord {
    var transaction = transaction(state)
    transaction.decision = decision(state)
    return transaction
  }

  /// The transaction after an end without a decision.
  static func ended(_ state: TransactionRecord.State, by container: String? = nil) -> TransactionRecord {
    var transaction = transaction(state)
    transaction.end = end(state, by: container)
    return transaction
  }

  static func container(
    _ id: String = "c1", user: String = "alice", device: UInt8 = 7,
    _ state: ContainerRecord.State = .active, _ standing: ComplianceState = .open
  ) -> ContainerRecord {
    var container = ContainerRecord(
      id: id, user: user, activation: "a", device: [device], name: "", platform: "", keystore: "software",
      sessionKey: [1], encryptionKey: [2], signingKey: [3], profile: [], created: 900, state: state)
    container.standing = standing
    return container
  }

  static func credential(
    user: String? = "alice", serial: String? = nil, failures: Int = 0,
    _ state: CredentialRecord.State = .active
  ) -> CredentialRecord {
    var credential = CredentialRecord(
      id: "c1", user: user, serial: serial, kind: .totp, algorithm: "SHA-256", digits: 6, period: 30,
      sealedSecret: [1], created: 900, state: state)
    credential.failures = failures
    return credential
  }

  static func message(
    _ state: PushAuthMessageRecord.State = .pending
  ) -> PushAuthMessageRecord {
    var message = PushAuthMessageRecord(
      id: "p", of: "t", mechanism: "m", kind: "default", challenge: [1], created: 1000, expires: 1200,
      state: state)
    message.sealedToken = [9]
    return message
  }

  static func mechanism(
    user: String = "alice", _ state: PushAuthMechanismRecord.State = .active
  ) -> PushAuthMechanismRecord {
    PushAuthMechanismRecord(
      id: "m", user: user, sealedSecret: [1], challenge: [2], created: 900, expires: 1200, state: state)
  }
}
