import Foundation

/// The conditions of a measurement apart from the program; reports with different conditions are hard to compare.
package struct Circumstances: Sendable {
  /// The measured commit, with `-dirty` if files were changed.
  package let commit: String
  /// The compiler's flags in addition to `-c release`.
  package let flags: String
  /// The processor's model.
  package let cpu: String
  /// The number of processors of the system.
  package let processors: Int
  /// The load averages of the last minute, before the first measurement and after the last one.
  package let load: (before: Double, after: Double)

  package init(
    commit: String, flags: String, cpu: String, processors: Int, load: (before: Double, after: Double)
  ) {
    (self.commit, self.flags, self.cpu) = (commit, flags, cpu)
    (self.processors, self.load) = (processors, load)
  }

  /// Indicates whether other programs needed processors.
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
