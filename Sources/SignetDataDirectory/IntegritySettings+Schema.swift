import SignetIntegrity
import SignetServer

extension IntegritySettings {
  /// The server's scoring of the categories that devices report.
  ///
  /// The threshold is that of the policy `deviceTampering`, the reaction that of `devices.reactions`.
  static let schema = SettingsSchema(
    absent: IntegritySettings(reaction: .report),
    settings: [
      Setting("scoring", \.scoring, Scoring.shape, "how the weights of the findings become one score"),
      Setting(
        "weights", \.weights,
        .map(to: .share) { name in
          let categories = EvidenceCategory.allCases.map(\.rawValue)
          guard !categories.contains(name) else { return nil }
          return "is not a category of evidence; " + suggestion(for: name, among: categories)
        }, "other weights, by category, such as `{\"emulator\": 0.5}`", default: "the device's own"),
    ])
}

extension Scoring: Shaped {}
