import SignetSQL
import SignetSystem

/// A transaction and, once it has ended, its end.
package struct TransactionRecord: Hashable, Sendable {
  /// The state of a transaction; all but the first are final.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// Waits for a decision, or has expired without being recorded as expired yet: compare `expires`.
    case pending
    /// The user accepted.
    case accepted
    /// The user denied, or typed a wrong number too often.
    case denied
    /// The user reported that somebody else asked for it.
    case reported
    /// The user ended it without deciding.
    case cancelled
    /// The relying party ended it.
    case withdrawn
    /// It expired without a decision.
    case expired
  }

  /// The id of the transaction.
  package var id: TransactionID
  /// The user who decides; `nil` while any user may.
  package var user: UserID?
  /// The content that is shown and signed.
  package var content: String
  /// The decisions that are offered to the user.
  package var statuses: [State]
  /// When it was made, in seconds since 1970.
  package var created: Int64
  /// When it expires, in seconds since 1970; from then on no decision is accepted.
  package var expires: Int64
  /// The number that the user has to type, encrypted under the server's master key; `nil` for none.
  package var sealedNumber: [UInt8]?
  /// The positions of the fields that a user types to approve it on a device that cannot display it; `nil` if that is not possible.
  package var typedFields: [Int]?
  /// The names of the requirements, one of which an approval has to meet; empty for none.
  package var requirements: [String] = []
  /// The requester, in the format of the audit log's actors; `nil` if a device made it.
  package var requester: String?
  /// The only kind of authenticators that may answer it, because the requester addressed them; `nil` for all kinds.
  package var soleKind: AuthenticatorRecord.Kind?
  /// Indicates whether an OpenID Connect client asked.
  package var isClients: Bool { requester?.hasPrefix(AuditActor.clientPrefix) ?? false }
  /// Indicates whether a device initiated it, at its user's request.
  package var isInitiatedByDevice = false
  /// The number of wrong numbers that were entered.
  package var wrongNumbers = 0
  /// The stored state.
  package var state: State
  /// The decision of a container; `nil` before, and if there is none.
  package var decision: DecisionRecord?
  /// The acceptance by UAF; `nil` if UAF did not accept it.
  package var uaf: UAFAcceptance?
  /// The answer of an authenticator app, authenticated by its shared key; `nil` for none.
  package var app: AppAnswer?
  /// The bytes that UAF or an app signed, as received; `nil` otherwise, because a container's decision is its own evidence.
  package var evidence: EvidenceRecord?
  /// The end without a decision; `nil` before, and if there is a decision.
  package var end: EndRecord?

  /// Describes a transaction.
  package init(
    id: TransactionID, user: UserID?, content: String,
    statuses: [State] = [.accepted, .denied, .reported],
    created: Int64, expires: Int64, state: State = .pending, decision: DecisionRecord? = nil
  ) {
    self.id = id
    self.user = user
    self.content = content
    self.statuses = statuses
    self.created = created
    self.expires = expires
    self.state = state
    self.decision = decision
  }

  /// When it was decided or ended; `nil` before, and if it expired.
  var decided: Int64? { decision?.time ?? uaf?.time ?? app?.time ?? end?.time }

  /// The number of bytes of content and signature.
  var size: Int64 { Int64(content.utf8.count + (decision?.jws?.utf8.count ?? 0)) }

  /// Indicates whether the user may accept it.
  ///
  /// A denial is accepted also from a locked container.
  package var offersApproval: Bool { statuses.contains(.accepted) }

  /// Returns `true` if authenticators of this kind are asked; the other kinds neither see it nor answer it.
  package func isAsked(of kind: AuthenticatorRecord.Kind) -> Bool { soleKind ?? kind == kind }

  /// Returns the state at a time: a pending transaction that has reached its end is expired.
  package func state(at time: Int64) -> State { state == .pending && expires <= time ? .expired : state }
}

/// The acceptance of a transaction by a UAF authenticator.
package struct UAFAcceptance: Hashable, Sendable {
  /// The UAF operation.
  package var session: ID<UAFOperationRecord>
  /// When the server accepted it, in seconds since 1970.
  package var time: Int64

  /// Describes an acceptance.
  package init(session: ID<UAFOperationRecord>, time: Int64) { (self.session, self.time) = (session, time) }
}

/// The answer of an authenticator app to a transaction: authenticated by a shared key, so not a signed decision.
package struct AppAnswer: Hashable, Sendable {
  /// The ``PushAuthMechanismRecord/id`` of the app's mechanism.
  package var mechanism: ID<PushAuthMechanismRecord>
  /// The answered message.
  package var message: ID<PushAuthMessageRecord>
  /// When the server accepted it, in seconds since 1970.
  package var time: Int64

  /// Describes an answer.
  package init(mechanism: ID<PushAuthMechanismRecord>, message: ID<PushAuthMessageRecord>, time: Int64) {
    self.mechanism = mechanism
    self.message = message
    self.time = time
  }
}

/// The signed bytes of an answer, as received: kept so that it can be verified later.
package struct EvidenceRecord: Hashable, Sendable {
  /// The part that is given to a verifier: a JSON text that storage does not interpret.
  package var bytes: [UInt8]
  /// The shared key that authenticates the answer, encrypted under the server's master key; `nil` if the keys are public.
  ///
  /// It is never given out, and is kept after the app was removed.
  package var sealedKey: [UInt8]?

  /// Makes evidence of its parts.
  package init(bytes: [UInt8], sealedKey: [UInt8]? = nil) {
    (self.bytes, self.sealedKey) = (bytes, sealedKey)
  }
}

