/// A command of a program: either something to run, or a group of further commands.
public struct Command: Sendable {
  /// What a command does with its arguments; the code becomes the program's exit status.
  public typealias Handler = @Sendable (Arguments) async throws -> ExitCode

  /// A command line with a phrase that says what it shows.
  public struct Example: Hashable, Sendable {
    /// The whole line, beginning with the program's name.
    public let line: String
    /// What the line does: one phrase without a final full stop.
    public let text: String

    /// An example for help and manual.
    public init(_ line: String, _ text: String) {
      self.line = line
      self.text = text
    }
  }

  /// The word on the command line: lower-case letters, digits and dashes.
  public let name: String
  /// One phrase without a final full stop.
  public let summary: String
  /// Paragraphs separated by an empty line.
  public let description: String
  /// The options of this command, and for a group those of all its commands.
  public let options: [Option]
  /// The operands in order; none for a group.
  public let arguments: [Argument]
  /// The commands of a group.
  public let commands: [Command]
  /// Lines for help and manual.
  public let examples: [Example]
  /// Whether help, manual and completion leave it out.
  public let isHidden: Bool
  /// Other words for it, which are answered with its name.
  public let synonyms: [String]

  let handler: Handler?

  /// A command that does something.
  ///
  /// - Parameters:
  ///   - name: The word on the command line.
  ///   - summary: One phrase without a final full stop.
  ///   - description: Paragraphs separated by an empty line.
  ///   - options: Its options besides those of the program and group; `help` is built in.
  ///   - arguments: Its operands in order.
  ///   - examples: Lines for help and manual.
  ///   - isHidden: Whether help, manual and completion leave it out.
  ///   - synonyms: Other words for it, which are answered with its name.
  ///   - handler: What it does.
  public init(
    _ name: String, _ summary: String, description: String = "", options: [Option] = [],
    arguments: [Argument] = [], examples: [Example] = [], isHidden: Bool = false, synonyms: [String] = [],
    handler: @escaping Handler
  ) {
    self.init(
      name, summary, description, options, arguments, commands: [], examples, isHidden: isHidden,
      synonyms: synonyms, handler)
  }

  /// A group of commands: `signet-server user create`.
  ///
  /// - Parameters:
  ///   - name: The word on the command line.
  ///   - summary: One phrase without a final full stop.
  ///   - description: Paragraphs separated by an empty line.
  ///   - options: The options of all its commands.
  ///   - commands: At least one.
  public init(
    _ name: String, _ summary: String, description: String = "", options: [Option] = [],
    commands: [Command]
  ) {
    precondition(!commands.isEmpty, "the group \(name) has no commands")
    self.init(name, summary, description, options, [], commands: commands, [], isHidden: false, nil)
  }

  /// Either kind.
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
  /// This command, or each of a group, with a step before what it does: a check that may refuse.
  ///
  /// - Parameters:
  ///   - names: Commands of a group that go without.
  ///   - step: What comes first, with the command's arguments. What it throws is a failure of the command.
  /// - Returns: A command with the same words, help and completion.
  public func preceded(
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

  /// This command with a step before the handlers of some of its own commands.
  ///
  /// - Parameters:
  ///   - names: The names of those commands.
  ///   - step: As in ``preceded(except:by:)``.
  /// - Returns: The command; a handler of its own stays as it is.
  public func preceded(
    only names: Set<String>, by step: @escaping @Sendable (Arguments) async throws -> Void
  ) -> Command {
    Command(
      name, summary, description, options, arguments,
      commands: commands.map { names.contains($0.name) ? $0.preceded(by: step) : $0 }, examples,
      isHidden: isHidden, synonyms: synonyms, handler)
  }
}
