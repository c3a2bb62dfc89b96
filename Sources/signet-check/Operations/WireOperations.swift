import SignetJSON
import SignetProtocol

/// Messages of the protocol between devices and servers.
let wireOperations = [
  Operation(name: "wire-message") { request in
    let (kind, text) = (try request.string("message"), try request.string("text"))
    guard let printed = wireMessages[kind] else {
      throw CheckFailure(
        invalid: "message", "use one of \(wireMessages.keys.sorted().joined(separator: ", "))")
    }
    return ["text": .string(String(decoding: try printed(Array(text.utf8)), as: UTF8.self))]
  }
]

/// Parses each plaintext message and prints it again.
private let wireMessages: [String: @Sendable ([UInt8]) throws -> [UInt8]] = [
  "activation-start": { try ActivationStart(parsing: $0).bytes },
  "activation-answer": { try StartAnswer<ActivationOffer>(parsing: $0).bytes },
  "activation-offer": { try ActivationOffer(parsing: $0).bytes },
  "activation-core": { try ActivationCore(parsing: $0).bytes },
  "activation-finish": { try ActivationFinish(parsing: $0).bytes },
  "activation-receipt": { try ActivationReceipt(parsing: $0).bytes },
  "activation-confirm": { try ActivationConfirm(parsing: $0).bytes },
  "renewal-start": { try RenewalStart(parsing: $0).bytes },
  "renewal-answer": { try StartAnswer<RenewalOffer>(parsing: $0).bytes },
  "renewal-offer": { try RenewalOffer(parsing: $0).bytes },
  "renewal-core": { try RenewalCore(parsing: $0).bytes },
  "renewal-finish": { try RenewalFinish(parsing: $0).bytes },
  "request-proof": { try RequestProof(parsing: $0).bytes },
  "decision": { try Decision(parsing: $0).bytes },
  "cancellation": { try Cancellation(parsing: $0).bytes },
  "end-notice": { try EndNotice(parsing: $0).bytes },
  "push-target": { try PushTargetForm(parsing: $0).bytes },
]
