import AccountModel
import SignetServer

/// What the log says of a run: the model before each entry, and after the last.
struct Course: Sendable {
  private(set) var moments: [Model]
  /// The places of the entries of attempts.
  var places: [String: Int] = [:]
  /// What tokens call users, at each moment.
  private var subjects: [[String: String]] = [[:]]
  private var current: [String: String] = [:]
  /// The requests whose tokens are not sent again, rightly.
  private var givenUp: Set<String> = []

  init(_ model: Model) { moments = [model] }

  mutating func append(_ model: Model) {
    moments.append(model)
    subjects.append(current)
  }

  /// Notes what a step did that the model does not know: what tokens call a user.
  mutating func note(_ attempt: Attempt, _ outcome: String) {
    if case .addUser(let user) = attempt.step, outcome == "done" { current[user] = "~\(attempt.name)" }
  }

  /// Does what the server has written by itself; whether it may.
  mutating func isRight(_ entry: LogEntry, _ model: inout Model) -> Bool {
    if let request = entry.expired { return model.expire(request, at: entry.time) }
    if let request = entry.pushed { return model.push(request, at: entry.time) }
    if let request = entry.told { return model.hasEnded(request) }
    guard let request = entry.gaveUp, model.mayGiveUp(request, at: entry.time, after: moments + [model])
    else {
      return false
    }
    // What was given up because it was late may have been late without a reason: that is seen at the end.
    if model.hasTokens(request) { givenUp.insert(request) }
    return true
  }

  /// The moments at which something can have been done, by when it began and ended.
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

  /// What is wrong with the tokens that a client got, and what would be right; `nil` for nothing.
  func faultOfTokens(_ attempt: Attempt, _ outcome: String, _ model: Model) -> (String, String)? {
    // Where there was nothing yet when they were to be made, the step has come later than its client knew.
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

  /// What is wrong with what clients were told: each was right while it was made, and nobody has waited in vain.
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

  /// What is wrong with how clients were told to slow down, which the log does not say: there is an order of the polls of a request, as
  /// far as that is free, by which each was told what is right.
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
        // Of one whose answer was lost nobody knows whether it was counted.
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
