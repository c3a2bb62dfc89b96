import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let renew = Command(
    "renew", "Renew the keys of a container, under the rules that its server has now",
    description: """
      All keys are made anew; what was encrypted stays readable. Until the server has confirmed the new keys the present ones \
      stay good, and if the connection breaks, the same command goes on.

      The password stays, unless the server's new rules do not allow it: then another is asked for. Biometrics and recovery \
      codes belong to the present keys: enable and print them anew. With --password-fd the first line is the present password \
      and the second, where one is needed, the new one.
      """,
    options: [ContainerChoice.option]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    let progress = ProgressLine(on: arguments.errorOutput)
    let handler = TerminalActivation(options: options, progress: progress)
    let renewed: Container
    do {
      renewed = try await device.renew(
        container, password: try await options.password(for: container), handler: handler)
    } catch {
      progress.finish()
      throw handler.failure ?? error
    }
    progress.finish()
    if arguments.isSet("json") {
      arguments.output.print(JSONValue.object(renewed.json).text)
    } else {
      arguments.output.print("Renewed \(renewed.user.text) at \(renewed.server.shortForm).")
    }
    return .success
  }
}
