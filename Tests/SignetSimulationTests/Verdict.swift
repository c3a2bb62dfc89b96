import AccountModel

/// Holds a run against the model: each step had the outcome that the rules give it, at the moment when it became durable.
struct Verdict: Sendable {
  /// What is wrong; empty where the run is right.
  private(set) var violations: [String] = []

  init(_ run: Run, by model: Model = Model(budget: History.budget)) {
    let attempts = Dictionary(uniqueKeysWithValues: run.attempts.map { ($0.name, $0) })
    var model = model
    // The model before each entry of the log, and after the last.
    var moments = [model]
    var places: [String: Int] = [:]
    // Requests that ended by the log, and of which the log has still to say it.
    var (ended, owed): (Set<String>, Set<String>) = ([], [])
    for (place, entry) in Self.log(of: run, model).enumerated() {
      let words = entry.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2, let attempt = attempts[words[0]] else {
        violations.append("nobody wrote the entry \(entry)")
        continue
      }
      places[attempt.name] = place
      let outcome = words[1]
      if outcome.hasPrefix("ended ") {
        let request = String(outcome.dropFirst(6))
        if owed.remove(request) == nil { ended.insert(request) }
      } else if outcome == "lost" {
        // A key that went with its container; the model has it with the step.
      } else if outcome.hasPrefix("expired ") {
        let request = String(outcome.dropFirst(8))
        if !model.expire(request, at: attempt.time) { report(attempt, outcome, "it does not expire") }
      } else {
        if !owed.isEmpty { report(attempt, outcome, "\(owed.sorted()) had ended before") }
        let expected = model.take(attempt.step, at: attempt.time)
        if expected != outcome { report(attempt, outcome, expected) }
        if let answer = attempt.answer, answer != outcome { report(attempt, "told \(answer)", outcome) }
        // All that nobody is there to answer has ended, and nothing else: before the entry of the step, or after it.
        let gone = model.takeEnded()
        if !ended.isSubset(of: gone) { report(attempt, "ended \(ended.sorted())", "\(gone.sorted())") }
        (ended, owed) = ([], gone.subtracting(ended))
      }
      moments.append(model)
    }
    if !owed.union(ended).isEmpty { violations.append("ended at the end: \(owed) \(ended)") }
    for attempt in run.attempts where places[attempt.name] == nil {
      if let answer = attempt.answer { checkUnlogged(attempt, answer, run, places, moments) }
    }
    for (name, expected) in model.description where run.end[name] != expected {
      violations.append("\(name) is \(run.end[name] ?? "not there") at the end, not \(expected)")
    }
    for name in run.end.keys where model.description[name] == nil {
      violations.append("\(name) is there at the end")
    }
    violations.sort()
  }

  private mutating func report(_ attempt: Attempt, _ found: String, _ expected: String) {
    violations.append("\(attempt.name) \(attempt.step): \(found), not \(expected)")
  }

  /// A step that changed nothing, and left nothing in the log, has to be right at a moment between its beginning and its end.
  private mutating func checkUnlogged(
    _ attempt: Attempt, _ answer: String, _ run: Run, _ places: [String: Int], _ moments: [Model]
  ) {
    var (first, last) = (0, moments.count - 1)
    for other in run.attempts {
      guard let place = places[other.name] else { continue }
      if let end = other.ended, end < attempt.began { first = max(first, place + 1) }
      if let end = attempt.ended, other.began > end { last = min(last, place) }
    }
    var expected: [String] = []
    for moment in first...max(first, last) {
      var model = moments[moment]
      let said = model.take(attempt.step, at: attempt.time)
      if said == answer { return }
      if expected.last != said { expected.append(said) }
    }
    if run.isClosedByALateAnswer(attempt) { return }
    report(attempt, answer, expected.joined(separator: " or "))
  }
}

extension Run {
  /// Whether a message was refused since an answer that came late, by the clock of one server, closed it for another whose clock is
  /// behind.
  fileprivate func isClosedByALateAnswer(_ attempt: Attempt) -> Bool {
    guard case .answer(let message, _) = attempt.step, attempt.answer == "refused" else { return false }
    return attempts.contains { other in
      guard case .answer(message, _) = other.step, other.name != attempt.name else { return false }
      return other.began < attempt.ended ?? .max && other.time > attempt.time
    }
  }
}

// Where the log has several chains, their order has to be found.
extension Verdict {
  /// The entries of a step that became durable together, in one chain.
  private struct Part: Sendable {
    let attempt: Attempt
    var outcomes: [String]

    /// Does it to a model; whether the outcome is the model's.
    func isRight(_ model: inout Model) -> Bool {
      var (ended, gone): (Set<String>, Set<String>) = ([], [])
      for outcome in outcomes {
        if outcome.hasPrefix("ended ") {
          ended.insert(String(outcome.dropFirst(6)))
        } else if outcome.hasPrefix("expired ") {
          guard model.expire(String(outcome.dropFirst(8)), at: attempt.time) else { return false }
        } else if outcome != "lost" {
          guard model.take(attempt.step, at: attempt.time) == outcome else { return false }
          gone.formUnion(model.takeEnded())
        }
      }
      return ended == gone
    }
  }

  /// The log in the order in which its entries became durable, or in one that could be that.
  private static func log(of run: Run, _ model: Model) -> [String] {
    guard run.logs.count > 1 else { return run.logs.first ?? [] }
    let attempts = Dictionary(uniqueKeysWithValues: run.attempts.map { ($0.name, $0) })
    var parts: [Part] = []
    var deeds: [Deed] = []
    var unlogged = Set(attempts.keys)
    for chain in run.logs {
      let first = parts.count
      for entry in chain {
        let words = entry.split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2, let attempt = attempts[words[0]] else { return run.logs.flatMap(\.self) }
        unlogged.remove(attempt.name)
        let isNext = parts.count > first && parts[parts.count - 1].attempt.name == attempt.name
        if isNext {
          parts[parts.count - 1].outcomes.append(words[1])
        } else {
          parts.append(Part(attempt: attempt, outcomes: [words[1]]))
        }
      }
      for place in first..<parts.count {
        let part = parts[place]
        deeds.append(
          Deed(
            from: part.attempt.began, to: part.attempt.ended ?? .max, after: place > first ? place - 1 : nil
          ) { part.isRight(&$0) })
      }
    }
    for attempt in run.attempts
    where unlogged.contains(attempt.name) && !run.isClosedByALateAnswer(attempt) {
      guard let answer = attempt.answer else { continue }
      deeds.append(
        Deed(from: attempt.began, to: attempt.ended ?? .max, changes: false) {
          $0.take(attempt.step, at: attempt.time) == answer
        })
    }
    let found = Ordering(of: deeds, from: model) { $0.description == run.end }
    var order = found.order.filter { $0 < parts.count }
    // Where none is right, the longest that is shows what comes after it.
    order += parts.indices.filter { !order.contains($0) }
    return order.flatMap { place in parts[place].outcomes.map { "\(parts[place].attempt.name) \($0)" } }
  }
}
