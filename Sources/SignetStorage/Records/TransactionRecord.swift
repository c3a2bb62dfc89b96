import SignetSQL

/// A transaction and, once there is one, its end.
public struct TransactionRecord: Hashable, Sendable {
  /// Where a transaction stands; all but the first are final.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// Waits for a decision, or has expired without being swept yet: compare `expires`.
    case pending
    /// The user accepted.
    case accepted
    /// The user denied, or typed the wrong number too often.
    case denied
    /// The user says that somebody else asked for it.
    case reported
    /// The user put an end to it without deciding.
    case cancelled
    /// The relying party put an end to it.
    case withdrawn
    /// Nobody decided in time.
    case expired
  }

  /// Names the transaction.
  public var id: TransactionID
  /// Who decides; `nil` while anybody may.
  public var user: UserID?
  /// What is shown and signed.
  public var content: String
  /// What the user may decide, in the protocol's words.
  public var statuses: [String]
  /// When it was made, in seconds since 1970.
  public var created: Int64
  /// When it ends, in seconds since 1970; from then on nobody decides it.
  public var expires: Int64
  /// The number that the user has to type, under the server's master key; `nil` where there is none.
  public var sealedNumber: [UInt8]?
  /// The positions of the fields that a user types to approve it on a device that does not see it; `nil` where that is not possible.
  public var typedFields: [Int]?
  /// The names of the requirements of which an approval has to meet one; empty where none was named.
  public var requirements: [String] = []
  /// Who asks it, as the audit log names who causes an event; `nil` for what a device made.
  public var requester: String?
  /// The kind of authenticators that alone answer it, because its requester has them asked by name; `nil` for all that can.
  public var soleKind: AuthenticatorRecord.Kind?
  /// Whether a client of OpenID Connect has asked.
  public var isClients: Bool { requester?.hasPrefix(AuditActor.clientPrefix) ?? false }
  /// Whether the device made it, at its user's wish.
  public var isInitiatedByDevice = false
  /// How often a wrong number was named.
  package var wrongNumbers = 0
  /// Where it stands.
  public var state: State
  /// The decision; `nil` before, and where there is none.
  public var decision: DecisionRecord?
  /// How UAF accepted it in the place of a container; `nil` where it did not.
  public var uaf: UAFAcceptance?
  /// How an authenticator app answered it, by its shared key; `nil` where none did.
  public var app: AppAnswer?
  /// What was signed by UAF, or by an app, as it came; `nil` where neither answered, for a container's answer is its own evidence.
  public var evidence: EvidenceRecord?
  /// How it ended without one; `nil` before, and where there is one.
  public var end: EndRecord?

  /// Describes a transaction.
  public init(
    id: TransactionID, user: UserID?, content: String,
    statuses: [String] = ["accepted", "denied", "reported"],
    created: Int64, expires: Int64, state: State = .pending, decision: DecisionRecord? = nil
  ) {
    (self.id, self.user, self.content, self.statuses) = (id, user, content, statuses)
    (self.created, self.expires, self.state, self.decision) = (created, expires, state, decision)
  }

  /// When it was decided or ended; `nil` before, and where its time was over.
  var decided: Int64? { decision?.time ?? uaf?.time ?? app?.time ?? end?.time }

  /// The bytes of content and signature.
  var size: Int64 { Int64(content.utf8.count + (decision?.jws?.utf8.count ?? 0)) }

  /// Whether the user may accept it; who may not can say no, which is taken of a locked container too.
  public var offersApproval: Bool { statuses.contains(State.accepted.rawValue) }

  /// Whether authenticators of a kind are asked it: the others neither see it nor answer it.
  public func isAsked(of kind: AuthenticatorRecord.Kind) -> Bool { soleKind ?? kind == kind }

  /// Where the transaction stands at a time: a pending one past its end has expired.
  public func state(at time: Int64) -> State { state == .pending && expires <= time ? .expired : state }
}

/// How a UAF authenticator accepted a transaction.
public struct UAFAcceptance: Hashable, Sendable {
  /// The operation.
  public var session: ID<UAFOperationRecord>
  /// When the server took it, in seconds since 1970.
  public var time: Int64

