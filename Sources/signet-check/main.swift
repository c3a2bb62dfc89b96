// signet-check: runs test vectors through the pure cores; see docs/signet-check.md.

import Foundation

guard CommandLine.arguments.count == 1 else {
  let usage = "usage: signet-check < requests > answers\nOne JSON object a line; see docs/signet-check.md.\n"
  FileHandle.standardError.write(Data(usage.utf8))
  exit(2)
}

var input = LineReader(descriptor: 0)
var output = AnswerWriter(descriptor: 1)
var isWritable = true
while isWritable, let line = input.next(beforeWaiting: { isWritable = output.flush() && isWritable }) {
  output.append(CheckSession.answer(to: line))
}
exit(output.flush() && isWritable ? 0 : 1)
