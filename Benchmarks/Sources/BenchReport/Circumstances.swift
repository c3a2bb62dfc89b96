import Foundation

/// What figures depend on besides the program: two reports are compared with care where these differ.
package struct Circumstances: Sendable {
  /// The commit that was measured, with `-dirty` where files were changed.
  package let commit: String
  /// What the compiler was told besides `-c release`.
  package let flags: String
  /// The processor's model.
  package let cpu: String
  /// How many processors the system has.
  package let processors: Int
  /// How busy the machine was: load averages of the last minute, before the first measurement and after the last one.
  package let load: (before: Double, after: Double)

  package init(
    commit: String, flags: String, cpu: String, processors: Int, load: (before: Double, after: Double)
  ) {
    (self.commit, self.flags, self.cpu) = (commit, flags, cpu)
    (self.processors, self.load) = (processors, load)
  }

  /// Whether other programs took processors.
  var isBusy: Bool { max(load.before, load.after) > Double(processors) }

  /// The model of this machine's processor (proc(5), `/proc/cpuinfo`), or `unknown`.
  package static var processorModel: String {
    let text = String(
      decoding: FileManager.default.contents(atPath: "/proc/cpuinfo") ?? Data(), as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
    let model = line?.split(separator: ":", maxSplits: 1).last?.trimmingCharacters(in: .whitespaces)
    return model ?? "unknown"
  }
}
