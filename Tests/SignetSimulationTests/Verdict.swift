import AccountModel

/// Compares a run with the model: each step must have the model's outcome at the moment when it became durable.
struct Verdict: Sendable {
  /// The violations; empty if the run is right.
  private(set) var violations: [String] = []

  init(_ run: Run, by model: Model = Model(budget: History.budget)) {
    let attempts = Dictionary(uniqueKeysWithValues: run.attempts.map { ($0.name, $0) })
    let first = model
    var model = model
    var course = Course(model)
    // Logged and expected side effects that are not yet matched, each with the attempt of its step.
    var (done, owed): ([String: String], [String: String]) = ([:], [:])
    for (place, entry) in Self.log(of: run, model).enumerated() {
      defer { course.append(model) }
      guard let name = entry.attempt else {
        if !course.isRight(entry, &model) {
          violations.append("\(entry.text) at \(entry.time), which it does not")
        }
        continue
      }
      guard let attempt = attempts[name] else {
        violations.append("nobody wrote the entry \(entry)")
        continue
      }
      course.places[name] = place
      if let effect = entry.effect {
        if owed[effect] == name {
          owed[effect] = nil
        } else if entry.ended.map({ model.endByTime($0, at: attempt.time) }) != true {
          done[effect] = name
        }
      } else if let request = entry.expired {
        if !model.expire(request, at: attempt.time) { report(attempt, entry.text, "it does not expire") }
      } else {
        if !owed.isEmpty { report(attempt, entry.text, "\(owed.keys.sorted()) before that") }
        let expected = model.take(attempt.step, at: attempt.time)
        if expected != entry.text { report(attempt, entry.text, expected) }
        if let answer = attempt.answer, answer != entry.text {
          report(attempt, "told \(answer)", entry.text)
        }
        course.note(attempt, entry.text)
        if let fault = course.faultOfTokens(attempt, entry.text, model) { report(attempt, fault.0, fault.1) }
        // The step must have exactly its expected side effects, logged before or after the entry of the step.
        let effects = model.takeEffects()
        if !effects.isSuperset(of: done.keys) || !done.values.allSatisfy({ $0 == name }) {
          report(attempt, "\(done.sorted { $0.key < $1.key })", "\(effects.sorted())")
        }
        owed = Dictionary(uniqueKeysWithValues: effects.subtracting(done.keys).map { ($0, name) })
        done = [:]
      }
    }
    if !owed.isEmpty || !done.isEmpty {
      violations.append("at the end: \(owed.keys.sorted()) not done, \(done.keys.sorted()) done")
    }
    for attempt in run.attempts where course.places[attempt.name] == nil {
      if let answer = attempt.heard { checkUnlogged(attempt, answer, run, course) }
    }
    // A searched order is one that fits the log, and may differ from that of the notifications.
    if run.hasOneOrder { violations += course.faultsOfNotices(in: run) }
    violations += Course.faultsOfPolls(in: run, by: first)
    for (name, expected) in model.description where run.end[name] != expected {
      violations.append("\(name) is \(run.end[name] ?? "not there") at the end, not \(expected)")
    }
    for name in run.end.keys where model.description[name] == nil {
      violations.append("\(name) is there at the end")
    }
    if run.hasOneOrder {
      for name in model.open(at: run.endTime).symmetricDifference(run.open) {
        violations.append("\(name) is \(run.open.contains(name) ? "open" : "over") at the end")
      }
    }
    violations.sort()
  }

  private mutating func report(_ attempt: Attempt, _ found: String, _ expected: String) {
    violations.append("\(attempt.name) \(attempt.step): \(found), not \(expected)")
  }

  /// Checks a step without an entry in the log, which must be right at a moment between its beginning and its end.
  private mutating func checkUnlogged(_ attempt: Attempt, _ answer: String, _ run: Run, _ course: Course) {
    var expected: [String] = []
    for moment in course.moments(from: attempt.began, to: attempt.ended, in: run) {
      var model = course.moments[moment]
      let said = model.take(attempt.step, at: attempt.time)
      if said == answer { return }
      if expected.last != said { expected.append(said) }
    }
    if run.isClosedByALateOne(attempt) { return }
    report(attempt, answer, expected.joined(separator: " or "))
  }
}

extension Run {
  /// Indicates whether the log determines the order in which everything became durable: it has one chain.
  fileprivate var hasOneOrder: Bool { logs.count <= 1 }

