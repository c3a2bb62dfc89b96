import Foundation

// A peer that ends early must be an error, not the end of this process.
_ = signal(SIGPIPE, SIG_IGN)
if CommandLine.arguments.dropFirst().first == ServerProcess.verb {
  try await ServerProcess.serve(Array(CommandLine.arguments.dropFirst(2)))
} else {
  exit(await Benchmarks.run(Array(CommandLine.arguments.dropFirst())))
}
