import SignetDataDirectory
import SignetHTTPServer
import SignetIntegrity
import SignetProtocol
import SignetServer
import SignetStorage
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// `signet-server serve`: runs a server until a signal stops it.
enum ServeCommand {
  static let command = Command(
    "serve", "Run a server",
    description: """
      Serves until SIGTERM, SIGINT or SIGQUIT. The first one stops it gracefully: no new connections are \
      accepted, and requests that have begun get up to 10 seconds to finish. A second one ends it at once. \
      SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM and SIGIO are ignored.

      On SIGHUP the server reads its data folder again: the certificate, the settings \
      \(ServerConfigurationFile.reloaded.map { "\"\($0)\"" }.joined(separator: ", ")), and the metadata of \
      UAF authenticators. Connections and requests go on. The log says what is new, and which other \
      settings, and files that they name, have changed and apply only after a restart. If a file is wrong, \
      its previous content stays in use, and the log says why.

      When the server is ready, one line that begins with 'listening on' is printed. The log goes to \
      standard error, one JSON object a line, never with a secret.

      From 30 days before the server's certificate expires, the log says so once a day; 'certificate renew' \
      creates another.

      Any number of processes may serve one folder, each on an address of its own (--listen), where \
      "runtime" in server.json names a folder in memory in which they share handshake keys; without it, a \
      second one is refused.

      On Linux a server starts no other programs, traces none and mounts nothing: it gives up the system \
      calls for that before it reads its keys.
      """,
    options: [
      OperatorOptions.requiredData,
      .value("listen", "Listen here instead of where the settings say", named: "address:port"),
    ]
  ) { arguments in
    let stop = StopSignals()
    let hangUp = HangUpSignal()
    installSeccompFilter()
    let descriptors = raisedDescriptorLimit()
    let folder = try DataDirectory(opening: arguments.string("data"))
    var transport = try folder.transportConfiguration()
    let certificate = try folder.certificate()
    folder.check(certificate, sayingIn: .standardError)
    folder.checkAccountPolicies(sayingIn: .standardError)
    var listen = ListenAddress(folder.settings)
    if let text = arguments.optionalString("listen") {
      listen = try ListenAddress(parsing: text)
      (transport.address, transport.port) = (listen.address, listen.port)
    }
    let requiredCount =
      transport.limits.connectionCount + transport.limits.refusedConnectionCount + otherDescriptors
    if descriptors < requiredCount {
      EventLog.standardError.error(
        "descriptors.few",
        [
          "limit": String(descriptors), "wanted": String(requiredCount),
          "advice": "raise the limit of open files (ulimit -n, LimitNOFILE), or lower \"connections\"",
        ])
    }
    let keys = try folder.handshakeKeys()
    let context = try folder.serviceContext(
      masterKeyFile: Environment.masterKeyFile, log: .standardError, handshakeKeys: keys)
    let server: Server
    do throws(ServerFailure) {
      server = try Server(context, transport: transport, certificateEnd: certificate.end)
      _ = try server.start()
    } catch {
      await context.storage.close()
      throw failure(error, listen)
    }
    let reload = FolderReload(folder, of: server)
    hangUp.call { reload.run() }
    arguments.output.print("listening on \(folder.settings.serverURL.fullForm) (\(listen.text))")
    await stop.first()
    hangUp.end()
    await server.stop()
    return .success
  }

  /// Stops an intruder from starting programs; the server also runs on a kernel without filters.
  private static func installSeccompFilter() {
    #if os(Linux)
      do throws(GuardFailure) { try SystemCallFilter.denyExec.begin() } catch {
        EventLog.standardError.error("filter.none", ["reason": error.description])
      }
    #endif
  }

  /// The descriptors that a server needs in addition to its connections: the database, its log, its threads, pushes.
  private static let otherDescriptors = 64

  /// Raises the limit on open files to the system's maximum: the usual 1024 equals the default number of connections.
  ///
  /// - Returns: The limit now in force.
  private static func raisedDescriptorLimit() -> Int {
    var limit = rlimit()
    guard getrlimit(descriptors, &limit) == 0 else { return .max }
    var raised = limit
    raised.rlim_cur = limit.rlim_max
    // If this fails, the server runs with the usual limit.
    return Int(clamping: setrlimit(descriptors, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur)
  }

  #if canImport(Glibc)
    private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let descriptors = RLIMIT_NOFILE
  #endif

  private static func failure(_ failure: ServerFailure, _ listen: ListenAddress) -> CommandFailure {
    guard case .cannotListen(_, let code) = failure else {
      return CommandFailure(.configuration, TerminalText(failure.description))
    }
    let reason =
      switch code {
      case EADDRINUSE: "another program listens there already; end it, or use --listen"
      case EADDRNOTAVAIL: "this machine has no such address; use --listen"
      case EACCES: "this user may not use that port; use one above 1023, or grant CAP_NET_BIND_SERVICE"
      default: String(cString: strerror(code))
      }
    return CommandFailure(.unavailable, "cannot listen on \(ours: listen.text): \(ours: reason)")
  }
}
