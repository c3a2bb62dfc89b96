import Signet
import SignetJSON
import SignetTerminal
import SignetUAFClient
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

extension Command {
  static let listen = Command(
    "listen", "Show requests of servers as they arrive, and answer them",
    description: """
      Shows transactions and CIBA requests of containers, UAF operations for the users that signet uaf has registered \
      here, and push messages to accounts that were enrolled with --push-service live. A connection to each server is \
      kept open, so new requests are shown immediately, and no push service is needed. Requests that wait already are \
      shown first. Requests that end otherwise are reported: answered with another command or device, cancelled or \
      withdrawn, expired. The command runs until it is ended (Ctrl-C); after network failures it tries again, and it \
      waits for the end of a suspension or a lock by the server, also with --once, until --timeout. With --json, one \
      object a line, with its kind.

      At a terminal, requests are answered here: approve, deny or report, with the number of the request if several \
      wait. The request is then shown again, and the password, the PIN or the number is asked for. Without a terminal \
      as standard input, with --once, --json or --password-fd requests are only shown; to answer, use signet approve, \
      deny, report, message approve, message deny or uaf pending in another terminal.

      On a desktop (a session bus with a notification service), a notification says that a request waits, and at which \
      server; its content is shown in the terminal only. --no-notify leaves it out.

      With --container only the requests of that container.
      """,
    options: [
      ContainerChoice.option,
      .flag(
        "once",
        "End after the first request that is shown; with --timeout, exit with 75 if none arrives in time"
      ),
      .flag("no-notify", "Show no notification on the desktop"), UAFCommandOptions.facet,
      .flag(
        "messages",
        "Ask for the password of the accounts, and show their push messages too; without a password they are always shown"
      ),
    ]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let timeLimit = try timeLimit(arguments)
    let device = try options.device(createIfMissing: false)
    try await options.catchUp(with: device, prompting: true)
    let others = try await uafSources(arguments, of: device) + pushSources(options, device)
    let isWithoutContainers = try await device.containers().isEmpty && !others.isEmpty
    let containers = try await isWithoutContainers ? [] : ContainerChoice.containers(arguments, of: device)
    var sources: [Source] = []
    for container in containers {
      sources.append(try await source(of: container, isNamed: containers.count > 1, options, device))
    }
    sources += others
    arguments.errorOutput.print("Listening; Ctrl-C ends it.")
    let isConversation = isConversation(arguments)
    let announcements = Announcements(on: arguments.errorOutput, isConversation: isConversation)
    let list = PendingRequestList(arguments, announcements, isConversation: isConversation)
    // Held messages are printed at the end.
    defer { announcements.resume() }
    return await withTaskGroup(of: (any Error)?.self) { [sources] group in
      for (number, source) in sources.enumerated() {
        group.addTask {
          do {
            try await listen(
              to: source, numbered: number, list, announcements, isNamed: sources.count > 1, arguments)
            return nil
          } catch {
            let name = sources.count > 1 ? "\(source.name): " : ""
            announcements.post("signet: \(name)\(TerminalText(describing: error, limit: 2000))")
            return error
          }
        }
      }
      if isConversation {
        group.addTask {
          await answer(to: list)
          return nil
        }
      }
      if let timeLimit {
        group.addTask {
          do { try await Task.sleep(for: .seconds(timeLimit)) } catch { return error }
          announcements.post("signet: nothing came within \(timeLimit) s")
          return TimeLimitReached()
        }
      }
      // A source that fails leaves the others running; a source that ends without failure has shown the wanted request.
      var code = ExitCode.success
      var rest = sources.count
      for await failure in group {
        guard let failure else {
          group.cancelAll()
          return .success
        }
        if failure is TimeLimitReached {
          group.cancelAll()
          return .temporaryFailure
        }
        code = exitCode(of: failure)
        rest -= 1
        if rest == 0 {
          group.cancelAll()
          return code
        }
      }
      return code
    }
  }

  /// Thrown if no request arrived within the time of `--once`.
  private struct TimeLimitReached: Error {}

  /// Returns the seconds after which `--once` ends without a request; `nil` to wait for ever.
  private static func timeLimit(_ arguments: Arguments) throws -> Int? {
    guard arguments.isSet("once"), arguments.isSet("timeout") else { return nil }
    let seconds = try arguments.seconds("timeout", in: 0...86_400)
    return seconds > 0 ? seconds : nil
  }

