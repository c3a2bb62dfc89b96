// signet-check: runs test vectors through the pure cores; see docs/signet-check.md.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

let arguments = CommandLine.arguments.dropFirst()
guard arguments.isEmpty else {
  let usage = """
    usage: signet-check < requests > answers
    One JSON object a line, {"id":1,"op":"…",…}; docs/signet-check.md has the members of each operation:
      \(CheckSession.operationNames.joined(separator: "\n  "))

    """
  let isAskedFor = arguments == ["--help"] || arguments == ["-h"]
  var output = AnswerWriter(descriptor: isAskedFor ? 1 : 2)
  output.append(Array(usage.utf8))
  _ = output.flush()
  exit(isAskedFor ? 0 : 2)
}

var input = LineReader(descriptor: 0)
var output = AnswerWriter(descriptor: 1)
var isWritable = true
while isWritable, let line = input.next(beforeWaiting: { isWritable = output.flush() && isWritable }) {
  output.append(CheckSession.answer(to: line))
}
exit(output.flush() && isWritable ? 0 : 1)
