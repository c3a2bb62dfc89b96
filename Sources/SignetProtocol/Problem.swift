import SignetJSON

/// An error answer: an RFC 9457 problem document with one of Signet's codes (`docs/protocol.md` section 8).
public struct Problem: Error, Hashable, Sendable {
  /// The stable codes of errors.
  @nonexhaustive public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The body is not the JSON that the protocol requires.
    case malformed = "request.malformed"
    /// The authentication is missing, wrong, replayed or out of date.
    case unauthorized = "request.unauthorized"
    /// The server does not know the container, or no longer.
    case containerUnknown = "container.unknown"
    /// The container's row was changed by something other than the server: it can only be revoked.
    case containerAltered = "container.altered"
    /// The API key lacks the scope.
    case forbidden = "request.forbidden"
    /// The device did not prove the invite, or the invite is void.
    case activationRefused = "activation.refused"
    /// The handshake has expired, or the server lost its key: start again.
    case handshakeVoid = "handshake.void"
    /// The container is locked or temporarily restricted.
    case containerLocked = "container.locked"
    /// The user's account is suspended or deleted.
    case userNotActive = "user.notActive"
    /// The device is locked, with everything that is bound to it.
    case deviceLocked = "device.locked"
    /// The user has no authenticator that can answer the request.
    case noAuthenticator = "user.noAuthenticator"
    /// The report answers no open challenge: the challenge was used, replaced or has expired.
    case reportReplayed = "report.replayed"
    /// The device has to send a report first, and then the decision again.
    case reportDue = "report.due"
    /// The server's policy does not accept the device's keystore.
    case deviceUnsupported = "device.unsupported"
    /// The resource does not exist.
    case unknown = "resource.unknown"
    /// The path does not support this method.
    case method = "request.method"
    /// The resource exists already.
    case exists = "resource.exists"
    /// The key is the last admin key and cannot be removed.
    case lastAdminKey = "key.last"
    /// The UAF key's state does not allow the operation: it is revoked, or not in quarantine.
    case uafKeyState = "uaf.keyState"
    /// Another decision was recorded first.
    case transactionDecided = "transaction.decided"
    /// The user cancelled the transaction, or the relying party withdrew it.
    case transactionCancelled = "transaction.cancelled"
    /// The transaction has expired.
    case transactionExpired = "transaction.expired"
    /// The number is not the one that the relying party displays.
    case transactionWrongNumber = "transaction.wrongNumber"
    /// The digits are not those that the device displays for the transaction.
    case transactionWrongAnswer = "transaction.wrongAnswer"
    /// Too many requests were sent to the user.
    case transactionTooMany = "transaction.tooMany"
    /// Too many wrong digits came from the client's address: the server does not compare any for now.
    case transactionWaiting = "transaction.waiting"
    /// The body has no `Content-Length`.
    case lengthRequired = "request.length"
    /// The request is too large.
    case tooLarge = "request.tooLarge"
    /// The media type is not `application/json`.
    case mediaType = "request.mediaType"
    /// The text to display is too long, or has scalars that are invisible or reorder text.
    case contentRefused = "content.refused"
    /// The server failed and changed nothing.
    case serverFailure = "server.failure"
    /// The server is overloaded.
    case busy = "server.busy"

    /// The HTTP status of the code.
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

    /// The meaning of the code in one sentence.
    public var title: String {
      switch self {
      case .malformed: "The request is malformed."
      case .unauthorized: "The request is not authenticated."
      case .containerUnknown: "The container is unknown."
      case .containerAltered: "The container was altered in the server's database."
      case .forbidden: "The API key may not do this."
      case .activationRefused: "The activation was refused."
      case .handshakeVoid: "The handshake is no longer valid; start again."
      case .containerLocked: "The container is locked."
      case .userNotActive: "The user's account is not active."
      case .deviceLocked: "The device is locked."
      case .noAuthenticator: "The user has no authenticator that can answer."
      case .reportReplayed: "The report answers no open challenge."
      case .reportDue: "A report of the device is due."
      case .deviceUnsupported: "The server does not accept this kind of device."
      case .unknown: "The resource does not exist."
      case .method: "The method is not allowed here."
      case .exists: "The resource already exists."
      case .lastAdminKey: "This is the last active API key with the scope admin."
      case .uafKeyState: "The state of the key does not allow this."
      case .transactionDecided: "The transaction is already decided."
      case .transactionExpired: "The transaction has expired."
      case .lengthRequired: "The request has no length."
      case .tooLarge: "The request is too large."
      case .mediaType: "The request is not application/json."
      case .transactionCancelled: "The transaction was cancelled or withdrawn."
      case .transactionWrongNumber: "The number is wrong."
      case .transactionWrongAnswer: "The answer is wrong."
      case .transactionTooMany: "There are too many requests."
      case .transactionWaiting: "The address must wait."
      case .contentRefused: "The text to display is refused."
      case .serverFailure: "Server error; nothing was changed."
      case .busy: "The server is busy."
      }
    }
  }

  /// The media type of a problem document.
  public static let mediaType = "application/problem+json"
  private static let prefix = "urn:signet:problem:"

  /// The code of the error.
  public let code: Code
  /// The advice for the client's user or developer; may be empty.
  public let detail: String
  /// The time to wait before a retry, in seconds; `nil` if waiting does not help or the time is unknown.
  public let retryAfter: Int64?

  /// Creates a problem.
  public init(_ code: Code, _ detail: String = "", retryAfter: Int64? = nil) {
    self.code = code
    self.detail = detail
    self.retryAfter = retryAfter
  }

  /// Parses a problem document; `nil` if it is malformed or its code is unknown to this build.
  public init?(parsing bytes: [UInt8]) {
    let object: JSONObject
    do { object = try Wire.object(bytes) } catch { return nil }
    // The length is checked before the comparison: normalizing a long run of combining marks takes long.
    guard case .string(let type)? = object["type"], type.utf8.count <= 128, type.hasPrefix(Self.prefix),
      let code = Code(rawValue: String(type.dropFirst(Self.prefix.count)))
    else { return nil }
    self.code = code
    if case .integer(let seconds)? = object["retryAfter"] { retryAfter = seconds } else { retryAfter = nil }
    if case .string(let detail)? = object["detail"] { self.detail = detail } else { detail = "" }
  }

  /// The problem document as JSON.
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
