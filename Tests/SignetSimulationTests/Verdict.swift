/// Holds a run against the model: each step had the outcome that the rules give it, at the moment when it became durable.
struct Verdict: Sendable {
  /// What is wrong; empty where the run is right.
  private(set) var violations: [String] = []

  init(_ run: Run, by model: Model = Model()) {
    let attempts = Dictionary(uniqueKeysWithValues: run.attempts.map { ($0.name, $0) })
    var model = model
    // The model before each entry of the log, and after the last.
    var moments = [model]
    var places: [String: Int] = [:]
    var ended: Set<String> = []
    for (place, entry) in run.log.enumerated() {
      let words = entry.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2, let attempt = attempts[words[0]] else {
        violations.append("nobody wrote the entry \(entry)")
        continue
      }
      places[attempt.name] = place
      let outcome = words[1]
      if outcome.hasPrefix("ended ") {
        ended.insert(String(outcome.dropFirst(6)))
      } else if outcome == "lost" {
        // A key that went with its container; the model has it with the step.
      } else if outcome.hasPrefix("expired ") {
        let request = String(outcome.dropFirst(8))
        if !model.expire(request, at: attempt.time) { report(attempt, outcome, "it does not expire") }
      } else {
        if case .suspend(let user) = attempt.step { check(ended, model, user, attempt) }
        if case .delete(let user) = attempt.step { check(ended, model, user, attempt) }
        ended = []
        let expected = model.take(attempt.step, at: attempt.time)
        if expected != outcome { report(attempt, outcome, expected) }
        if let answer = attempt.answer, answer != outcome { report(attempt, "told \(answer)", outcome) }
      }
      moments.append(model)
    }
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

  /// All that waited for the user has ended, and nothing else.
  private mutating func check(_ ended: Set<String>, _ model: Model, _ user: String, _ attempt: Attempt) {
    let pending = model.pendingRequests(of: user)
    guard ended != pending else { return }
    report(attempt, "ended \(ended.sorted())", "\(pending.sorted())")
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
    // An answer that came late, by the clock of one server, closes the message for another whose clock is behind.
    if case .answer(let message, _) = attempt.step, answer == "refused",
      run.attempts.contains(where: { $0.isLateAnswer(to: message, before: attempt, moments[0]) })
    {
      return
    }
    report(attempt, answer, expected.joined(separator: " or "))
  }
}

extension Attempt {
  fileprivate func isLateAnswer(to message: String, before other: Attempt, _ model: Model) -> Bool {
    guard case .answer(message, _) = step, name != other.name else { return false }
    return began < other.ended ?? .max && time > other.time
  }
}
