import SignetCrypto
import SignetJSON

/// One UAF operation, from the token or the request to its end.
public struct UAFSessionRecord: Hashable, Sendable {
  /// Where an operation stands.
  public enum State: String, Hashable, Sendable {
    /// A token was made, and nobody has redeemed it yet.
    case tokenCreated
    /// A client has the request.
    case requested
    /// The response was taken.
    case succeeded
    /// It was not, or the client could not answer.
    case failed
  }

  /// Names the operation.
  public var id: String
  /// `Reg`, `Auth` or `Dereg`.
  public var operation: String
  /// Whose it is; `nil` while that is not known.
  public var user: String?
  /// What was asked of the server, as it was asked: the context of the request; `nil` for nothing.
  public var context: String?
  /// The transaction that the response decides; `nil` for none.
  public var transaction: String?
  /// The request as it was sent; `nil` before.
  public var request: [UInt8]?
  /// SHA-256 of the token that the request is had for; `nil` for one that was asked for directly.
  public var tokenDigest: [UInt8]?
  /// Until when the token can be redeemed, in seconds since 1970.
  public var tokenExpires: Int64?
  /// When it was begun, in seconds since 1970.
  public var created: Int64
  /// Until when a response is taken, in seconds since 1970.
  public var expires: Int64
  /// How the token was sent, and to which target; `nil` for neither.
  public var dispatcher: String?
  /// The target that the token was sent to; `nil` for none.
  public var target: String?
  /// The payload that the target is sent, sealed; `nil` for none.
  public var sealedPayload: [UInt8]?
  /// Stands for the address of a stranger who asked for it; `nil` where it was asked for by somebody who is known.
  public var client: [UInt8]?
  /// Where it stands.
  public var state: State
  /// How it ended.
  public var end: UAFSessionEnd?

  /// Describes an operation.
  public init(
    id: String, operation: String, user: String? = nil, context: String? = nil, created: Int64,
    expires: Int64, state: State
  ) {
    (self.id, self.operation, self.user, self.context) = (id, operation, user, context)
    (self.created, self.expires, self.state) = (created, expires, state)
  }

  /// Whether it was under way when its transaction ended, and ended with it.
  public var hasEndedWithTransaction: Bool {
    state == .failed && transaction != nil && end?.status == UAFOutcome.transactionOver.status
  }

  /// Whether it ended because its user or device was locked or revoked, or the user had as many keys as one may have.
  public var hasEndedAsForbidden: Bool { state == .failed && end?.status == UAFOutcome.tooMany.status }
}

/// How a UAF operation ended.
public struct UAFSessionEnd: Hashable, Sendable {
  /// The protocol's status.
  public var status: Int
  /// What the authenticators' module said of a failure; `nil` for nothing.
  public var asmStatus: Int?
  /// What the client said of a failure; `nil` for nothing.
  public var clientError: Int?
  /// The keys, as JSON for who asks how it stands.
  public var authenticators: String
  /// When, in seconds since 1970.
  public var time: Int64

  /// Describes an end.
  public init(
    status: Int, asmStatus: Int? = nil, clientError: Int? = nil, authenticators: String = "[]", time: Int64
  ) {
    (self.status, self.asmStatus, self.clientError) = (status, asmStatus, clientError)
    (self.authenticators, self.time) = (authenticators, time)
  }

  /// The keys, each with model and name; `nil` where that is no such list.
  var usedKeys: [(aaid: String, keyID: [UInt8])]? {
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