  /// A source of requests: a container, or a user of UAF.
  private struct Source: Sendable {
    /// The name that distinguishes it from other sources.
    let name: String
    /// The name of its server, for a notification.
    let serverName: String
    /// Describes a connection failure with the server's name.
    let failure: @Sendable (any Error) -> String
    /// Yields the waiting requests whenever they change; calls `report` when the server is unreachable, and with `nil` when it
    /// answers again.
    let lists:
      @Sendable (News.Feed, _ report: @escaping @Sendable ((any Error)?) -> Void, Announcements) throws ->
        Void

    /// Returns why no requests arrive for now, and until when.
    func waits(_ failure: any Error) -> String {
      var reason = self.failure(failure)
      if reason.hasSuffix(".") { reason.removeLast() }
      let isSuspended = (failure as? SignetError)?.isHeld ?? false
      return reason
        + (isSuspended
          ? "; the server is asked again until that changes" : "; it is tried again until it answers")
    }
  }

  fileprivate enum News: Sendable {
    typealias Feed = AsyncThrowingStream<News, any Error>.Continuation

    /// The requests that wait now.
    case list([any PendingRequest])
    /// The server has withdrawn all waiting requests.
    case withdrawal
  }

  /// Listening runs for hours: it keeps the keys for that time, but not the passwords that open them.
  private static func source(
    of container: Container, isNamed: Bool, _ options: DeviceOptions, _ device: Device
  ) async throws -> Source {
    let opened: Result<LiveChannel, SignetError>
    opened = try await options.withPassword(for: container, key: .sessionTransport) { session in
      do throws(SignetError) {
        return .success(try await device.liveChannel(for: container, by: session))
      } catch { return .failure(error) }
    }
    return Source(
      name: container.fullName, serverName: container.server.shortForm,
      failure: { error in
        (error as? SignetError).map { "\(container.server.named($0))" } ?? "\(error)"
      },
      lists: { feed, report, _ in
        let channel = try opened.get()
        let lists = channel.transactions { state in
          if case .interrupted(let failure) = state { report(failure) } else { report(nil) }
        }
        lists.forward(feed) { list in
          list.transactions.map {
            PendingTransaction(
              chosen: ChosenTransaction(
                options: options, device: device, container: container, transaction: $0),
              channel: channel, isNamed: isNamed)
          }
        }
      })
  }

  /// Returns the users of UAF whose servers know this device.
  private static func uafSources(_ arguments: Arguments, of device: Device) async throws -> [Source] {
    guard !arguments.isSet("container") else { return [] }
    let client = UAFClient(device: device, facetID: arguments.string("facet"))
    let localOperations = UAFOperations(
      client: client, configuration: try UAFConfiguration(host: "localhost"),
      interaction: RefusingUAFInteraction())
    let targets = try await localOperations.localData.deviceInformation()?.dispatchTargets ?? [:]
    return try targets.keys.sorted().map { account in
      let configuration = try UAFConfiguration(baseURL: account.server)
      let operations = UAFOperations(
        client: client, configuration: configuration, interaction: RefusingUAFInteraction())
      return Source(
        name: "\(account.username) at \(account.server)",
        serverName: String(account.server.trimmingPrefix("https://").prefix { $0 != "/" }),
        failure: { "\(account.server): \($0)" },
        lists: { feed, report, announcements in
          operations.livePending(of: account, noting: { report($0) }).forward(feed) { pending in
            for error in pending.errors { announcements.post("signet: \("\(error)", limit: 2000)") }
            return pending.operations.map {
              PendingUAFOperation(
                waiting: $0, arguments: arguments, client: client, configuration: configuration)
            }
          }
        })
    }
  }

  /// Returns the push mechanisms whose servers are asked for messages; those under a password only with `--messages`.
  private static func pushSources(_ options: DeviceOptions, _ device: Device) async throws -> [Source] {
    let arguments = options.arguments
    guard !arguments.isSet("container") else { return [] }
    if try await device.accounts.havePassword(), !arguments.isSet("messages") { return [] }
    let channels = try await options.withAccountsPassword(on: device) {
      try await device.accounts.pushChannels(by: $0)
    }
    return channels.map { channel in
      let mechanism = channel.mechanism
      let ends = PendingPushMessage.Ends()
      return Source(
        name: mechanism.fullName, serverName: mechanism.issuer, failure: { "\($0)" },
        lists: { feed, report, announcements in
          channel.lists { report($0) }.forward(feed) { waiting in
            if let failure = waiting.failure {
              announcements.post(
                "signet: \(mechanism.fullName, limit: 200): \(TerminalText(describing: failure))")
            }
            ends.outcomes.withLock { $0 = waiting.ended }
            return waiting.messages.map {
              PendingPushMessage(
                waiting: $0, mechanism: mechanism, ends: ends, options: options, device: device)
            }
          }
        })
    }
  }

