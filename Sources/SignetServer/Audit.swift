package import SignetStorage

/// The events of the audit log, as one JSON object each: `time`, `event`, who and what, and a reason.
///
/// No code, password, key or invite is ever in one.
package struct Audit: Sendable {
  /// Who does it: `key:<id>`, `container:<id>`, `local` or `anyone`.
  let by: String
  /// When, in seconds since 1970.
  let time: Int64

  /// Makes an event.
  package func callAsFunction(_ event: String, _ members: KeyValuePairs<String, String?> = [:]) -> AuditEvent
  {
    self(event, Array(members))
  }

  /// Makes an event whose members are put together by the caller.
  package func callAsFunction(_ event: String, _ members: [(key: String, value: String?)]) -> AuditEvent {
    var line = JSONLine()
    line.add("time", time)
    line.add("event", event)
    line.add("by", by)
    for (name, value) in members {
      if let value { line.add(name, value) }
    }
    return AuditEvent(text: line.text)
  }
}
