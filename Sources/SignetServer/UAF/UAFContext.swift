import SignetCrypto
import SignetJSON
import SignetStorage
import SignetUAF

/// The parsed `context` of a client's message: a JSON object as text.
struct UAFContext: Sendable {
  /// The largest user id in the protocol's messages, in characters.
  private static let longestUsername = 128

  /// The user of the operation; `nil` if the client's key identifies the user.
  let username: String?
  /// The name of the policy; `nil` for the default.
  let policy: String?
  let transactions: [UAFTransaction]
  /// The transaction of this server to decide; `nil` for none.
  let transactionID: TransactionID?
  /// True if the transaction is shown with its requester, as in operations that the server itself orders.
  let isRequesterShown: Bool
  var targets: [DeregistrationRequest.Target]

  static let requesterName = "isRequesterShown"

  /// Parses a context.
  ///
  /// - Parameters:
  ///   - text: The text; `nil` for none.
  ///   - operation: The operation that the context is for.
  ///   - isTrusted: True if the server created the text or validated it before; no other context may ask to show the requester.
  /// - Throws: ``UAFStatusFailure``.
  init(_ text: String?, for operation: UAFOperation, isTrusted: Bool = false) throws(UAFStatusFailure) {
    let object: JSONObject
    let transaction: String?
    do throws(JSONFailure) {
      object = try text.map { text throws(JSONFailure) in try JSONObject(parsing: Array(text.utf8)) } ?? [:]
      username = try object.optionalString("username")
      policy = try object.optionalString("policy")
      transaction = try object.optionalString("transactionId")
      isRequesterShown = try object.optionalBool(Self.requesterName) ?? false
    } catch { throw UAFStatusFailure(.badRequest, "context: \(error)") }
    transactionID = transaction.flatMap { TransactionID(checking: $0) }
    guard transaction == nil || transactionID != nil else {
      throw UAFStatusFailure(.notFound, "there is no such pending transaction of the user")
    }
    guard isTrusted || !isRequesterShown else {
      throw UAFStatusFailure(.badRequest, "\(Self.requesterName) can be set only by the server")
    }
    if let username {
      guard !username.isEmpty, username.utf8.count <= 4 * Self.longestUsername,
        username.unicodeScalars.count <= Self.longestUsername
      else {
        throw UAFStatusFailure(.badRequest, "username must have 1 to \(Self.longestUsername) characters")
      }
    } else if operation != .authentication {
      throw UAFStatusFailure(.badRequest, "username is missing in context")
    }
    transactions = operation == .authentication ? try Self.transactions(object["transaction"]) : []
    guard transactions.isEmpty || transactionID == nil else {
      throw UAFStatusFailure(.badRequest, "transaction and transactionId cannot be combined")
    }
    targets = operation == .deregistration ? try Self.targets(object) : []
  }

  /// Returns the name of the policy in a context that was validated before; `nil` for none.
  static func policy(in text: String?) throws(UAFStatusFailure) -> String? {
    guard let text else { return nil }
    do throws(JSONFailure) { return try JSONObject(parsing: Array(text.utf8)).optionalString("policy") } catch
    {
      throw UAFStatusFailure(.internalError, "a stored context can't be read")
    }
  }

  /// Parses one transaction as plain text, or transactions in the protocol's form.
  private static func transactions(_ value: JSONValue?) throws(UAFStatusFailure) -> [UAFTransaction] {
    switch value {
    case nil, .null: return []
    case .string(let text):
      guard let transaction = UAFTransaction(contentType: .text, content: Array(text.utf8)) else {
        throw UAFStatusFailure(.badRequest, "a transaction's text must have 1 to 200 ASCII characters")
      }
      return [transaction]
    case .object(let object): return [try readingUAF(UAFTransaction(object))]
    case .array(let values):
      guard (1...16).contains(values.count) else {
        throw UAFStatusFailure(.badRequest, "transaction must have 1 to 16 elements")
      }
      var transactions: [UAFTransaction] = []
      for value in values {
        guard case .object(let object) = value else {
          throw UAFStatusFailure(.badRequest, "a transaction must be an object")
        }
        transactions.append(try readingUAF(UAFTransaction(object)))
      }
      return transactions
    default: throw UAFStatusFailure(.badRequest, "transaction must be a string, an object or a list")
    }
  }

  /// Parses `authenticators` in the protocol's form, or the shorter forms of the conformance tool.
  private static func targets(_ object: JSONObject) throws(UAFStatusFailure) -> [DeregistrationRequest.Target]
  {
    let (isAll, model): (Bool?, String?)
    do throws(JSONFailure) {
      (isAll, model) = (
        try object.optionalBool("deregisterAll"), try object.optionalString("deregisterAAID")
      )
    } catch { throw UAFStatusFailure(.badRequest, "context: \(error)") }
    if isAll == true { return [.everything] }
    if let model {
      guard let aaid = AAID(model) else {
        throw UAFStatusFailure(.badRequest, "deregisterAAID is not an AAID")
      }
      return [.model(aaid)]
    }
    guard case .array(let values)? = object["authenticators"] else { return [.everything] }
    guard (1...1024).contains(values.count) else {
      throw UAFStatusFailure(.badRequest, "authenticators must have 1 to 1,024 elements")
    }
    var targets: [DeregistrationRequest.Target] = []
    for value in values {
      guard case .object(let object) = value else {
        throw UAFStatusFailure(.badRequest, "an authenticator must be an object")
      }
      targets.append(try readingUAF(DeregistrationRequest.Target(object)))
    }
    guard targets.count == 1 || !targets.contains(.everything) else {
      throw UAFStatusFailure(
        .badRequest, "an element of authenticators that names all keys must be the only one")
    }
    return targets
  }
}
