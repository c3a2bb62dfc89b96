/// A command of a program: it either runs code or groups further commands.
package struct Command: Sendable {
  /// The code of a command; its result becomes the program's exit status.
  package typealias Handler = @Sendable (Arguments) async throws -> ExitCode

  /// An example command line with a phrase about its effect.
  package struct Example: Hashable, Sendable {
    /// The whole line, starting with the program's name.
    package let line: String
    /// The effect of the line: one phrase without a final full stop.
    package let text: String

    /// Creates an example for help and manual.
    package init(_ line: String, _ text: String) {
      self.line = line
      self.text = text
    }
  }

  /// The word on the command line: lower-case letters, digits and dashes.
  package let name: String
  /// One phrase without a final full stop.
  package let summary: String
  /// Paragraphs separated by an empty line.
  package let description: String
  /// The options of this command; for a group, the options of all its commands.
  package let options: [Option]
  /// The operands in order; empty for a group.
  package let arguments: [Argument]
  /// The commands of a group.
  package let commands: [Command]
  /// Examples for help and manual.
  package let examples: [Example]
  /// True if help, manual and completion omit the command.
  package let isHidden: Bool
  /// Other words for the command; the parser suggests the command for them.
  package let synonyms: [String]

  let handler: Handler?

  /// Creates a command with a handler.
  ///
  /// - Parameters:
  ///   - name: The word on the command line.
  ///   - summary: One phrase without a final full stop.
  ///   - description: Paragraphs separated by an empty line.
  ///   - options: Its options in addition to those of the program and group; `help` is built in.
  ///   - arguments: Its operands in order.
  ///   - examples: Examples for help and manual.
  ///   - isHidden: True to omit the command from help, manual and completion.
  ///   - synonyms: Other words for which the parser suggests this command.
  ///   - handler: The code of the command.
  package init(
    _ name: String, _ summary: String, description: String = "", options: [Option] = [],
    arguments: [Argument] = [], examples: [Example] = [], isHidden: Bool = false, synonyms: [String] = [],
    handler: @escaping Handler
  ) {
    self.init(
      name, summary, description, options, arguments, commands: [], examples, isHidden: isHidden,
      synonyms: synonyms, handler)
  }

  /// Creates a group of commands, as in `signet-server user create`.
  ///
  /// - Parameters:
  ///   - name: The word on the command line.
  ///   - summary: One phrase without a final full stop.
  ///   - description: Paragraphs separated by an empty line.
  ///   - options: The options of all its commands.
  ///   - commands: At least one.
  package init(
    _ name: String, _ summary: String, description: String = "", options: [Option] = [],
    commands: [Command]
  ) {
    precondition(!commands.isEmpty, "the group \(name) has no commands")
    self.init(name, summary, description, options, [], commands: commands, [], isHidden: false, nil)
  }

  init(
    _ name: String, _ summary: String, _ description: String, _ options: [Option],
    _ arguments: [Argument], commands: [Command], _ examples: [Example], isHidden: Bool,
    synonyms: [String] = [], _ handler: Handler?
  ) {
    self.name = name
    self.summary = summary
    self.description = description
    self.options = options
    self.arguments = arguments
    self.commands = commands
    self.examples = examples
    self.isHidden = isHidden
    self.synonyms = synonyms
    self.handler = handler
  }
}

extension Command {
  /// Returns this command, or all commands of this group, with a check before the handler.
  ///
  /// - Parameters:
  ///   - names: Commands of a group that do not get the check.
  ///   - step: Runs first, with the command's arguments. If it throws, the command fails with that error.
  /// - Returns: A command with the same words, help and completion.
  package func preceded(
    except names: Set<String> = [], by step: @escaping @Sendable (Arguments) async throws -> Void
  ) -> Command {
    var guarded: Handler?
    if let handler {
      guarded = { arguments in
        try await step(arguments)
        return try await handler(arguments)
      }
    }
    return Command(
      name, summary, description, options, arguments,
      commands: commands.map { names.contains($0.name) ? $0 : $0.preceded(by: step) }, examples,
      isHidden: isHidden, synonyms: synonyms, guarded)
  }

  /// Returns this command with a check before the handlers of some of its subcommands.
  ///
  /// - Parameters:
  ///   - names: The names of those subcommands.
  ///   - step: As in ``preceded(except:by:)``.
  /// - Returns: The command; its own handler is unchanged.
  package func preceded(
    only names: Set<String>, by step: @escaping @Sendable (Arguments) async throws -> Void
  ) -> Command {
    Command(
      name, summary, description, options, arguments,
      commands: commands.map { names.contains($0.name) ? $0.preceded(by: step) : $0 }, examples,
      isHidden: isHidden, synonyms: synonyms, handler)
  }
}