  /// Describes an acceptance.
  public init(session: ID<UAFOperationRecord>, time: Int64) { (self.session, self.time) = (session, time) }
}

/// How an authenticator app answered a transaction: by a key that the server has too, so no signed decision.
public struct AppAnswer: Hashable, Sendable {
  /// The ``PushAuthMechanismRecord/id`` of the app's mechanism.
  public var mechanism: ID<PushAuthMechanismRecord>
  /// The message that was answered.
  public var message: ID<PushAuthMessageRecord>
  /// When the server took it, in seconds since 1970.
  public var time: Int64

  /// Describes an answer.
  public init(mechanism: ID<PushAuthMechanismRecord>, message: ID<PushAuthMessageRecord>, time: Int64) {
    (self.mechanism, self.message, self.time) = (mechanism, message, time)
  }
}

/// What an answer was signed with, as it came: kept so that it can be verified later.
public struct EvidenceRecord: Hashable, Sendable {
  /// What is given out to whoever verifies it: a JSON text, which storage does not look into.
  public var bytes: [UInt8]
  /// The key of an answer that is authenticated by a shared key, under the server's master key; `nil` where the keys are public.
  ///
  /// It is never given out, and outlives the app.
  public var sealedKey: [UInt8]?

  /// Puts the two together.
  public init(bytes: [UInt8], sealedKey: [UInt8]? = nil) {
    (self.bytes, self.sealedKey) = (bytes, sealedKey)
  }
}

/// Which transactions are listed.
public struct TransactionFilter: Hashable, Sendable {
  /// Those of this user; `nil` for everybody's, and for what is for anybody.
  public var user: UserID?
  /// Those that stand here; `nil` for all.
  public var state: TransactionRecord.State?

  /// All, or those of a user, or of a state, or of both.
  public init(user: UserID? = nil, state: TransactionRecord.State? = nil) {
    (self.user, self.state) = (user, state)
  }
}

/// How a transaction ended without a decision.
public struct EndRecord: Hashable, Sendable {
  /// `cancelled`, `withdrawn`, or `denied` where the number was wrong too often.
  public var state: TransactionRecord.State
  /// Why, in the protocol's word or in the relying party's.
  public var reason: String
  /// What the user added; may be empty.
  public var message: String
  /// The container that did it; `nil` where the relying party did.
  public var container: ContainerID?
  /// When, in seconds since 1970.
  public var time: Int64

  /// The reason of a request that was withdrawn because its user is suspended or deleted.
  public static let userNotActive = "userNotActive"
  /// The reason of a request that was withdrawn because nothing of its user's could answer it any more.
  public static let noAuthenticator = "noAuthenticator"

  /// The reason of a request that is denied because a number was wrong too often.
  public static let wrongNumber = "wrongNumber"

  /// Describes an end.
  public init(
    state: TransactionRecord.State, reason: String, message: String = "", container: ContainerID?, time: Int64
  ) {
    (self.state, self.reason, self.message) = (state, reason, message)
    (self.container, self.time) = (container, time)
  }
}

extension TransactionRecord {
  static let columns =
    "state, id, user_id, content, statuses, created, expires, sealed_number, typed_fields, initiated, uaf_session, decided, requirements, end_reason, end_message, container, decision, typed, app, app_message, code, last_report, requester, evidence, evidence_key, sole_kind, wrong_numbers"