  /// The span of moments of a server's own entry: a request that expired in an unnamed attempt of that time, or a notification.
  fileprivate func span(of entry: LogEntry) -> (from: Int, to: Int) {
    guard entry.expired != nil else { return spanOfRounds(at: entry.time) ?? (0, .max) }
    let possible = attempts.filter { $0.time == entry.time }
    return (possible.map(\.began).min() ?? 0, possible.map { $0.ended ?? .max }.max() ?? .max)
  }

  /// Indicates whether a late attempt, by one server's clock, closed the request for another server whose clock is behind.
  fileprivate func isClosedByALateOne(_ attempt: Attempt) -> Bool {
    guard ["refused", "expired"].contains(attempt.answer) else { return false }
    return attempts.contains { other in
      guard other.name != attempt.name, other.began < attempt.ended ?? .max, other.time > attempt.time else {
        return false
      }
      return switch (attempt.step, other.step) {
      case (.answer(let one, _), .answer(let another, _)), (.poll(let one, _), .poll(let another, _)),
        (.issue(let one, _), .poll(let another, _)):
        one == another
      default: false
      }
    }
  }
}

// The search for an order, for a log with several chains.
extension Verdict {
  /// The entries of a step that became durable together, in one chain.
  private struct Part: Sendable {
    /// The attempt; `nil` for the server's own entries.
    let attempt: Attempt?
    var entries: [LogEntry]

    /// Applies the part to a model; returns whether the outcome is the model's.
    func isRight(_ model: inout Model) -> Bool {
      var (done, effects): (Set<String>, Set<String>) = ([], [])
      for entry in entries {
        if let effect = entry.effect {
          done.insert(effect)
        } else if let request = entry.expired {
          guard model.expire(request, at: attempt?.time ?? entry.time) else { return false }
        } else if let request = entry.pushed {
          guard model.push(request, at: entry.time) else { return false }
        } else if let request = entry.told ?? entry.gaveUp {
          guard model.hasEnded(request) else { return false }
        } else if let attempt {
          guard model.take(attempt.step, at: attempt.time) == entry.text else { return false }
          effects.formUnion(model.takeEffects())
        }
      }
      let more = entries.filter { entry in entry.effect.map { !effects.contains($0) } ?? false }
      return done.isSuperset(of: effects)
        && more.allSatisfy { entry in
          guard let attempt, let request = entry.ended else { return false }
          return model.endByTime(request, at: attempt.time)
        }
    }
  }

  /// The log in the order in which its entries became durable, or in a possible such order.
  private static func log(of run: Run, _ model: Model) -> [LogEntry] {
    guard !run.hasOneOrder else { return run.logs.first ?? [] }
    let attempts = Dictionary(uniqueKeysWithValues: run.attempts.map { ($0.name, $0) })
    var parts: [Part] = []
    var deeds: [Deed] = []
    var unlogged = Set(attempts.keys)
    for chain in run.logs {
      let first = parts.count
      for (place, entry) in chain.enumerated() {
        let attempt = entry.attempt.flatMap { attempts[$0] }
        if let name = entry.attempt {
          guard attempt != nil else { return run.logs.flatMap(\.self) }
          unlogged.remove(name)
        }
        let last = parts.count > first ? parts[parts.count - 1].attempt?.name : nil
        // The expiry that a step finds is among the step's own entries.
        let next = entry.expired == nil ? entry.attempt : chain[place...].first { $0.expired == nil }?.attempt
        if let last, last == next {
          parts[parts.count - 1].entries.append(entry)
        } else {
          parts.append(Part(attempt: attempt, entries: [entry]))
        }
      }
      for place in first..<parts.count {
        let part = parts[place]
        let span =
          part.attempt.map { (from: $0.began, to: $0.ended ?? .max) } ?? run.span(of: part.entries[0])
        deeds.append(
          Deed(from: span.from, to: span.to, after: place > first ? place - 1 : nil) { part.isRight(&$0) })
      }
    }
    for attempt in run.attempts
    where unlogged.contains(attempt.name) && !run.isClosedByALateOne(attempt) {
      guard let answer = attempt.heard else { continue }
      deeds.append(
        Deed(from: attempt.began, to: attempt.ended ?? .max, changes: false) {
          $0.take(attempt.step, at: attempt.time) == answer
        })
    }
    let found = Ordering(of: deeds, from: model) { $0.description == run.end }
    var order = found.order.filter { $0 < parts.count }
    // If no order is right, the longest valid prefix shows the fault after it.
    order += parts.indices.filter { !order.contains($0) }
    return order.flatMap { parts[$0].entries }
  }
}
