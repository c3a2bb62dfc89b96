import SignetCrypto
import SignetJSON
import SignetSQL

/// One UAF operation, from the token or the request to its end.
package struct UAFOperationRecord: Hashable, Sendable {
  /// The state of an operation.
  package enum State: String, Hashable, Sendable {
    /// A token was created, and not redeemed yet.
    case tokenCreated
    /// A client has the request.
    case requested
    /// The server accepted the response.
    case succeeded
    /// The server rejected the response, the client could not answer, or the operation ended early.
    case failed
  }

  /// The id of the operation.
  package var id: ID<UAFOperationRecord>
  /// `Reg`, `Auth` or `Dereg`.
  package var operation: String
  /// The user; `nil` while that is not known.
  package var user: UserID?
  /// The context of the request, as received; `nil` for none.
  package var context: String?
  /// The transaction that the response decides; `nil` for none.
  package var transaction: TransactionID?
  /// The request as sent; `nil` before.
  package var request: [UInt8]?
  /// SHA-256 of the token that is redeemed for the request; `nil` if the request was asked for directly.
  package var tokenDigest: [UInt8]?
  /// The end of the time for redeeming the token, in seconds since 1970.
  package var tokenExpires: Int64?
  /// When it began, in seconds since 1970.
  package var created: Int64
  /// The end of the time for a response, in seconds since 1970.
  package var expires: Int64
  /// The name of the dispatcher that sent the token; `nil` for none.
  package var dispatcher: String?
  /// The target that the token was sent to; `nil` for none.
  package var target: ID<UAFTargetRecord>?
  /// The payload for the target, encrypted; `nil` for none.
  package var sealedPayload: [UInt8]?
  /// Stands for the address of an unauthenticated client that asked for it; `nil` for an authenticated one.
  package var client: [UInt8]?
  /// The requester, in the format of the audit log's actors, if the operation counts against the user's budget of requests;
  /// `nil` otherwise.
  package var requester: String?
  /// The state.
  package var state: State
  /// The end; `nil` before.
  package var end: UAFOperationEnd?

  /// Describes an operation.
  package init(
    id: ID<UAFOperationRecord>, operation: String, user: UserID? = nil, context: String? = nil,
    created: Int64,
    expires: Int64, state: State
  ) {
    self.id = id
    self.operation = operation
    self.user = user
    self.context = context
    self.created = created
    self.expires = expires
    self.state = state
  }

  /// Indicates whether the server still accepts a response, or a redemption of the token.
  package var isOpen: Bool { state == .requested || state == .tokenCreated }
  /// The SQL condition for rows whose ``isOpen`` is true.
  static let isOpenCondition = "state IN ('requested', 'tokenCreated')"

  /// Returns `true` if its token, or the time for its response, has expired while it is open.
  package func hasExpired(at time: Int64) -> Bool {
    switch state {
    case .tokenCreated: (tokenExpires ?? expires) <= time
    case .requested: expires <= time
    case .succeeded, .failed: false
    }
  }

  /// Indicates whether the end of its transaction ended it.
  package var hasEndedWithTransaction: Bool {
    state == .failed && transaction != nil && end?.status == UAFOutcome.transactionEnded.status
  }

  /// Indicates whether it ended because its user or device was locked or revoked, or the user had reached the maximum number of keys.
  package var hasEndedAsForbidden: Bool { state == .failed && end?.status == UAFOutcome.forbiddenStatus }
}

