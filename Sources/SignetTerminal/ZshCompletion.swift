/// The script for zsh: one function for each command, built on `_arguments`.
func zshScript(_ name: String, _ contexts: [CompletionContext]) -> String {
  let base = "_" + functionName(name)
  var functions = ""
  for context in contexts.reversed() {
    functions += zshFunction(base, context)
  }
  return """
    #compdef \(name)

    \(functions)if [[ ${funcstack[1]} == \(base) ]]; then
      \(base) "$@"
    else
      compdef \(base) \(name)
    fi

    """
}

private func zshFunction(_ base: String, _ context: CompletionContext) -> String {
  var specifications = context.options.map(zshSpecification)
  if context.commands.isEmpty {
    for (index, argument) in context.command.arguments.enumerated() {
      let position = argument.maximumCount > 1 ? "*" : String(index + 1)
      let colons = argument.minimumCount == 0 && argument.maximumCount == 1 ? "::" : ":"
      specifications.append(
        shellQuoted("\(position)\(colons)\(argument.name):\(zshAction(argument.completion))"))
    }
  } else {
    specifications += ["'1: :->command'", "'*:: :->rest'"]
  }
  let function = zshName(base, context.key)
  var text = "\(function)() {\n"
  text += "  local context state state_descr line\n  typeset -A opt_args\n"
  text += "  _arguments -s -S -C \\\n    " + specifications.joined(separator: " \\\n    ")
  if context.commands.isEmpty { return text + "\n}\n\n" }
  text += " && return 0\n  case $state in\n    command)\n      local -a commands=(\n"
  for command in context.commands {
    text += "        " + shellQuoted("\(command.name):\(command.summary)") + "\n"
  }
  text +=
    "      )\n      _describe -t commands command commands\n      ;;\n    rest)\n      case $line[1] in\n"
  for command in context.commands {
    text += "        \(command.name)) \(zshName(base, context.key + "/" + command.name)) ;;\n"
  }
  return text + "      esac\n      ;;\n  esac\n}\n\n"
}

private func zshName(_ base: String, _ key: String) -> String {
  base + String(key.map { $0 == "/" || $0 == "-" ? "_" : $0 })
}

/// `'(-j --json)'{-j,--json}'[Print JSON]'`, or the applicable part.
private func zshSpecification(_ option: Option) -> String {
  let help = String(option.help.flatMap { "[]\\:".contains($0) ? ["\\", $0] : [$0] })
  var tail = "[\(help)]"
  if let valueName = option.valueName { tail += ":\(valueName):\(zshAction(option.completion))" }
  let long = "--\(option.name)" + (option.takesValue ? "=" : "")
  let isOnce = !(option.isRepeatable && option.takesValue)
  guard let short = option.short else { return shellQuoted((isOnce ? "" : "*") + long + tail) }
  let shortForm = "-\(short)" + (option.takesValue ? "+" : "")
  let first = isOnce ? "'(-\(short) --\(option.name))'" : "'*'"
  return "\(first){\(shortForm),\(long)}\(shellQuoted(tail))"
}

private func zshAction(_ completion: ShellCompletion) -> String {
  switch completion {
  case .nothing: " "
  case .file: "_files"
  case .directory: "_files -/"
  case .words(let words), .choices(let words): "(\(words.joined(separator: " ")))"
  }
}