/// A filter for the list of transactions.
package struct TransactionFilter: Hashable, Sendable {
  /// Selects the transactions of this user; `nil` selects all, including those without a user.
  package var user: UserID?
  /// Selects the transactions in this state; `nil` selects all.
  package var state: TransactionRecord.State?

  /// Makes a filter; both conditions must hold.
  package init(user: UserID? = nil, state: TransactionRecord.State? = nil) {
    (self.user, self.state) = (user, state)
  }
}

/// The end of a transaction without a decision.
package struct EndRecord: Hashable, Sendable {
  /// `cancelled`, `withdrawn`, or `denied` if the number was wrong too often.
  package var state: TransactionRecord.State
  /// The reason, in a word of the protocol or of the relying party.
  package var reason: String
  /// The user's addition; may be empty.
  package var message: String
  /// The container that ended it; `nil` if the relying party did.
  package var container: ContainerID?
  /// When it ended, in seconds since 1970.
  package var time: Int64

  /// The reason of a request that was withdrawn because its user is suspended or deleted.
  package static let userNotActive = "userNotActive"
  /// The reason of a request that was withdrawn because no authenticator of its user can answer it any more.
  package static let noAuthenticator = "noAuthenticator"

  /// The reason of a request that was denied because a number was wrong too often.
  package static let wrongNumber = "wrongNumber"

  /// Describes an end.
  package init(
    state: TransactionRecord.State, reason: String, message: String = "", container: ContainerID?, time: Int64
  ) {
    self.state = state
    self.reason = reason
    self.message = message
    self.container = container
    self.time = time
  }
}

extension TransactionRecord: StoredRecord {
  static let table = "transactions"
  static let columns =
    "state, id, user_id, content, statuses, created, expires, sealed_number, typed_fields, initiated, uaf_session, decided, requirements, end_reason, end_message, container, decision, typed, app, app_message, code, last_report, requester, evidence, evidence_key, sole_kind, wrong_numbers"

  /// Reads a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if its MAC does not verify or a value is malformed; ``SQLFailure``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    do { try self.init(reading: row, mac) } catch SQLFailure.unexpectedValue {
      throw StorageFailure.altered(row: try row.text(1), of: Self.table)
    }
  }

  private static func words(_ text: String) -> [String] {
    text.parts(separatedBy: UInt8(ascii: " ")).filter { !$0.isEmpty }
  }

  private init(reading row: SQLRow, _ mac: RowMAC) throws {
    let state: State = try row.value(0)
    self.init(
      id: try row.id(1), user: try row.optional(2, row.user), content: try row.text(3),
      statuses: try Self.words(try row.text(4)).map { word in
        guard let status = State(rawValue: word) else {
          throw SQLFailure.unexpectedValue(column: 4, expected: "\(State.self)", found: "text")
        }
        return status
      },
      created: try row.integer(5), expires: try row.integer(6), state: state)
    sealedNumber = try row.optional(7, row.blob)
    typedFields = try row.optional(8, row.text).map { Self.words($0).compactMap { Int($0) } }
    isInitiatedByDevice = try row.bool(9)
    requester = try row.optional(22, row.text)
    soleKind = try row.optional(25) { (column) throws(SQLFailure) in try row.value(column) }
    // The MAC does not cover it, so it is clamped.
    wrongNumbers = min(max(try row.int(26), 0), 1000)
    if let bytes = try row.optional(23, row.blob) {
      evidence = EvidenceRecord(bytes: bytes, sealedKey: try row.optional(24, row.blob))
    }
    requirements = try row.optional(12, row.text).map(Self.words) ?? []
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

  /// The column of the offered decisions.
  fileprivate var statusText: String { statuses.map(\.rawValue).joined(separator: " ") }

  /// The error for a row that this server did not write.
  var altered: StorageFailure { .altered(row: id.text, of: Self.table) }

  /// The input of the row's MAC: the request, its user and its answer.
  ///
  /// An end without an answer is not covered, because it grants nothing.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(user)
    image.append(content)
    image.append(statusText)
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
  func insert(_ transaction: TransactionRecord) throws {
    try insert(
      into: TransactionRecord.table,
      "id, user_id, content, statuses, created, expires, sealed_number, initiated, state, decision, container, decided, typed_fields, size, requirements, requester, sole_kind, code",
      [
        .of(transaction.id), .optional(transaction.user), .text(transaction.content),
        .text(transaction.statusText), .integer(transaction.created),
        .integer(transaction.expires), .optional(transaction.sealedNumber),
        .int(transaction.isInitiatedByDevice ? 1 : 0), .text(transaction.state.rawValue),
        .optional(transaction.decision?.jws), .optional(transaction.decision?.container),
        .optional(transaction.decision?.time),
        .optional(transaction.typedFields?.map { "\($0)" }.joined(separator: " ")),
        .integer(transaction.size),
        .optional(transaction.requirements.isEmpty ? nil : transaction.requirements.joined(separator: " ")),
        .optional(transaction.requester), .optional(transaction.soleKind?.rawValue),
        .optional(rowMAC.mac(of: transaction.image)),
      ])
  }
}