/// The end of a UAF operation.
package struct UAFOperationEnd: Hashable, Sendable {
  /// The protocol's status.
  package var status: Int
  /// The ASM's status of a failure; `nil` for none.
  package var asmStatus: Int?
  /// The client's error code of a failure; `nil` for none.
  package var clientError: Int?
  /// The keys, as JSON for a caller that queries the status.
  package var authenticators: String
  /// The time of the end, in seconds since 1970.
  package var time: Int64

  /// Describes an end.
  package init(
    status: Int, asmStatus: Int? = nil, clientError: Int? = nil, authenticators: String = "[]", time: Int64
  ) {
    self.status = status
    self.asmStatus = asmStatus
    self.clientError = clientError
    self.authenticators = authenticators
    self.time = time
  }

  /// The end of an operation because its user or device was locked or revoked.
  static func forbidden(at time: Int64) -> UAFOperationEnd {
    UAFOperationEnd(status: UAFOutcome.forbiddenStatus, time: time)
  }

  /// The keys, each with model and key id; `nil` if the text is no such list.
  package var usedKeys: [(aaid: String, keyID: [UInt8])]? {
    do throws(JSONFailure) {
      guard case .array(let values) = try JSONValue(parsing: Array(authenticators.utf8)) else { return nil }
      var keys: [(aaid: String, keyID: [UInt8])] = []
      for value in values {
        guard case .object(let object) = value,
          let keyID = Base64URL.decodePadded(try object.string("keyId"))
        else { return nil }
        keys.append((try object.string("aaid"), keyID))
      }
      return keys
    } catch { return nil }
  }
}

extension UAFOperationRecord: StoredRecord {
  static let table = "uaf_sessions"
  static let columns =
    "state, id, operation, user_id, context, created, expires, txn, request, token_digest, token_expires, dispatcher, target, sealed_payload, status, asm_status, client_error, authenticators, ended, client, code, requester"

  /// Reads a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if its MAC does not verify; ``SQLFailure``.
  init(_ row: SQLRow, _ mac: RowMAC) throws {
    do { try self.init(reading: row, mac) } catch SQLFailure.unexpectedValue {
      // An unknown word in a column means that the row was altered.
      throw StorageFailure.altered(row: try row.text(1), of: Self.table)
    }
  }

  private init(reading row: SQLRow, _ mac: RowMAC) throws {
    let state: State = try row.value(0)
    self.init(
      id: try row.id(1), operation: try row.text(2), user: try row.optional(3, row.user),
      context: try row.optional(4, row.text), created: try row.integer(5),
      expires: try row.integer(6), state: state)
    transaction = try row.optional(7, row.id)
    request = try row.optional(8, row.blob)
    tokenDigest = try row.optional(9, row.blob)
    tokenExpires = try row.optional(10, row.integer)
    dispatcher = try row.optional(11, row.text)
    target = try row.optional(12, row.id)
    sealedPayload = try row.optional(13, row.blob)
    if let status = try row.optional(14, row.integer) {
      end = UAFOperationEnd(
        status: Int(clamping: status),
        asmStatus: try row.optional(15, row.integer).map { Int(clamping: $0) },
        clientError: try row.optional(16, row.integer).map { Int(clamping: $0) },
        authenticators: try row.text(17), time: try row.integer(18))
    }
    client = try row.optional(19, row.blob)
    requester = try row.optional(21, row.text)
    try mac.check(image, try row.optional(20, row.blob), named: id.text, of: Self.table)
  }

  /// The input of the row's MAC: all columns.
  var image: MACInput {
    var image = MACInput(Self.table)
    image.append(id)
    image.append(operation)
    image.append(user)
    image.append(context)
    image.append(transaction)
    image.append(request)
    image.append(tokenDigest)
    image.append(tokenExpires)
    image.append(created)
    image.append(expires)
    image.append(dispatcher)
    image.append(target)
    image.append(sealedPayload)
    image.append(client)
    image.append(requester)
    image.append(state.rawValue)
    image.append(end?.status)
    image.append(end?.asmStatus)
    image.append(end?.clientError)
    image.append(end?.authenticators)
    image.append(end?.time)
    return image
  }
}

extension SQLConnection {
  func insert(_ session: UAFOperationRecord) throws {
    try insert(
      into: UAFOperationRecord.table,
      "id, operation, user_id, context, txn, request, token_digest, token_expires, created, expires, dispatcher, target, sealed_payload, client, state, requester, code",
      [
        .of(session.id), .text(session.operation), .optional(session.user), .optional(session.context),
        .optional(session.transaction), .optional(session.request), .optional(session.tokenDigest),
        .optional(session.tokenExpires), .integer(session.created), .integer(session.expires),
        .optional(session.dispatcher), .optional(session.target), .optional(session.sealedPayload),
        .optional(session.client), .text(session.state.rawValue), .optional(session.requester),
        .optional(rowMAC.mac(of: session.image)),
      ])
  }
}
