import COpenSSL
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Overwrites `buffer` with zeros in a way that the optimiser may not remove, and the vector registers, which may hold parts of it.
package func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
  // Before the call, which may have the dynamic linker save them.
  COpenSSL_wipe_vector_registers()
  guard let base = buffer.baseAddress, buffer.count > 0 else { return }
  #if canImport(Glibc)
    unsafe explicit_bzero(base, buffer.count)
  #else
    _ = unsafe memset_s(base, buffer.count, 0, buffer.count)
  #endif
}

/// Where the bytes of one secret lie.
///
/// `mlock` works on whole pages, so locking each secret where `malloc` put it would let the end of one secret
/// unlock the page of its neighbour, and would cost a system call a secret. Small secrets therefore lie in
/// slots of blocks that are locked once; large ones have pages of their own.
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

  /// Memory for `byteCount` bytes: locked where the system allows it, otherwise ordinary memory.
  static func allocate(byteCount: Int) -> SecretMemory {
    if byteCount > SecretArena.largestSlot {
      if let pages = unsafe mapLocked(byteCount: byteCount) {
        return unsafe SecretMemory(UnsafeMutableRawBufferPointer(start: pages, count: byteCount), .pages)
      }
    } else if let (slot, sizeClass) = unsafe SecretArena.shared.take(byteCount: byteCount) {
      return unsafe SecretMemory(
        UnsafeMutableRawBufferPointer(start: slot, count: byteCount), .slot(sizeClass))
    }
    let heap = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: 16)
    return unsafe SecretMemory(UnsafeMutableRawBufferPointer(start: heap, count: byteCount), .heap)
  }

  /// Memory that somebody else frees; it is wiped all the same.
  static func borrow(_ buffer: UnsafeMutableRawBufferPointer) -> SecretMemory {
    unsafe SecretMemory(buffer, .borrowed)
  }

  /// Wipes the bytes, then gives the memory back.
  ///
  /// The last call on this value.
  func wipeAndFree() {
    unsafe wipe(buffer)
    guard let base = unsafe buffer.baseAddress else { return }
    switch origin {
    case .slot(let sizeClass): unsafe SecretArena.shared.give(base, sizeClass)
    case .pages: unsafe munmap(base, buffer.count)  // unlocks as well
    case .heap: unsafe base.deallocate()
    case .borrowed: break
    }
  }
}

/// Locked blocks of memory, cut into slots of three sizes; a size that runs out gets another block.
///
/// The only mutable state of the module that is shared by the whole process: pages are the process's too.
@safe private final class SecretArena: Sendable {
  static let shared = SecretArena()
  static let largestSlot = 4096

  private struct SizeClass {
    let slotByteCount: Int
    let slotsInBlock: Int
    /// Addresses of slots that nobody has.
    var free: [UInt] = []
  }

  // The first blocks are 512 KiB in all, well under the usual limit of 8 MiB of locked memory for a process.
  private let classes = Mutex([
    SizeClass(slotByteCount: 64, slotsInBlock: 4096), SizeClass(slotByteCount: 512, slotsInBlock: 256),
    SizeClass(slotByteCount: SecretArena.largestSlot, slotsInBlock: 32),
  ])

  /// A slot for at most ``largestSlot`` bytes; nil where the system has no memory for another block.
  func take(byteCount: Int) -> (UnsafeMutableRawPointer, sizeClass: Int)? {
    let place: (slot: UInt, sizeClass: Int)? = classes.withLock { classes in
      guard let index = classes.firstIndex(where: { byteCount <= $0.slotByteCount }) else { return nil }
      if classes[index].free.isEmpty { classes[index].free = Self.newBlock(classes[index]) }
      return classes[index].free.popLast().map { ($0, index) }
    }
    guard let place, let slot = unsafe UnsafeMutableRawPointer(bitPattern: place.slot) else { return nil }
    return unsafe (slot, place.sizeClass)
  }

  func give(_ slot: UnsafeMutableRawPointer, _ sizeClass: Int) {
    let address = UInt(bitPattern: slot)
    classes.withLock { $0[sizeClass].free.append(address) }
  }

  private static func newBlock(_ size: SizeClass) -> [UInt] {
    guard let block = unsafe mapLocked(byteCount: size.slotByteCount * size.slotsInBlock) else { return [] }
    let first = UInt(bitPattern: block)
    return (0..<size.slotsInBlock).reversed().map { first + UInt($0 * size.slotByteCount) }
  }
}

/// Pages of zeros that are kept out of swap and out of core dumps, as far as the system grants it.
private func mapLocked(byteCount: Int) -> UnsafeMutableRawPointer? {
  let flags = MAP_PRIVATE | MAP_ANONYMOUS
  guard let pages = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0),
    unsafe pages != UnsafeMutableRawPointer(bitPattern: -1)
  else { return nil }
  // Best effort: a process without the right to lock memory keeps working, only less well protected.
  _ = unsafe mlock(pages, byteCount)
  #if canImport(Glibc)
    _ = unsafe madvise(pages, byteCount, Int32(MADV_DONTDUMP))
  #endif
  return unsafe pages
}
