import SignetCrypto
import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetPushAuth
import SignetStorage
import SignetSystem

/// The answers to apps that poll for their messages, without a push service.
extension PushAuthService {
  /// The largest clock difference of an app, in seconds.
  private static let clockSkew: Int64 = 300
  /// The time for which a message's end is reported after its expiry, in seconds.
  private static let endedSeconds: Int64 = 600

  /// Returns true if an app polls for its messages.
  func isPolling(_ mechanism: PushAuthMechanismRecord) -> Bool {
    device(of: mechanism)?.service == PushAuthDevice.live
  }

  /// Answers an app with its waiting messages.
  ///
  /// If the app knows the list already, the request may wait for a change.
  func waiting(_ request: ServerRequest, in watch: TransactionWatch, _ responder: Responder) async {
    do {
      let submission: PushAuthSubmission
      do throws(PushAuthFailure) {
        submission = try PushAuthSubmission(parsing: request.body, for: .refresh)
      } catch { return responder.answer(Self.refusal(error.description)) }
      guard let name = submission.mechanismID,
        let mechanism = try await context.storage.pushAuthMechanism(named: name),
        mechanism.state == .active
      else { return responder.answer(Self.refused) }
      let key = try key(of: mechanism)
      let poll: PushAuthWaiting
      do throws(PushAuthFailure) { poll = try submission.waiting(with: key) } catch {
        return responder.answer(refused(error, mechanism))
      }
      try await requireActive(mechanism)
      let (now, limit) = (context.clock.now, Self.clockSkew)
      guard (now - limit...now + limit).contains(poll.time) else {
        return responder.answer(Self.refusal("The device's clock is wrong, or the request is too old."))
      }
      guard let listTag = poll.known, poll.seconds > 0, try await tag(of: mechanism) == listTag else {
        return responder.answer(try await list(of: mechanism))
      }
      // The wait ends when the first message expires.
      let next = try await messages(of: mechanism).filter(isWaiting).map(\.expires).min() ?? .max
      let seconds = min(poll.seconds, WaitingRequest.longestWait, max(next - context.clock.now, 1))
      let waiting = WaitingRequest(
        of: "app:\(mechanism.id)", for: mechanism.user, in: watch,
        until: context.elapsed() + .seconds(seconds), responder,
        news: {
          do {
            try await requireActive(mechanism)
            guard try await context.storage.pushAuthMechanism(mechanism.id)?.state == .active else {
              return Self.refused
            }
            return try await tag(of: mechanism) == listTag ? nil : try await list(of: mechanism)
          } catch {
            return Dialect.pushApps.response(to: error, context)
          }
        },
        nothingNew: {
          do { return try await list(of: mechanism) } catch {
            return Dialect.pushApps.response(to: error, context)
          }
        })
      await waiting.begin(from: request.remoteAddress)
    } catch { responder.answer(Dialect.pushApps.response(to: error, context)) }
  }

  /// Throws if the user is not active, as for containers; the app asks again until the user is resumed.
  private func requireActive(_ mechanism: PushAuthMechanismRecord) async throws {
    if let refusal = try await context.storage.user(mechanism.user)?.refusal { throw refusal }
  }

  private func messages(
    of mechanism: PushAuthMechanismRecord
  ) async throws -> [PushAuthMessageRecord] {
    try await context.storage.pushAuthMessages(
      of: mechanism.id, after: context.clock.now - Self.endedSeconds)
  }

  private func isWaiting(_ message: PushAuthMessageRecord) -> Bool {
    message.state == .pending && message.expires > context.clock.now
  }

  /// Returns the tag of the list of waiting messages; it changes whenever the list changes.
  private func tag(of mechanism: PushAuthMechanismRecord) async throws -> String {
    Self.tag(try await messages(of: mechanism).filter(isWaiting))
  }

  private static func tag(_ messages: [PushAuthMessageRecord]) -> String {
    let ids = messages.map(\.id.text).sorted().joined(separator: " ")
    return Base64URL.encode(Array(HashFunction.sha256.digest(of: Array(ids.utf8)).prefix(12)))
  }

  /// Marks expired messages in the storage before they are reported, so that they stay expired if the clock is set back.
  private func keepExpiry(of messages: [PushAuthMessageRecord]) async throws {
    let now = context.clock.now
    if messages.contains(where: { $0.state == .pending && $0.expires <= now }) {
      try await context.sweep(at: now)
    }
  }

  /// Returns the state of a transaction.
  ///
  /// One with an altered row counts as expired, since it cannot be answered.
  func state(of transaction: TransactionID) async throws -> TransactionRecord.State {
    do {
      return try await context.storage.transaction(transaction)?.state ?? .expired
    } catch {
      guard case .altered = error else { throw error }
      return .expired
    }
  }

  /// Returns the waiting messages, and how recent ones have ended.
  private func list(of mechanism: PushAuthMechanismRecord) async throws -> ServerResponse {
    try await keepExpiry(of: messages(of: mechanism))
    let found = try await messages(of: mechanism)
    let present = found.filter(isWaiting)
    let names = Set(present.map(\.id))
    var list = PushAppWaiting(tag: Self.tag(present), messages: [], ended: [])
    for message in found {
      let id = Self.authenticates + message.id.text
      if names.contains(message.id) {
        guard let sealed = message.sealedToken else { continue }
        let opened = try context.masterKey.open(sealed, for: .pushAuthToken(message: message.id))
        let token = String(decoding: opened.insecureCopy(), as: UTF8.self)
        list.messages.append(MadePushMessage.Push(messageId: id, data: token))
        continue
      }
      let state = try await state(of: message.transaction)
      list.ended.append(PushAppWaiting.Ended(messageId: id, status: state.rawValue))
    }
    return .json(list.json)
  }
}
