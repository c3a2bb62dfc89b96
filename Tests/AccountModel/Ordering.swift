/// An action on a server that took effect at one moment between its beginning and its end.
package struct Deed: Sendable {
  /// The moments of the beginning and of the observed end; no two are equal.
  let began: Int
  let ended: Int
  /// The index of the deed that is known to come immediately before it.
  let predecessor: Int?
  /// Indicates whether the deed may not have happened, since its answer was lost.
  let mayBeAbsent: Bool
  /// Indicates whether it may have changed the state.
  let changes: Bool
  /// Applies the deed to a model; returns whether the outcome is the observed one.
  let isRight: @Sendable (inout Model) -> Bool

  package init(
    from began: Int, to ended: Int, after predecessor: Int? = nil, mayBeAbsent: Bool = false,
    changes: Bool = true, isRight: @escaping @Sendable (inout Model) -> Bool
  ) {
    (self.began, self.ended, self.predecessor) = (began, ended, predecessor)
    (self.mayBeAbsent, self.changes, self.isRight) = (mayBeAbsent, changes, isRight)
  }
}

/// The search for an order of deeds in which the rules give each deed its observed outcome.
///
/// A deed that ended before another began comes before it; all other orders are possible. Only concurrent deeds are tried in
/// several orders, and no state of the model is tried twice.
package struct Ordering {
  /// Indices of the deeds in the order found, or of the longest valid prefix.
  package private(set) var order: [Int] = []
  /// Indicates whether the order has all deeds and the model ends in the server's state.
  package private(set) var isWhole = false

  private let deeds: [Deed]
  private let isEnd: (Model) -> Bool
  /// Digests of pairs of open deeds and model that lead to no solution.
  private var tried: Set<Int> = []

  /// The limit of tried states, far above the need of a valid history.
  private static let limit = 300_000

  /// Searches for an order.
  ///
  /// - Parameters:
  ///   - deeds: The observed deeds.
  ///   - model: The state before the deeds.
  ///   - isEnd: Whether a model's state is that of the server after the deeds.
  package init(of deeds: [Deed], from model: Model, isEnd: @escaping (Model) -> Bool) {
    (self.deeds, self.isEnd) = (deeds, isEnd)
    isWhole = search(model, Array(deeds.indices), [])
  }

  private mutating func search(_ model: Model, _ open: [Int], _ done: [Int]) -> Bool {
    var (open, done) = (open, done)
    // A deed that changes nothing is applied as soon as its outcome fits.
    while let place = next(in: open).first(where: { isRightAndChangesNothing($0, model) }) {
      open.removeAll { $0 == place }
      done.append(place)
    }
    if done.count > order.count { order = done }
    if open.allSatisfy({ deeds[$0].mayBeAbsent }), isEnd(model) {
      order = done
      return true
    }
    var digest = Hasher()
    digest.combine(open)
    digest.combine(model)
    guard tried.count < Self.limit, tried.insert(digest.finalize()).inserted else { return false }
    for place in next(in: open) where deeds[place].changes {
      var changed = model
      guard deeds[place].isRight(&changed) else { continue }
      let rest = open.filter {
        $0 != place && !(deeds[$0].mayBeAbsent && deeds[$0].ended < deeds[place].began)
      }
      if search(changed, rest, done + [place]) { return true }
    }
    return false
  }

  private func isRightAndChangesNothing(_ place: Int, _ model: Model) -> Bool {
    guard !deeds[place].changes else { return false }
    var copy = model
    return deeds[place].isRight(&copy)
  }

  /// The indices of deeds that can come next, by the moment of their end.
  private func next(in open: [Int]) -> [Int] {
    let firstEnd = open.filter { !deeds[$0].mayBeAbsent }.map { deeds[$0].ended }.min() ?? .max
    return open.filter { place in
      deeds[place].began < firstEnd && !(deeds[place].predecessor.map(open.contains) ?? false)
    }.sorted { deeds[$0].ended < deeds[$1].ended }
  }
}