  /// Reads a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    do { try self.init(reading: row, mac) } catch SQLFailure.unexpectedValue {
      throw StorageFailure.altered(row: try row.text(1), of: Self.table)
    }
  }

  private init(reading row: SQLRow, _ mac: RowMAC) throws {
    let state: State = try row.value(0)
    self.init(
      id: try row.id(1), user: try row.optional(2, row.user), content: try row.text(3),
      statuses: try row.text(4).split(separator: " ").map(String.init),
      created: try row.integer(5), expires: try row.integer(6), state: state)
    sealedNumber = try row.optional(7, row.blob)
    typedFields = try row.optional(8, row.text)?.split(separator: " ").compactMap { Int($0) }
    isInitiatedByDevice = try row.bool(9)
    requester = try row.optional(22, row.text)
    soleKind = try row.optional(25) { (column) throws(SQLFailure) in try row.value(column) }
    // No MAC covers it.
    wrongNumbers = min(max(try row.int(26), 0), 1000)
    if let bytes = try row.optional(23, row.blob) {
      evidence = EvidenceRecord(bytes: bytes, sealedKey: try row.optional(24, row.blob))
    }
    requirements = try row.optional(12, row.text)?.split(separator: " ").map(String.init) ?? []
    if let session: ID<UAFOperationRecord> = try row.optional(10, row.id) {
      uaf = UAFAcceptance(session: session, time: try row.integer(11))
    }
    if let mechanism: ID<PushAuthMechanismRecord> = try row.optional(18, row.id) {
      app = AppAnswer(mechanism: mechanism, message: try row.id(19), time: try row.integer(11))
    }
    if let reason = try row.optional(13, row.text) {
      end = EndRecord(
        state: state, reason: reason, message: try row.text(14),
        container: try row.optional(15, row.id), time: try row.integer(11))
    } else if let container: ContainerID = try row.optional(15, row.id) {
      decision = DecisionRecord(
        state: state, jws: try row.optional(16, row.text), container: container,
        time: try row.integer(11), isTyped: try row.bool(17),
        lastReport: try row.optional(21, row.integer))
    }
    guard state != .accepted || decision != nil || uaf != nil || app != nil else {
      throw altered
    }
    try mac.check(image, try row.optional(20, row.blob), named: id.text, of: Self.table)
  }

  private static let table = "transactions"
  /// That its row is not as this server wrote it.
  var altered: StorageFailure { .altered(row: id.text, of: Self.table) }

  /// What its MAC covers: what was asked of whom, and how it was answered.
  ///
  /// How it ended without an answer is no part of that: it grants nothing.
  var image: MACInput {
    var image = MACInput("transactions")
    image.append(id)
    image.append(user)
    image.append(content)
    image.append(statuses.joined(separator: " "))
    image.append(created)
    image.append(expires)
    image.append(sealedNumber)
    image.append(typedFields?.map { "\($0)" }.joined(separator: " "))
    image.append(requirements.joined(separator: " "))
    image.append(isInitiatedByDevice ? 1 : 0)
    image.append(requester)
    image.append(soleKind?.rawValue)
    if let decision {
      image.append("decision")
      image.append(decision.state.rawValue)
      image.append(decision.jws)
      image.append(decision.container)
      image.append(decision.time)
      image.append(decision.isTyped ? 1 : 0)
      image.append(decision.lastReport)
    }
    if let uaf {
      image.append("uaf")
      image.append(state.rawValue)
      image.append(uaf.session)
      image.append(uaf.time)
    }
    if let app {
      image.append("app")
      image.append(state.rawValue)
      image.append(app.mechanism)
      image.append(app.message)
      image.append(app.time)
    }
    if let evidence {
      image.append("evidence")
      image.append(evidence.bytes)
      image.append(evidence.sealedKey)
    }
    return image
  }
}

extension SQLConnection {
  /// Adds a transaction.
  func insert(_ transaction: TransactionRecord) throws {
    try execute(
      """
      INSERT INTO transactions (id, user_id, content, statuses, created, expires, sealed_number, initiated, state, decision,
        container, decided, typed_fields, size, requirements, requester, sole_kind, code)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
      """,
      [
        .of(transaction.id), .optional(transaction.user), .text(transaction.content),
        .text(transaction.statuses.joined(separator: " ")), .integer(transaction.created),
        .integer(transaction.expires), .optional(transaction.sealedNumber),
        .int(transaction.isInitiatedByDevice ? 1 : 0), .text(transaction.state.rawValue),
        .optional(transaction.decision?.jws), .optional(transaction.decision?.container),
        .optional(transaction.decision?.time),
        .optional(transaction.typedFields?.map { "\($0)" }.joined(separator: " ")),
        .integer(transaction.size),
        .optional(transaction.requirements.isEmpty ? nil : transaction.requirements.joined(separator: " ")),
        .optional(transaction.requester), .optional(transaction.soleKind?.rawValue),
        .optional(rowMAC.mac(of: transaction.image)),
      ], changing: 1)
  }
}
