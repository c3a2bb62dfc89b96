import SignetJSON

/// An error answer: RFC 9457 with one of our codes (`docs/protocol.md` section 8).
public struct Problem: Error, Hashable, Sendable {
  /// The stable codes.
  @nonexhaustive public enum Code: String, Hashable, Sendable, CaseIterable {
    /// Not the JSON that the protocol says.
    case malformed = "request.malformed"
    /// No, wrong, replayed or outdated authentication.
    case unauthorized = "request.unauthorized"
    /// The container is not, or no longer, known.
    case containerUnknown = "container.unknown"
    /// Somebody else than the server has written the row of the container: it can be revoked, and nothing else.
    case containerAltered = "container.altered"
    /// The API key lacks the scope.
    case forbidden = "request.forbidden"
    /// The invite was not proved, or is void.
    case activationRefused = "activation.refused"
    /// The handshake has ended, or the server has forgotten its key: begin again.
    case handshakeVoid = "handshake.void"
    /// The container is locked, or may do less for now.
    case containerLocked = "container.locked"
    /// The user's account is suspended or deleted.
    case userNotActive = "user.notActive"
    /// The device is locked, with all that is bound to it.
    case deviceLocked = "device.locked"
    /// The user has no authenticator that could ever answer the request.
    case noAuthenticator = "user.noAuthenticator"
    /// The report answers no challenge that is open: it was used, replaced, or is too old.
    case reportReplayed = "report.replayed"
    /// The device has to report before the decision is taken: it is sent again after that.
    case reportDue = "report.due"
    /// A policy of the server does not accept what keeps the device's secrets.
    case deviceUnsupported = "device.unsupported"
    /// No such thing.
    case unknown = "resource.unknown"
    /// The path knows other methods.
    case method = "request.method"
    /// There is one already.
    case exists = "resource.exists"
    /// The last key of an operator stays.
    case lastAdminKey = "key.last"
    /// The state of a key of UAF does not allow what is asked: it is revoked, or not in quarantine.
    case uafKeyState = "uaf.keyState"
    /// Another decision came first.
    case transactionDecided = "transaction.decided"
    /// The user has cancelled the transaction, or the relying party has withdrawn it.
    case transactionCancelled = "transaction.cancelled"
    /// Too late.
    case transactionExpired = "transaction.expired"
    /// The number is not the one that the relying party shows.
    case transactionWrongNumber = "transaction.wrongNumber"
    /// The digits are not those that the device shows for the transaction.
    case transactionWrongAnswer = "transaction.wrongAnswer"
    /// The user is asked too often.
    case transactionTooMany = "transaction.tooMany"
    /// Digits are not compared yet: too many from the same address were wrong.
    case transactionWaiting = "transaction.waiting"
    /// The body has no `Content-Length`.
    case lengthRequired = "request.length"
    /// The request is too large.
    case tooLarge = "request.tooLarge"
    /// Not `application/json`.
    case mediaType = "request.mediaType"
    /// What is to be shown would not show as it is, or is too long.
    case contentRefused = "content.refused"
    /// The server failed and changed nothing.
    case serverFailure = "server.failure"
    /// The server has too much to do.
    case busy = "server.busy"

    /// The HTTP status that goes with the code.
    public var status: Int {
      switch self {
      case .malformed: 400
      case .unauthorized, .containerUnknown: 401
      case .forbidden, .activationRefused, .deviceUnsupported, .transactionWrongNumber,
        .transactionWrongAnswer, .containerLocked, .containerAltered, .userNotActive, .deviceLocked:
        403
      case .unknown: 404
      case .method: 405
      case .exists, .lastAdminKey, .uafKeyState, .noAuthenticator, .transactionDecided, .transactionCancelled,
        .reportReplayed, .reportDue, .handshakeVoid:
        409
      case .transactionExpired: 410
      case .lengthRequired: 411
      case .tooLarge: 413
      case .mediaType: 415
      case .contentRefused: 422
      case .transactionTooMany, .transactionWaiting: 429
      case .serverFailure: 500
      case .busy: 503
      }
    }

    /// What the code means, in a sentence.
    public var title: String {
      switch self {
      case .malformed: "The request is malformed."
      case .unauthorized: "The request is not authenticated."
      case .containerUnknown: "The container is unknown."
      case .containerAltered: "The container was altered in the server's database."
      case .forbidden: "The API key may not do this."
      case .activationRefused: "The activation was refused."
      case .handshakeVoid: "The handshake is void."
      case .containerLocked: "The container is locked."
      case .userNotActive: "The user's account is not active."
      case .deviceLocked: "The device is locked."
      case .noAuthenticator: "No authenticator of the user's can answer."
      case .reportReplayed: "The report answers no open challenge."
      case .reportDue: "A report of the device is due."
      case .deviceUnsupported: "The server does not accept this kind of device."
      case .unknown: "There is no such thing."
      case .method: "The method is not allowed here."
      case .exists: "There is one already."
      case .lastAdminKey: "It is the last good key of scope admin."
      case .uafKeyState: "The state of the key does not allow this."
      case .transactionDecided: "The transaction was decided before."
      case .transactionExpired: "The transaction has expired."
      case .lengthRequired: "The request has no length."
      case .tooLarge: "The request is too large."
      case .mediaType: "The request is not application/json."
      case .transactionCancelled: "The transaction was cancelled or withdrawn."
      case .transactionWrongNumber: "The number is wrong."
      case .transactionWrongAnswer: "The answer is wrong."
      case .transactionTooMany: "The user is asked too often."
      case .transactionWaiting: "The address has to wait."
      case .contentRefused: "What is to be shown is refused."
      case .serverFailure: "The server failed; nothing was changed."
      case .busy: "The server is busy; try again later."
      }
    }
  }

  /// The media type of a problem document.
  public static let mediaType = "application/problem+json"
  private static let prefix = "urn:signet:problem:"

  /// What went wrong.
  public let code: Code
  /// What to do about it; may be empty.
  public let detail: String
  /// When to try again, in seconds from now; `nil` where time does not help, or nobody knows.
  public let retryAfter: Int64?

  /// Puts a problem together.
  public init(_ code: Code, _ detail: String = "", retryAfter: Int64? = nil) {
    (self.code, self.detail, self.retryAfter) = (code, detail, retryAfter)
  }

  /// Reads a problem document; `nil` for anything else and for a code that this build does not know.
  public init?(parsing bytes: [UInt8]) {
    let object: JSONObject
    do { object = try Wire.object(bytes) } catch { return nil }
    // What is long is not compared: a run of combining marks takes long to put into its normal form.
    guard case .string(let type)? = object["type"], type.utf8.count <= 128, type.hasPrefix(Self.prefix),
      let code = Code(rawValue: String(type.dropFirst(Self.prefix.count)))
    else { return nil }
    self.code = code
    if case .integer(let seconds)? = object["retryAfter"] { retryAfter = seconds } else { retryAfter = nil }
    if case .string(let detail)? = object["detail"] { self.detail = detail } else { detail = "" }
  }

  /// The problem document.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["type"] = .string(Self.prefix + code.rawValue)
    object["title"] = .string(code.title)
    object["status"] = .integer(Int64(code.status))
    if !detail.isEmpty { object["detail"] = .string(detail) }
    if let retryAfter { object["retryAfter"] = .integer(retryAfter) }
    return JSONValue.object(object).bytes
  }
}
