/// The script for fish: a function that locates the cursor in the command tree, and one line for each completion.
func fishScript(_ name: String, _ contexts: [CompletionContext]) -> String {
  let function = "__" + functionName(name) + "_at"
  var descents = ""
  var valued: [String] = []
  var completions = ""
  for context in contexts {
    for command in context.commands {
      descents += "            case \(fishQuoted("\(context.key):\(command.name)"))\n"
      descents += "                set path \(fishQuoted("\(context.key)/\(command.name)"))\n"
    }
    for option in context.options where option.takesValue {
      valued += CompletionContext.spellings(option).map { fishQuoted("\(context.key):\($0)") }
    }
    let condition = "complete -c \(name) -n \(fishQuoted("\(function) \(fishQuoted(context.key))"))"
    for command in context.commands {
      completions += "\(condition) -a \(fishQuoted(command.name)) -d \(fishQuoted(command.summary))\n"
    }
    for option in context.options {
      let short = option.short.map { " -s \($0)" } ?? ""
      let value = option.takesValue ? " " + fishOffer(option.completion, isValue: true) : ""
      completions += "\(condition) -l \(option.name)\(short)\(value) -d \(fishQuoted(option.help))\n"
    }
    for argument in context.command.arguments where argument.completion != .nothing {
      completions += "\(condition) \(fishOffer(argument.completion, isValue: false))\n"
    }
  }
  if !valued.isEmpty {
    descents += "            case \(valued.joined(separator: " "))\n                set skip 1\n"
  }
  return """
    # fish completion for \(name)
    function \(function)
        set -l path ''
        set -l skip 0
        for word in (commandline -opc)[2..-1]
            if test $skip -eq 1
                set skip 0
                continue
            end
            switch "$path:$word"
    \(descents)        end
        end
        test "$path" = "$argv[1]"
    end
    complete -c \(name) -f
    \(completions)
    """
}

/// Arguments of `complete`: `-x` requires a value and offers no files, `-r -F` offers files.
private func fishOffer(_ completion: ShellCompletion, isValue: Bool) -> String {
  switch completion {
  case .nothing: isValue ? "-x" : ""
  case .file: isValue ? "-r -F" : "-F"
  case .directory: (isValue ? "-x " : "") + "-a '(__fish_complete_directories)'"
  case .words(let words), .choices(let words):
    (isValue ? "-x " : "") + "-a \(fishQuoted(words.joined(separator: " ")))"
  }
}

/// Quotes text as one word of fish, where `\'` and `\\` are the only escapes inside single quotes.
private func fishQuoted(_ text: String) -> String {
  "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
}
