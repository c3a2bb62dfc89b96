import AccountModel

/// Holds a run against the model: each step had the outcome that the rules give it, at the moment when it became durable.
struct Verdict: Sendable {
  /// What is wrong; empty where the run is right.
  private(set) var violations: [String] = []

  init(_ run: Run, by model: Model = Model(budget: History.budget)) {
    let attempts = Dictionary(uniqueKeysWithValues: run.attempts.map { ($0.name, $0) })
    let first = model
    var model = model
    var course = Course(model)
    // What a step did besides by the log, and of which the log has still to say it; each with the attempt whose step it is.
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
        // All that follows from the step has been done by it, and nothing else: before the entry of the step, or after it.
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
    // Where the order was searched for, it is one that fits the log, and need not be the one in which clients were told.
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

  /// A step that changed nothing, and left nothing in the log, has to be right at a moment between its beginning and its end.
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
  /// Whether the log says in which order everything became durable: it has one chain.
  fileprivate var hasOneOrder: Bool { logs.count <= 1 }

  /// When the server can have written that a request has expired, in an attempt of that time, which nothing says of which; or what it
  /// says of clients that are told.
  fileprivate func span(of entry: LogEntry) -> (from: Int, to: Int) {
    guard entry.expired != nil else { return spanOfRounds(at: entry.time) ?? (0, .max) }
    let possible = attempts.filter { $0.time == entry.time }
    return (possible.map(\.began).min() ?? 0, possible.map { $0.ended ?? .max }.max() ?? .max)
  }

  /// Whether an answer was refused, or a client found its request over, since somebody who came late, by the clock of one server, closed
  /// it for another whose clock is behind.
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

// Where the log has several chains, their order has to be found.
extension Verdict {
  /// The entries of a step that became durable together, in one chain.
  private struct Part: Sendable {
    /// The attempt; `nil` for what the server wrote by itself.
    let attempt: Attempt?
    var entries: [LogEntry]

    /// Does it to a model; whether the outcome is the model's.
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

  /// The log in the order in which its entries became durable, or in one that could be that.
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
        // What a step finds to have expired stands among its own entries.
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
    // Where none is right, the longest that is shows what comes after it.
    order += parts.indices.filter { !order.contains($0) }
    return order.flatMap { parts[$0].entries }
  }
}
