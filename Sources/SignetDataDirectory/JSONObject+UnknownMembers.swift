import SignetJSON
import SignetSystem

extension JSONObject {
  /// Rejects the first member whose name is not in `known`, and suggests the closest known name.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`.
  func refuseMembers(except known: [String], at parent: String) throws {
    for (name, _) in members where !known.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
      let location = (parent.isEmpty ? "" : "\(parent).") + String(name.unicodeScalars.prefix(40))
      throw ServerConfigurationFile.Refusal.reason(
        "\"\(location)\" is not known here; \(suggestion(for: name, among: known))")
    }
  }
}

/// Returns the advice for an unknown name, as the last part of a message.
func suggestion(for name: String, among known: [String]) -> String {
  closest(to: name, among: known).map { "did you mean \"\($0)\"?" } ?? "remove it or correct its name"
}
