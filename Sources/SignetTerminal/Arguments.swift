/// The arguments of a command, checked against its declaration.
///
/// Requesting an undeclared name, or a declared one in an unsuitable form, is a programmer error and stops the program.
package struct Arguments: Sendable {
  /// The words that name the command, without the program: `["user", "create"]`.
  package let commandPath: [String]
  /// The stream for results.
  package let output: Terminal
  /// The stream for messages and progress.
  package let errorOutput: Terminal

  private let options: [String: Option]
  private let operands: [String: Argument]
  private let values: [String: [String]]

  init(
    _ path: [String], options: [Option], operands: [Argument], values: [String: [String]],
    output: Terminal, errorOutput: Terminal
  ) {
    commandPath = path
    self.options = Dictionary(uniqueKeysWithValues: options.map { ($0.name, $0) })
    self.operands = Dictionary(uniqueKeysWithValues: operands.map { ($0.name, $0) })
    self.values = values
    self.output = output
    self.errorOutput = errorOutput
  }

  /// Returns true if the command declares this name, for code that serves several commands.
  package func declares(_ name: String) -> Bool { options[name] != nil || operands[name] != nil }

  /// Returns true if the flag or option was given.
  package func isSet(_ name: String) -> Bool { count(name) > 0 }

  /// The number of times that a flag, an option or an operand was given.
  package func count(_ name: String) -> Int {
    check(name)
    return values[name]?.count ?? 0
  }

  /// The value of an option that is required or has a default, or of a required operand.
  package func string(_ name: String) -> String {
    guard let value = optionalString(name) else {
      preconditionFailure("\(name) is optional; ask for optionalString")
    }
    return value
  }

  /// The value of an option or operand; `nil` if it was not given and has no default.
  package func optionalString(_ name: String) -> String? {
    check(name)
    precondition(options[name]?.takesValue != false, "--\(name) is a flag; ask isSet")
    return values[name]?.last ?? options[name]?.defaultValue
  }

  /// All values of a repeatable option or operand, in order; the default if none was given.
  package func strings(_ name: String) -> [String] {
    check(name)
    precondition(options[name]?.takesValue != false, "--\(name) is a flag; ask count")
    return values[name] ?? options[name]?.defaultValue.map { [$0] } ?? []
  }

  /// A decimal integer, of an option that is required or has a default, or of an operand.
  ///
  /// - Throws: ``UsageFailure/notANumber(name:range:)``.
  package func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageFailure) -> Int {
    try number(string(name), name, range)
  }

  /// A decimal integer; `nil` if it was not given.
  ///
  /// - Throws: ``UsageFailure/notANumber(name:range:)``.
  package func optionalInteger(_ name: String, in range: ClosedRange<Int>) throws(UsageFailure) -> Int? {
    guard let value = optionalString(name) else { return nil }
    return try number(value, name, range)
  }

  /// A duration in seconds, written as `90`, `90s`, `15m`, `24h` or `7d`.
  ///
  /// - Throws: ``UsageFailure/notADuration(name:range:)``.
  package func seconds(_ name: String, in range: ClosedRange<Int>) throws(UsageFailure) -> Int {
    let value = string(name)
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
    let unit = value.last.flatMap { units[$0] }
    let digits = unit == nil ? value[...] : value.dropLast()
    let product = Self.decimal(digits).map { $0.multipliedReportingOverflow(by: unit ?? 1) }
    guard let product, !product.overflow, range.contains(product.partialValue) else {
      throw .notADuration(name: display(name), range: range)
    }
    return product.partialValue
  }

  /// A word that is the raw value of a case of `type`.
  ///
  /// - Throws: ``UsageFailure/notAChoice(name:choices:)``.
  package func choice<T: RawRepresentable<String> & CaseIterable>(
    _ name: String, of type: T.Type
  ) throws(UsageFailure) -> T {
    guard let value = T(rawValue: string(name)) else {
      throw .notAChoice(name: display(name), choices: T.allCases.map(\.rawValue))
    }
    return value
  }

  /// The source of a secret: the descriptor of an option such as `--password-fd`, otherwise the terminal.
  ///
  /// - Throws: ``UsageFailure/notANumber(name:range:)``.
  package func secretInput(_ name: String) throws(UsageFailure) -> SecretInput {
    guard let descriptor = try optionalInteger(name, in: 0...65535) else { return .terminal }
    return .descriptor(Int32(descriptor))
  }

  private func check(_ name: String) {
    precondition(declares(name), "\(name) is not declared")
  }

  private func display(_ name: String) -> String {
    options[name] != nil ? "--\(name)" : name.uppercased()
  }

  private func number(
    _ text: String, _ name: String, _ range: ClosedRange<Int>
  ) throws(UsageFailure) -> Int {
    guard let number = Self.decimal(text[...]), range.contains(number) else {
      throw .notANumber(name: display(name), range: range)
    }
    return number
  }

  /// Parses digits with an optional minus; `Int` alone would also accept a plus.
  private static func decimal(_ text: Substring) -> Int? {
    text.hasPrefix("+") ? nil : Int(text)
  }
}