  private static func listen(
    to source: Source, numbered number: Int, _ list: PendingRequestList, _ announcements: Announcements,
    isNamed: Bool, _ arguments: Arguments
  ) async throws {
    let desktop = WaitingNotice(arguments, announcements)
    let wasSuspended = Mutex(false)
    // A withdrawal, and a list after it; if more arrive while ends are reported, the outcomes are queried.
    let (news, feed) = AsyncThrowingStream<News, any Error>.makeStream(bufferingPolicy: .bufferingNewest(2))
    let reportState: @Sendable ((any Error)?) -> Void = { error in
      let failure = error as? SignetError
      let hasEnded = wasSuspended.withLock { wasSuspended in
        defer { wasSuspended = failure?.isHeld ?? false }
        return wasSuspended
      }
      let name = isNamed ? "\(source.name): " : ""
      let text =
        error.map { source.waits($0) }
        ?? (hasEnded ? "the suspension or the lock has ended" : "the server answers again")
      announcements.post("signet: \(name)\(text, limit: 2000)")
      // A server withdraws all requests of a suspended user without further notice.
      if case .refused(let problem)? = failure, problem.code == .userNotActive { feed.yield(.withdrawal) }
    }
    try source.lists(feed, reportState, announcements)
    let isOne = arguments.isSet("once")
    do {
      for try await next in news {
        switch next {
        case .withdrawal: await list.end(all: number, as: .withdrawn)
        case .list(let requests):
          let isNew = await list.update(requests, of: number, showing: isOne ? 1 : .max)
          await desktop.update(of: requests.count, isNew: isNew, at: source.serverName)
          if isOne, isNew { return }
        }
      }
    } catch {
      switch error as? SignetError {
      // The server no longer knows the container or account, so no request waits.
      case .containerUnknown?, .containerWiped?, .pushAuth(.notEnrolled)?:
        await list.end(all: number, as: nil)
      default: break
      }
      throw error
    }
  }

  /// True if the user can answer here: not in the background, and not if a program reads the output.
  private static func isConversation(_ arguments: Arguments) -> Bool {
    let isProgram = ["once", "json", "password-fd"].contains { arguments.isSet($0) }
    return !isProgram && isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
  }

  /// Processes the user's answers until the input ends (Ctrl-D), the terminal closes, or all servers have failed.
  private static func answer(to list: PendingRequestList) async {
    while true {
      do throws(SecretInputFailure) {
        let line = try await Question.terminal.line("")
        await list.process(line)
      } catch {
        switch error {
        case .tooLong, .notText: continue
        default: return
        }
      }
    }
  }
}

extension AsyncThrowingStream where Failure == any Error {
  /// Yields each element as a list of waiting requests, until the listener ends.
  fileprivate func forward(
    _ feed: Command.News.Feed, _ list: @escaping @Sendable (Element) -> [any PendingRequest]
  ) where Element: Sendable, Self: Sendable {
    let task = Task {
      do {
        for try await element in self { feed.yield(.list(list(element))) }
        feed.finish()
      } catch { feed.finish(throwing: error) }
    }
    feed.onTermination = { _ in task.cancel() }
  }
}

extension TransactionRequest {
  /// Prints the transaction: an object on a line, or its ID, its end and its content.
  func print(of container: Container, isNamed: Bool, _ arguments: Arguments) {
    if arguments.isSet("json") {
      arguments.output.print(json: JSONValue.object(listing(for: container)).text)
      return
    }
    arguments.output.print(text(of: container, isNamed: isNamed, on: arguments.output))
  }

  /// Returns its ID, its end and its content.
  func text(of container: Container, isNamed: Bool, on terminal: Terminal) -> TerminalText {
    let owner: TerminalText = isNamed ? "  \(container.shortID)  \(container.fullName)" : ""
    let text = TransactionText(content, on: terminal).body
    return "\(id.text)  until \(ours: Moment.text(expires))\(owner)\n\(text)"
  }
}
