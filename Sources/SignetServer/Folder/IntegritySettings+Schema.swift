import SignetIntegrity

extension IntegritySettings {
  /// How the server scores the findings that devices report; threshold and reaction are those of the account policy.
  static let schema = SettingsSchema(
    absent: IntegritySettings(reaction: .report),
    settings: [
      Setting("scoring", \.scoring, Scoring.shape, "how the weights of what was found become one score"),
      Setting(
        "weights", \.weights,
        .map(to: .share) { name in
          guard !IntegritySettings.names.contains(name) else { return nil }
          return "is neither a finding nor a category of evidence; "
            + suggestion(for: name, among: IntegritySettings.names)
        }, "other weights, by category, such as `{\"emulator\": 0.5}`", default: "the device's own"),
    ])
}

extension Scoring: Shaped {}
