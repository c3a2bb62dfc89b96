import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let listen = Command(
    "listen", "Show transactions as they come",
    description: """
      A request is kept open at each server, which answers when something new waits: so a transaction is shown at once, and no \
      push service is needed. What waits already is shown first. It goes on until it is ended (Ctrl-C); trouble with the network \
      is waited out. With --json, one object a line.

      Where there is a desktop (a session bus with a notification service), a notification says that something waits, and at \
      which server; what it is about is shown in the terminal only. --no-notify leaves it out.

      To decide what is shown, use signet approve, deny or report in another terminal.
      """,
    options: [
      ContainerChoice.option, .flag("once", "End after the first transaction that is shown"),
      .flag("no-notify", "Show no notification on the desktop"),
    ]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    try await options.catchUp(with: device, asking: true)
    let containers = try await ContainerChoice.containers(arguments, of: device)
    // Listening goes on for hours: the keys are kept as long, the passwords that open them are not.
    var channels: [(container: Container, channel: Result<LiveChannel, SignetFailure>)] = []
    for container in containers {
      let channel: Result<LiveChannel, SignetFailure>
      channel = try await options.withPassword(for: container, key: .sessionTransport) { session in
        do throws(SignetFailure) {
          return .success(try await device.liveChannel(for: container, by: session))
        } catch { return .failure(error) }
      }
      channels.append((container, channel))
    }
    arguments.errorOutput.print("Listening; Ctrl-C ends it.")
    let isNamed = channels.count > 1
    return await withTaskGroup(of: (any Error)?.self) { group in
      for (container, channel) in channels {
        group.addTask {
          do {
            try await listen(to: container, over: try channel.get(), isNamed, arguments)
            return nil
          } catch {
            let name = isNamed ? "\(container.fullName): " : ""
            arguments.errorOutput.print("signet: \(name)\(error, limit: 2000)")
            return error
          }
        }
      }
      // One that ends with a failure leaves the others; one that ends without has shown what was wanted.
      var code = ExitCode.success
      for await failure in group {
        guard let failure else {
          group.cancelAll()
          return .success
        }
        code = exitCode(of: failure)
      }
      return code
    }
  }

  private static func listen(
    to container: Container, over channel: LiveChannel, _ isNamed: Bool, _ arguments: Arguments
  ) async throws {
    let desktop = WaitingNotice(arguments)
    var shown: Set<TransactionID> = []
    let lists = channel.transactions { state in
      let name = isNamed ? "\(container.fullName): " : ""
      let text =
        switch state {
        case .interrupted(let failure):
          "\(container.server.named(failure)); it is tried again until it answers"
        default: "the server answers again"
        }
      arguments.errorOutput.print("signet: \(name)\(text, limit: 2000)")
    }
    for try await list in lists {
      let new = list.transactions.filter { !shown.contains($0.id) }
      let isEnough = arguments.isSet("once") && !new.isEmpty
      for transaction in isEnough ? Array(new.prefix(1)) : new {
        transaction.print(of: container, isNamed: isNamed, arguments)
      }
      await desktop.tell(of: list.transactions.count, isNew: !new.isEmpty, at: container)
      if isEnough { return }
      shown = Set(list.transactions.map(\.id))
    }
  }
}

extension TransactionRequest {
  /// Shows the transaction: an object on a line, or its id, its end and what it says.
  func print(of container: Container, isNamed: Bool, _ arguments: Arguments) {
    if arguments.isSet("json") {
      arguments.output.print(json: JSONValue.object(listing(for: container)).text)
      return
    }
    let owner: TerminalText = isNamed ? "  \(container.shortID)  \(container.fullName)" : ""
    // One write, so that what several servers send at once does not mix.
    let text = TransactionText(content, on: arguments.output).body
    arguments.output.print("\(id.text)  until \(ours: Moment.text(expires))\(owner)\n\(text)")
  }
}
