#if os(Linux)
  import CTPM2
  import SignetCrypto
  import SignetVault

  /// A link in the form of the C library's transmission interface, freed with its single owner.
  ///
  /// The library's own interfaces have no time-out. With this one, no call waits without limit.
  @safe package final class TCTI {
    private let raw: UnsafeMutablePointer<CTPM2_TCTI>
    private let box: LinkBox

    package init(_ link: any TPMLink) {
      box = LinkBox(link)
      unsafe raw = .allocate(capacity: 1)
      unsafe raw.initialize(to: CTPM2_TCTI())
      unsafe raw.pointee.common.v1.magic = 0x5347_4E45_5454_504D  // SGNETTPM
      unsafe raw.pointee.common.v1.version = 2
      unsafe raw.pointee.common.v1.transmit = transmit
      unsafe raw.pointee.common.v1.receive = receive
      unsafe raw.pointee.link = Unmanaged.passUnretained(box).toOpaque()
    }

    deinit { unsafe raw.deallocate() }

    /// The reason why the link failed, if it did; the C library reports only a number.
    var failure: KeystoreFailure? { box.failure }

    /// The context for the C library; it must not outlive this object.
    package var context: OpaquePointer { unsafe OpaquePointer(raw) }
  }

  private final class LinkBox {
    let link: any TPMLink
    var failure: KeystoreFailure?

    init(_ link: any TPMLink) { self.link = link }

    static func of(_ context: OpaquePointer?) -> LinkBox? {
      guard let context = unsafe context,
        let link = unsafe UnsafePointer<CTPM2_TCTI>(context).pointee.link
      else { return nil }
      return unsafe Unmanaged<LinkBox>.fromOpaque(link).takeUnretainedValue()
    }
  }

  /// Codes of the library's transmission layer (10): bad reference, I/O error, insufficient buffer.
  private let badReference: TSS2_RC = 0xA_0005
  private let ioError: TSS2_RC = 0xA_000A
  private let insufficientBuffer: TSS2_RC = 0xA_0006

  private func transmit(
    _ context: OpaquePointer?, _ size: Int, _ command: UnsafePointer<UInt8>?
  ) -> TSS2_RC {
    guard let box = unsafe LinkBox.of(context), let command = unsafe command else { return badReference }
    do throws(KeystoreFailure) {
      try box.link.send(unsafe Array(UnsafeBufferPointer(start: command, count: size)))
      return 0
    } catch {
      box.failure = error
      return ioError
    }
  }

  private func receive(
    _ context: OpaquePointer?, _ size: UnsafeMutablePointer<Int>?, _ response: UnsafeMutablePointer<UInt8>?,
    _ timeout: Int32
  ) -> TSS2_RC {
    guard let box = unsafe LinkBox.of(context), let size = unsafe size else { return badReference }
    guard let response = unsafe response else {
      unsafe size.pointee = TPMFrame.largestByteCount
      return 0
    }
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: response, count: size.pointee)
    do throws(KeystoreFailure) {
      let answer = try box.link.receive()
      // The library uses the same buffer for both directions: it still holds the last command.
      unsafe wipe(buffer)
      guard answer.count <= buffer.count else { return insufficientBuffer }
      unsafe buffer.copyBytes(from: answer)
      unsafe size.pointee = answer.count
      return 0
    } catch {
      unsafe wipe(buffer)
      box.failure = error
      return ioError
    }
  }
#endif
