/// The script for bash: one function that finds the command in the words before the cursor, then offers its declared words.
func bashScript(_ name: String, _ contexts: [CompletionContext]) -> String {
  let function = "_" + functionName(name)
  var descents = ""
  var valued = ""
  var values = ""
  var words = ""
  var operands = ""
  for context in contexts {
    for command in context.commands {
      descents +=
        "      '\(context.key):\(command.name)') path='\(context.key)/\(command.name)'; continue ;;\n"
    }
    for option in context.options where option.takesValue {
      let patterns = CompletionContext.spellings(option).map { "'\(context.key):\($0)'" }
      valued += "      \(patterns.joined(separator: "|"))) option=$word; continue ;;\n"
      values += "      \(patterns.joined(separator: "|"))) \(bashOffer(option.completion)) ;;\n"
    }
    let spellings = context.options.flatMap(CompletionContext.spellings)
    words += "      '\(context.key)') words='\(spellings.joined(separator: " "))' ;;\n"
    if !context.commands.isEmpty {
      let names = context.commands.map(\.name).joined(separator: " ")
      operands += "      '\(context.key):'*) words='\(names)' ;;\n"
    }
    for (index, argument) in context.command.arguments.enumerated() {
      let count = argument.maximumCount > 1 ? "*" : String(index)
      operands += "      '\(context.key):'\(count)) \(bashOffer(argument.completion)) ;;\n"
    }
  }
  return """
    # bash completion for \(name)
    \(function)() {
      local cur=${COMP_WORDS[COMP_CWORD]} path= option= word words= kind= ended= i
      local -i count=0
      for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        # Bash splits --option=value into three words.
        if [[ $word == '=' && -n $option ]]; then continue; fi
        if [[ -n $option ]]; then option=; continue; fi
        if [[ -n $ended ]]; then count+=1; continue; fi
        case "$path:$word" in
    \(descents)\(valued)      *:--) ended=1; continue ;;
          *:-?*) continue ;;
        esac
        count+=1
      done
      if [[ $cur == '=' && -n $option ]]; then cur=; fi
      if [[ -n $option ]]; then
        case "$path:$option" in
    \(values)      *) ;;
        esac
      elif [[ $cur == -* && -z $ended ]]; then
        case "$path" in
    \(words)      *) ;;
        esac
      else
        case "$path:$count" in
    \(operands)      *) ;;
        esac
      fi
      local IFS=$'\\n'
      case "$kind" in
        file) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
        directory) COMPREPLY=($(compgen -d -- "$cur")); compopt -o filenames 2>/dev/null ;;
        *) IFS=$' \\n'; COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
      esac
    }
    complete -F \(function) \(name)

    """
}

private func bashOffer(_ completion: ShellCompletion) -> String {
  switch completion {
  case .nothing: ""
  case .file: "kind=file"
  case .directory: "kind=directory"
  case .words(let words), .choices(let words): "words='\(words.joined(separator: " "))'"
  }
}
