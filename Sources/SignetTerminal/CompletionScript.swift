/// A shell with a completion script.
package enum Shell: String, CaseIterable, Sendable {
  /// GNU bash 3.2 or newer, without the bash-completion package.
  case bash
  /// zsh with `compinit`.
  case zsh
  /// fish 3 or newer.
  case fish
}

extension Program {
  /// Returns a script that completes commands, options and values.
  ///
  /// - Parameter shell: The shell that will load it.
  /// - Returns: The script; load it with `eval`, or install it in the shell's folder for completions.
  package func completionScript(for shell: Shell) -> String {
    let contexts = CompletionContext.all(of: root)
    return switch shell {
    case .bash: bashScript(name, contexts)
    case .zsh: zshScript(name, contexts)
    case .fish: fishScript(name, contexts)
    }
  }
}

/// The words that can follow after a sequence of command words.
struct CompletionContext {
  /// The command words without the program, each preceded by a slash: `/user/create`; empty for the program.
  let key: String
  let command: Command
  /// The options that are accepted here, including `help`.
  let options: [Option]

  /// The contexts of `root` and of all commands below it, parents first.
  static func all(of root: Command, key: String = "", inherited: [Option] = []) -> [CompletionContext] {
    let accepted = inherited + root.options
    let builtIn: [Option] = key.isEmpty ? [.help, .version] : [.help]
    let context = CompletionContext(
      key: key, command: root, options: accepted.filter { !$0.isHidden } + builtIn)
    let below = root.commands.filter { !$0.isHidden }
      .flatMap {
        all(
          of: key.isEmpty ? $0.completionCommand(in: root) : $0, key: key + "/" + $0.name, inherited: accepted
        )
      }
    return [context] + below
  }

  var commands: [Command] { command.commands.filter { !$0.isHidden } }

  /// The spellings of an option: `--json`, `-j`.
  static func spellings(_ option: Option) -> [String] {
    ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
  }
}

extension Command {
  /// This command of the program `root` as shells see it: the built-in help has the program's commands below it.
  fileprivate func completionCommand(in root: Command) -> Command {
    name == Command.helpName ? topic(above: root.commands) : self
  }

  /// The names of this command and of `commands`, without options and operands.
  private func topic(above commands: [Command]) -> Command {
    Command(
      name, summary, "", [], [],
      commands: commands.filter { !$0.isHidden }.map { $0.topic(above: $0.commands) }, [], isHidden: false,
      nil)
  }
}

/// The name of a program in the form for a shell function's name.
func functionName(_ name: String) -> String { String(name.map { $0 == "-" ? "_" : $0 }) }
