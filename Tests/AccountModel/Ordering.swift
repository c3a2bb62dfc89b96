/// Something that was done to a server, at one moment between its beginning and its end.
package struct Deed: Sendable {
  /// When it began, and when its end was seen, in moments of the test; no two have the same.
  let began: Int
  let ended: Int
  /// The place of the deed that is known to have come right before it.
  let predecessor: Int?
  /// Whether it was done is not known: its answer was lost.
  let mayBeAbsent: Bool
  /// Whether it can have changed something.
  let changes: Bool
  /// Does it to a model; whether that gives it the outcome that was seen.
  let isRight: @Sendable (inout Model) -> Bool

  /// Something that was done.
  package init(
    from began: Int, to ended: Int, after predecessor: Int? = nil, mayBeAbsent: Bool = false,
    changes: Bool = true, isRight: @escaping @Sendable (inout Model) -> Bool
  ) {
    (self.began, self.ended, self.predecessor) = (began, ended, predecessor)
    (self.mayBeAbsent, self.changes, self.isRight) = (mayBeAbsent, changes, isRight)
  }
}

/// The search for an order of deeds in which the rules give each the outcome that was seen.
///
/// What ended before another began comes before it; in all else the order is free. Only what goes on at the same time has to be tried
/// in several orders, and no state of the model is tried twice.
package struct Ordering {
  /// Places of deeds in the order that was found, or in the longest that is right up to its end.
  package private(set) var order: [Int] = []
  /// Whether all deeds are in it, and the model ends as the server did.
  package private(set) var isWhole = false

  private let deeds: [Deed]
  private let isEnd: (Model) -> Bool
  /// Digests of what was left to be done, with the model, where that leads nowhere.
  private var tried: Set<Int> = []

  /// So many are tried, which is far more than a right history needs.
  private static let limit = 300_000

  /// Searches.
  ///
  /// - Parameters:
  ///   - deeds: What was done.
  ///   - model: What there was before.
  ///   - isEnd: Whether the server ended as a model does.
  package init(of deeds: [Deed], from model: Model, isEnd: @escaping (Model) -> Bool) {
    (self.deeds, self.isEnd) = (deeds, isEnd)
    isWhole = search(model, Array(deeds.indices), [])
  }

  private mutating func search(_ model: Model, _ open: [Int], _ done: [Int]) -> Bool {
    var (open, done) = (open, done)
    // What changes nothing comes as early as it is right.
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

  /// What can come next, what ended first before the others.
  private func next(in open: [Int]) -> [Int] {
    let firstEnd = open.filter { !deeds[$0].mayBeAbsent }.map { deeds[$0].ended }.min() ?? .max
    return open.filter { place in
      deeds[place].began < firstEnd && !(deeds[place].predecessor.map(open.contains) ?? false)
    }.sorted { deeds[$0].ended < deeds[$1].ended }
  }
}
