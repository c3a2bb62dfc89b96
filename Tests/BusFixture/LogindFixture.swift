import Foundation
package import SignetDBus
import SignetTestKit

/// A real systemd-logind on a bus of its own, in a mount namespace where `/run/systemd` is its own too.
///
/// It knows two sessions, `own` and `other`, as if it had been restarted while they lasted. What it asks of systemd is
/// answered by ``StandInSystemd``: nothing that it starts or stops happens.
package final class LogindFixture: Sendable {
  /// Whether it can be started; in CI that it cannot is a failure.
  package static let isPossible = geteuid() == 0 || ContinuousIntegration.isHere

  /// The bus that it is on.
  package let bus: PrivateBus
  /// Its process.
  package let logind: Daemon
  /// What it asks things of.
  package let systemd: StandInSystemd

  /// Starts it; it answers when this returns.
  ///
  /// - Throws: What keeps it from starting.
  package init() async throws {
    bus = try PrivateBus()
    systemd = try await StandInSystemd(bus)
    let script = """
      set -e
      mount -t tmpfs -o mode=755 tmpfs /run/systemd
      mkdir /run/systemd/sessions /run/systemd/users /run/systemd/seats /run/systemd/inhibit
      printf 'NAME=root\\n' > /run/systemd/users/0
      printf 'NAME=nobody\\n' > /run/systemd/users/65534
      printf 'UID=0\\nUSER=root\\nACTIVE=1\\nSTATE=active\\nTYPE=tty\\nCLASS=user\\nSCOPE=session-own.scope\\n' \
      > /run/systemd/sessions/own
      printf 'UID=65534\\nUSER=nobody\\nACTIVE=1\\nSTATE=active\\nTYPE=tty\\nCLASS=user\\nSCOPE=session-other.scope\\n' \
      > /run/systemd/sessions/other
      mount -t tmpfs tmpfs /sys/power
      echo 'freeze mem disk' > /sys/power/state
      echo '[s2idle] deep' > /sys/power/mem_sleep
      exec /lib/systemd/systemd-logind
      """
    logind = try await bus.start(
      "/usr/bin/unshare", ["--mount", "--propagation", "private", "/bin/sh", "-c", script],
      name: "org.freedesktop.login1")
  }

  /// Calls a method of logind's manager, as root.
  package func manager(_ member: String, _ arguments: BusArgument...) async throws {
    try await bus.run { bus throws(BusFailure) in
      try bus.call(
        BusCall(
          "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", member,
          arguments))
    }
  }

  /// Calls a method of a session.
  package func session(_ name: String, _ member: String, _ arguments: BusArgument...) async throws {
    try await bus.run { bus throws(BusFailure) in
      try bus.call(
        BusCall(
          "org.freedesktop.login1", "/org/freedesktop/login1/session/\(name)",
          "org.freedesktop.login1.Session",
          member, arguments))
    }
  }
}

/// Answers what logind asks of systemd, and notes which units it starts.
package final class StandInSystemd: Sendable {
  private let task: Task<Void, Never>
  private let reader: AsyncStream<String>

  init(_ bus: PrivateBus) async throws {
    let (owned, told) = AsyncStream<Void>.makeStream()
    let started = AsyncStream<String>.makeStream()
    task = Task {
      do {
        try await bus.run { bus throws(BusFailure) in
          try bus.own("org.freedesktop.systemd1")
          told.yield()
          while true {
            let request = try bus.request()
            switch request.event.member {
            case "Get": try bus.answer(request, .variant("loaded"))
            case "StartUnit":
              let unit = request.event.body.first?.text ?? ""
              started.continuation.yield(unit)
              try bus.answer(request, .path("/org/freedesktop/systemd1/job/1"))
              try bus.emit(
                "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "JobRemoved",
                [.unsigned(1), .path("/org/freedesktop/systemd1/job/1"), .text(unit), .text("done")])
            default: try bus.answer(request)
            }
          }
        }
      } catch {
        told.finish()  // the bus has gone, or the test is over
      }
    }
    for await _ in owned { break }
    reader = started.stream
  }

  /// The next unit that logind starts.
  package func nextUnit(where isMeant: @Sendable (String) -> Bool) async -> String? {
    for await unit in reader where isMeant(unit) { return unit }
    return nil
  }

  deinit { task.cancel() }
}

extension LogindFixture {
  /// Whether logind counts a program that holds back sleep.
  package func isHeldBack() async throws -> Bool {
    let body = try await bus.run { bus throws(BusFailure) in
      try bus.call(
        BusCall(
          "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
          "ListInhibitors"))
    }
    return body.first?.list?.contains { $0.list?.dropFirst().first?.text == "Signet" } == true
  }
}
