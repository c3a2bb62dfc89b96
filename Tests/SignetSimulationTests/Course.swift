import AccountModel
import SignetServer

/// The course of a run by its log: the model before each entry, and after the last.
struct Course: Sendable {
  private(set) var moments: [Model]
  /// The indices of the attempts' entries.
  var places: [String: Int] = [:]
  /// The subjects of the users in tokens, at each moment.
  private var subjects: [[String: String]] = [[:]]
  private var current: [String: String] = [:]
  /// The requests whose token deliveries were validly abandoned.
  private var givenUp: Set<String> = []

  init(_ model: Model) { moments = [model] }

  mutating func append(_ model: Model) {
    moments.append(model)
    subjects.append(current)
  }

  /// Records the subject that a step gave a user, which the model does not have.
  mutating func note(_ attempt: Attempt, _ outcome: String) {
    if case .addUser(let user) = attempt.step, outcome == "done" { current[user] = "~\(attempt.name)" }
  }

  /// Applies an entry that the server wrote without a step; returns whether it was allowed.
  mutating func isRight(_ entry: LogEntry, _ model: inout Model) -> Bool {
    if let request = entry.expired { return model.expire(request, at: entry.time) }
    if let request = entry.pushed { return model.push(request, at: entry.time) }
    if let request = entry.told { return model.hasEnded(request) }
    guard let request = entry.gaveUp, model.mayGiveUp(request, at: entry.time, after: moments + [model])
    else {
      return false
    }
    // A notification abandoned for lateness may have been late without a reason, which the end shows.
    if model.hasTokens(request) { givenUp.insert(request) }
    return true
  }

  /// The moments at which an attempt can have taken effect, by its beginning and end.
  func moments(from began: Int, to ended: Int?, in run: Run) -> ClosedRange<Int> {
    var (first, last) = (0, moments.count - 1)
    for other in run.attempts {
      guard let place = places[other.name] else { continue }
      if let end = other.ended, end < began { first = max(first, place + 1) }
      if let ended, other.began > ended { last = min(last, place) }
    }
    return first...max(first, last)
  }

  // MARK: Tokens

  /// Returns the wrong and the expected tokens of a client; `nil` if they are right.
  func faultOfTokens(_ attempt: Attempt, _ outcome: String, _ model: Model) -> (String, String)? {
    // Without tokens at the time of their making, the step came later than its client knew.
    guard case .issue(let request, _) = attempt.step, outcome == "done", let found = attempt.claims else {
      return nil
    }
    let expected = claims(of: request, model, current)
    return found == expected ? nil : ("tokens \(found)", expected ?? "none")
  }

  /// The claims of the ID token for a request, with `sub`.
  private func claims(of request: String, _ model: Model, _ subjects: [String: String]) -> String? {
    guard let claims = model.claims(of: request) else { return nil }
    return "\(claims) \(model.user(of: request).flatMap { subjects[$0] } ?? "-")"
  }

  // MARK: Notices

  /// Returns the faults of the notifications: each must be right at the time of its making, and each owed one must arrive.
  func faultsOfNotices(in run: Run) -> [String] {
    guard let end = moments.last else { return [] }
    var faults: [String] = []
    for notice in run.notices {
      let asker = end.client(of: notice.request)
      if asker != notice.client {
        faults.append("\(notice.client) is told of \(notice.request), which is of \(asker ?? "nobody")")
      } else if !isRight(notice, in: run) {
        faults.append("\(notice.client) is told of \(notice.request): \(notice.content)")
      }
    }
    let told = Set(run.notices.map(\.request))
    for request in end.owedNotices(at: run.calmTime + OutboxSender.lease)
    where !told.contains(request) && !givenUp.contains(request) {
      faults.append("\(end.client(of: request) ?? "nobody") is not told of \(request)")
    }
    return faults
  }

  private func isRight(_ notice: Notice, in run: Run) -> Bool {
    moments(from: notice.began, to: notice.moment, in: run).contains { place in
      let model = moments[place]
      return model.notices(of: notice.request).contains { content in
        notice.content
          == (content == model.claims(of: notice.request)
            ? claims(of: notice.request, model, subjects[place]) : content)
      }
    }
  }

  // MARK: Polls

  /// Returns the faults of `slow down` answers, which the log does not have.
  ///
  /// The polls of a request must have a possible order in which each answer is right.
  static func faultsOfPolls(in run: Run, by model: Model) -> [String] {
    var (askers, polls): ([String: String], [String: [Attempt]]) = ([:], [:])
    for attempt in run.attempts {
      switch attempt.step {
      case .backchannel(let request, _, _, _, _, let client): askers[request] = client
      case .poll(let request, _) where attempt.heard == "pending" || attempt.answer == nil:
        polls[request, default: []].append(attempt)
      default: break
      }
    }
    return polls.compactMap { request, all in
      let counted = all.filter { attempt in
        if case .poll(_, let client) = attempt.step { askers[request] == client } else { false }
      }
      let deeds = counted.map { attempt in
        // A poll whose answer was lost may or may not have counted.
        Deed(from: attempt.began, to: attempt.ended ?? .max, mayBeAbsent: attempt.answer == nil) { model in
          let said = model.pace(request, at: attempt.time)
          return attempt.answer.map { $0 == said } ?? true
        }
      }
      guard !Ordering(of: deeds, from: model, isEnd: { _ in true }).isWhole else { return nil }
      return "\(request) is polled: \(counted.map { "\($0.time) \($0.answer ?? "-")" })"
    }
  }
}
