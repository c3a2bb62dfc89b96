import COpenSSL
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Overwrites a buffer with zeros by a call that the optimizer may not remove.
///
/// It also wipes the vector registers, which may hold parts of the buffer.
package func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
  // Before the next call, for which the dynamic linker may save the registers.
  COpenSSL_wipe_vector_registers()
  guard let base = buffer.baseAddress, buffer.count > 0 else { return }
  #if canImport(Glibc)
    unsafe explicit_bzero(base, buffer.count)
  #else
    _ = unsafe memset_s(base, buffer.count, 0, buffer.count)
  #endif
}

/// The memory of one secret.
///
/// `mlock` locks whole pages. If each secret were locked where `malloc` placed it, unlocking one would unlock its neighbor's
/// page, and each secret would cost a system call. Small secrets are therefore in slots of blocks that are locked once;
/// large ones have their own pages.
@safe struct SecretMemory {
  private enum Origin {
    case slot(Int)
    case pages
    case heap
    case borrowed
  }

  let buffer: UnsafeMutableRawBufferPointer
  private let origin: Origin

  private init(_ buffer: UnsafeMutableRawBufferPointer, _ origin: Origin) {
    unsafe self.buffer = buffer
    self.origin = origin
  }

  /// Allocates `byteCount` bytes: locked if the system allows it, ordinary memory otherwise.
  static func allocate(byteCount: Int) -> SecretMemory {
    if byteCount > SecretArena.largestSlot {
      if let pages = unsafe mapLocked(byteCount: byteCount) {
        return unsafe SecretMemory(UnsafeMutableRawBufferPointer(start: pages, count: byteCount), .pages)
      }
    } else if let (slot, sizeClass) = unsafe SecretArena.shared.allocateSlot(byteCount: byteCount) {
      return unsafe SecretMemory(
        UnsafeMutableRawBufferPointer(start: slot, count: byteCount), .slot(sizeClass))
    }
    let heap = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: 16)
    return unsafe SecretMemory(UnsafeMutableRawBufferPointer(start: heap, count: byteCount), .heap)
  }

  /// Uses memory that the caller frees; it is wiped too.
  static func borrow(_ buffer: UnsafeMutableRawBufferPointer) -> SecretMemory {
    unsafe SecretMemory(buffer, .borrowed)
  }

  /// Wipes the bytes and frees the memory; the value must not be used afterwards.
  func wipeAndFree() {
    unsafe wipe(buffer)
    guard let base = unsafe buffer.baseAddress else { return }
    switch origin {
    case .slot(let sizeClass): unsafe SecretArena.shared.releaseSlot(base, sizeClass)
    case .pages: unsafe munmap(base, buffer.count)  // also unlocks
    case .heap: unsafe base.deallocate()
    case .borrowed: break
    }
  }
}

/// Locked blocks of memory, divided into slots of three sizes; an exhausted size gets another block.
///
/// It is the module's only process-wide mutable state: pages belong to the process too.
@safe private final class SecretArena: Sendable {
  static let shared = SecretArena()
  static let largestSlot = 4096

  private struct SizeClass {
    let slotByteCount: Int
    let slotsInBlock: Int
    /// The addresses of unused slots.
    var free: [UInt] = []
  }

  // The first blocks have 512 KiB in total, well below the usual limit of 8 MiB of locked memory per process.
  private let classes = Mutex([
    SizeClass(slotByteCount: 64, slotsInBlock: 4096), SizeClass(slotByteCount: 512, slotsInBlock: 256),
    SizeClass(slotByteCount: SecretArena.largestSlot, slotsInBlock: 32),
  ])

  /// Allocates a slot for at most ``largestSlot`` bytes; `nil` if the system has no memory for another block.
  func allocateSlot(byteCount: Int) -> (UnsafeMutableRawPointer, sizeClass: Int)? {
    let allocation: (slot: UInt, sizeClass: Int)? = classes.withLock { classes in
      guard let index = classes.firstIndex(where: { byteCount <= $0.slotByteCount }) else { return nil }
      if classes[index].free.isEmpty { classes[index].free = Self.newBlock(classes[index]) }
      return classes[index].free.popLast().map { ($0, index) }
    }
    guard let allocation, let slot = unsafe UnsafeMutableRawPointer(bitPattern: allocation.slot) else {
      return nil
    }
    return unsafe (slot, allocation.sizeClass)
  }

  func releaseSlot(_ slot: UnsafeMutableRawPointer, _ sizeClass: Int) {
    let address = UInt(bitPattern: slot)
    classes.withLock { $0[sizeClass].free.append(address) }
  }

  private static func newBlock(_ size: SizeClass) -> [UInt] {
    guard let block = unsafe mapLocked(byteCount: size.slotByteCount * size.slotsInBlock) else { return [] }
    let first = UInt(bitPattern: block)
    return (0..<size.slotsInBlock).reversed().map { first + UInt($0 * size.slotByteCount) }
  }
}

/// Maps zeroed pages that are kept out of swap and core dumps, as far as the system allows.
private func mapLocked(byteCount: Int) -> UnsafeMutableRawPointer? {
  let flags = MAP_PRIVATE | MAP_ANONYMOUS
  guard let pages = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0),
    unsafe pages != UnsafeMutableRawPointer(bitPattern: -1)
  else { return nil }
  // Best effort: a process without the right to lock memory continues with less protection.
  _ = unsafe mlock(pages, byteCount)
  #if canImport(Glibc)
    _ = unsafe madvise(pages, byteCount, Int32(MADV_DONTDUMP))
  #endif
  return unsafe pages
}

/// Remains of earlier calls on this thread's stack.
///
/// Calls save registers on the stack, and registers may hold secrets. The compiler saves some. The dynamic linker saves all
/// of them at the first call of another library's function. A secret type cannot wipe such copies.
package enum DeadStack {
  /// Overwrites the vector registers and 32 KiB below the caller's frame.
  ///
  /// Call it after the calls that used secrets have returned.
  package static func wipe() { COpenSSL_wipe_dead_stack() }

  /// Runs `body` and then overwrites its stack.
  ///
  /// `body` gets a separate frame: if it were inlined into the caller, it would save registers above the wiped range.
  package static func wiped<R: ~Copyable, E: Error>(after body: () throws(E) -> R) throws(E) -> R {
    defer { wipe() }
    return try apart(body)
  }

  @inline(never)
  private static func apart<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R { try body() }
}
