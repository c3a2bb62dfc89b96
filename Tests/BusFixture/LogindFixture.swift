import Foundation
package import SignetLinux
import SignetTestKit

/// A real systemd-logind on a private bus, in a mount namespace with a private `/run/systemd`.
///
/// It has two sessions, `own` and `other`, like after a restart during them. ``StandInSystemd`` answers its requests to systemd,
/// so nothing is started or stopped.
package final class LogindFixture: Sendable {
  /// Indicates whether it can be started; in CI it must.
  package static let isPossible = geteuid() == 0 || ContinuousIntegration.isHere

  /// Its bus.
  package let bus: PrivateBus
  /// Its process.
  package let logind: Daemon
  /// The service that answers its requests.
  package let systemd: StandInSystemd

  /// Starts the service and returns when it answers.
  ///
  /// - Throws: The error that prevents the start.
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

/// Answers logind's requests to systemd, and records the units that it starts.
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
        told.finish()  // the bus is gone, or the test has ended
      }
    }
    for await _ in owned { break }
    reader = started.stream
  }

  /// Waits for the next unit that logind starts.
  package func nextUnit(where isMeant: @Sendable (String) -> Bool) async -> String? {
    for await unit in reader where isMeant(unit) { return unit }
    return nil
  }

  deinit { task.cancel() }
}

extension LogindFixture {
  /// Returns whether logind has a delay lock on sleep.
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
