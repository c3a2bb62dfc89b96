import CFixedRandom
import CLibFuzzer
import Dispatch
import Glibc

/// The fuzzer of the compiler's runtime, called as a library.
///
/// Its own `main` is linked, but not reached: the package manager lets every executable start in the `main` of its own module,
/// which therefore starts the fuzzer.
public enum LibFuzzer {
  // A global, since the fuzzer calls a function without context; written once, before that.
  nonisolated(unsafe) fileprivate static var check: ([UInt8]) -> Void = { _ in }

  /// Runs the fuzzer with the arguments of the process, and ends the process with its status.
  ///
  /// Random values are the same for each input, independent of earlier inputs, so that every finding repeats.
  ///
  /// - Parameters:
  ///   - prepare: Makes the data that all inputs share.
  ///   - check: Receives each input.
  public static func run(preparing prepare: () -> Void = {}, _ check: @escaping ([UInt8]) -> Void) -> Never {
    unsafe Self.check = check
    require(signet_fix_randomness() == 1, "OpenSSL takes its random bytes from here")
    prepare()
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
    exit(unsafe LLVMFuzzerRunDriver(&count, &arguments, checkOneInput))
  }
}

/// The function that the fuzzer calls; it has this name because the unreached `main` needs it for linking.
@_cdecl("LLVMFuzzerTestOneInput")
public func checkOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  signet_restart_randomness(1)
  unsafe LibFuzzer.check(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

/// Ends the process, which the fuzzer records as a finding, unless a property of a parser holds.
///
/// - Parameters:
///   - holds: The property.
///   - property: The description of the property.
public func require(_ holds: @autoclosure () -> Bool, _ property: StaticString) {
  guard holds() else { fatalError("property violated: \(property)") }
}

/// Runs asynchronous work and blocks this thread until its result.
public func waiting<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) -> Result {
  let done = DispatchSemaphore(value: 0)
  let box = ResultBox<Result>()
  Task.detached {
    box.value = await work()
    done.signal()
  }
  done.wait()
  guard let value = box.value else { preconditionFailure("the work has ended") }
  return value
}

/// Written before the semaphore is signaled, read after.
private final class ResultBox<Value>: @unchecked Sendable {
  var value: Value?
}

/// Returns the value that a parser accepts, or `nil` if it fails; every failure must have a description.
public func accepted<Value: ~Copyable, Failure: Error & CustomStringConvertible>(
  _ parse: () throws(Failure) -> Value
) -> Value? {
  do throws(Failure) {
    return try parse()
  } catch {
    require(!error.description.isEmpty, "a refusal says why")
    return nil
  }
}

/// Returns the result of an operation that must succeed, since its input comes from the same module.
public func made<Value: ~Copyable, Failure: Error>(
  _ what: StaticString, _ make: () throws(Failure) -> Value
) -> Value {
  do throws(Failure) {
    return try make()
  } catch {
    fatalError("property violated: \(what) (\(error))")
  }
}
