import SignetCrypto
import SignetJSON
import SignetStorage
import SignetUAF

/// What stands in `context` of a request to the server: a JSON text of its own.
struct UAFContext: Sendable {
  /// The longest id of a user that the protocol's messages hold, in characters.
  private static let longestUsername = 128

  /// Whose operation it is; `nil` where the client is to say by its key.
  let username: String?
  /// The policy, by its name.
  let policy: String?
  /// What is to be confirmed.
  let transactions: [UAFTransaction]
  /// A transaction of this server that is to be decided; `nil` for none.
  let transactionID: TransactionID?
  /// Whether the transaction is shown with who asks for it: so where the server asks by itself.
  let isRequesterShown: Bool
  /// What is to be removed.
  var targets: [DeregistrationRequest.Target]

  static let requesterName = "isRequesterShown"

  /// Reads a context.
  ///
  /// - Parameters:
  ///   - text: The text; `nil` for none.
  ///   - operation: What it is for.
  ///   - isOwn: Whether the server has made it or taken it in before; only its own say that the requester is shown.
  /// - Throws: ``UAFFailure``.
  init(_ text: String?, for operation: UAFOperation, isOwn: Bool = false) throws(UAFFailure) {
    let object: JSONObject
    let transaction: String?
    do throws(JSONFailure) {
      object = try text.map { text throws(JSONFailure) in try JSONObject(parsing: Array(text.utf8)) } ?? [:]
      username = try object.optionalString("username")
      policy = try object.optionalString("policy")
      transaction = try object.optionalString("transactionId")
      isRequesterShown = try object.optionalBool(Self.requesterName) ?? false
    } catch { throw UAFFailure(.badRequest, "context: \(error)") }
    transactionID = transaction.flatMap { TransactionID(checking: $0) }
    guard transaction == nil || transactionID != nil else {
      throw UAFFailure(.notFound, "there is no such transaction that waits for the user")
    }
    guard isOwn || !isRequesterShown else {
      throw UAFFailure(.badRequest, "\(Self.requesterName) is for the server itself to say")
    }
    if let username {
      guard !username.isEmpty, username.utf8.count <= 4 * Self.longestUsername,
        username.unicodeScalars.count <= Self.longestUsername
      else { throw UAFFailure(.badRequest, "username has 1 to \(Self.longestUsername) characters") }
    } else if operation != .authentication {
      throw UAFFailure(.badRequest, "username is missing in context")
    }
    transactions = operation == .authentication ? try Self.transactions(object["transaction"]) : []
    guard transactions.isEmpty || transactionID == nil else {
      throw UAFFailure(.badRequest, "transaction and transactionId do not go together")
    }
    targets = operation == .deregistration ? try Self.targets(object) : []
  }

  /// The name of the policy in a context that was read before; `nil` for none.
  static func policy(in text: String?) throws(UAFFailure) -> String? {
    guard let text else { return nil }
    do throws(JSONFailure) { return try JSONObject(parsing: Array(text.utf8)).optionalString("policy") } catch
    {
      throw UAFFailure(.internalError, "a stored context can't be read")
    }
  }

  /// A plain text, or transactions as requests have them.
  private static func transactions(_ value: JSONValue?) throws(UAFFailure) -> [UAFTransaction] {
    switch value {
    case nil, .null: return []
    case .string(let text):
      guard let transaction = UAFTransaction(contentType: .text, content: Array(text.utf8)) else {
        throw UAFFailure(.badRequest, "a transaction's text has 1 to 200 ASCII characters")
      }
      return [transaction]
    case .object(let object): return [try readingUAF(UAFTransaction(object))]
    case .array(let values):
      guard (1...16).contains(values.count) else {
        throw UAFFailure(.badRequest, "there are 1 to 16 transactions")
      }
      var transactions: [UAFTransaction] = []
      for value in values {
        guard case .object(let object) = value else {
          throw UAFFailure(.badRequest, "a transaction is an object")
        }
        transactions.append(try readingUAF(UAFTransaction(object)))
      }
      return transactions
    default: throw UAFFailure(.badRequest, "a transaction is a text or an object")
    }
  }

  /// `authenticators` as in the protocol, or the shorter forms of the conformance tool.
  private static func targets(_ object: JSONObject) throws(UAFFailure) -> [DeregistrationRequest.Target] {
    let (isAll, model): (Bool?, String?)
    do throws(JSONFailure) {
      (isAll, model) = (
        try object.optionalBool("deregisterAll"), try object.optionalString("deregisterAAID")
      )
    } catch { throw UAFFailure(.badRequest, "context: \(error)") }
    if isAll == true { return [.everything] }
    if let model {
      guard let aaid = AAID(model) else { throw UAFFailure(.badRequest, "deregisterAAID is no AAID") }
      return [.model(aaid)]
    }
    guard case .array(let values)? = object["authenticators"] else { return [.everything] }
    guard (1...1024).contains(values.count) else {
      throw UAFFailure(.badRequest, "authenticators has 1 to 1,024 elements")
    }
    var targets: [DeregistrationRequest.Target] = []
    for value in values {
      guard case .object(let object) = value else {
        throw UAFFailure(.badRequest, "an authenticator is an object")
      }
      targets.append(try readingUAF(DeregistrationRequest.Target(object)))
    }
    guard targets.count == 1 || !targets.contains(.everything) else {
      throw UAFFailure(.badRequest, "everything stands alone in authenticators")
    }
    return targets
  }
}
