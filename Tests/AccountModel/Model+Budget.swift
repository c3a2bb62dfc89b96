// The rate limit of requests to a user.
extension Model {
  /// The reason why a party may not ask a user now; `nil` if it may.
  func refusal(of party: String, to user: String, at time: Int64) -> String? {
    guard let budget, missing != .oneBudget else { return nil }
    let until = max(rows[user]?.until ?? 0, shares[user]?[party]?.until ?? 0)
    guard until <= time else { return "coolingDown(retryAfter: \(min(until - time, budget.longestWait)))" }
    let waiting = waiting(for: user, at: time)
    let own = waiting.filter { $0.party == party }
    if own.count >= share(of: budget.pending), let first = own.map(\.expires).min() {
      return "tooManyPending(retryAfter: \(first - time))"
    }
    if waiting.count >= budget.pending, let first = waiting.map(\.expires).min() {
      return "tooManyPending(retryAfter: \(first - time))"
    }
    return nil
  }

  /// The pending requests to a user, each with its party.
  func waiting(for user: String, at time: Int64) -> [(party: String, expires: Int64)] {
    var all: [(party: String, expires: Int64)] = []
    for request in requests.values where request.user == user && request.state(at: time) == .pending {
      all.append((request.party, request.expires))
    }
    for session in sessions.values
    where session.user == user && session.isCounted && session.isOpen && session.expires > time {
      if let party = session.party { all.append((party, session.expires)) }
    }
    return all
  }

  /// Half of the limit, rounded up.
  func share(of limit: Int) -> Int { missing == .shares ? limit : (limit + 1) / 2 }

  mutating func count(_ party: String, to user: String, at time: Int64) {
    guard let budget else { return }
    var (own, all) = (shares[user]?[party] ?? Row(), rows[user] ?? Row())
    own.add(share(of: budget.challenges), budget, at: time)
    // A party's requests beyond its half do not use up the part of the others, unless the whole limit is used up.
    if own.count <= share(of: budget.challenges) || all.count >= budget.challenges {
      all.add(budget.challenges, budget, at: time)
    }
    shares[user, default: [:]][party] = own
    rows[user] = all
  }

  mutating func endRow(of user: String) {
    rows[user] = nil
    shares[user] = nil
  }
}
