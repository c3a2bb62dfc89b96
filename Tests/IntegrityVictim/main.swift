#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetIntegrity
  import SignetJSON

  // A program for tests to attack. It evaluates itself like a release and prints each report as a line of JSON.
  //
  //   IntegrityVictim [--hardened] [--key HEX [--manifest FILE]] [--only GUARD,…|probe] watch       once for each line of its input
  //   IntegrityVictim … clean N                                                            N times, and prints those with a score
  //   IntegrityVictim … react REACTION                                                     once, with its reaction

  /// The standard guards of a release, with a test key if one is given.
  func guards(_ options: [String: String]) -> [any Guard] {
    let (key, manifest) = (options["key"].flatMap(ReleaseKey.key), options["manifest"])
    let all = Integrity.standardGuards(for: .release).map { each in
      each.name == "binary" && key != nil ? BinaryGuard(key: key, manifest: manifest) : each
    }
    if options["only"] == "probe" { return [DebuggerGuard(methods: [.probe])] }
    guard let names = options["only"]?.split(separator: ",").map(String.init) else { return all }
    return all.filter { names.contains($0.name) }
  }

  func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

  var words = Array(CommandLine.arguments.dropFirst())
  var options: [String: String] = [:]
  while let word = words.first, word.hasPrefix("--") {
    words.removeFirst()
    options[String(word.dropFirst(2))] = word == "--hardened" ? "" : words.removeFirst()
  }
  // Ends a forgotten process after ten minutes.
  alarm(600)
  ProcessHardening.forbidCoreDumps()
  if options["hardened"] != nil { ProcessHardening.closeMemory() }

  switch words.first {
  case "watch":
    let integrity = try Integrity(guards: guards(options), flavour: .release)
    say("ready \(getpid())")
    while readLine() != nil {
      // Uses the hooked function.
      _ = SecureRandom.bytes(16)
      say(await integrity.evaluate().json.text)
    }
  case "clean":
    let integrity = try Integrity(guards: guards(options), flavour: .release)
    let count = Int(words[1]) ?? 1
    for _ in 0..<count {
      let report = await integrity.evaluate()
      if report.score != 0 { say(report.json.text) }
    }
    say("done \(count)")
  case "react":
    let reaction = Reaction(rawValue: words[1]) ?? .report
    let gate = IntegrityGate(
      try Integrity(
        guards: guards(options), flavour: .release,
        settings: IntegritySettings(threshold: 0.5, reaction: reaction)))
    do { say("admitted, score \(try await gate.admit().score)") } catch {
      say("refused: \(error)")
      exit(77)
    }
  default: exit(64)
  }
#endif
