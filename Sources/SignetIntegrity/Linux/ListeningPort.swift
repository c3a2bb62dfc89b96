#if os(Linux)
  import CLinuxProcess
  import Glibc

  /// Questions to the kernel about TCP ports (sock_diag(7)), without functions of a library.
  enum ListeningPort {
    /// Indicates whether a program listens on a port at the loopback address of a family; `nil` if the kernel does not answer.
    ///
    /// `/proc/net/tcp` would have the kernel walk through all connections that the machine could have.
    static func isOpen(_ port: UInt16, _ family: Int32) -> Bool? {
      switch answer(to: question(port, family)) {
      case (SOCK_DIAG_BY_FAMILY, _)?: true
      // There is no such socket, or nothing in the kernel that answers for TCP: a list of no sockets tells which.
      case (NLMSG_ERROR, Int8(-ENOENT))?: answer(to: emptyList(family))?.type == NLMSG_DONE ? false : nil
      default: nil
      }
    }

    /// Returns the type of the kernel's answer and, if that is an error, its number; `nil` without an answer.
    private static func answer(to question: [UInt8]) -> (type: Int32, error: Int8)? {
      let kind = Int(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue)
      let channel = signet_kernel(
        Int(SYS_socket), Int(AF_NETLINK), kind, Int(NETLINK_SOCK_DIAG), 0, 0, 0)
      guard channel >= 0 else { return nil }
      defer { signet_kernel_close(Int32(channel)) }
      let sentCount = unsafe question.withUnsafeBytes {
        signet_kernel(
          Int(SYS_sendto), channel, Int(bitPattern: $0.baseAddress), $0.count, 0, 0, 0)
      }
      var answer = [UInt8](repeating: 0, count: 1024)
      let count = unsafe answer.withUnsafeMutableBytes {
        signet_kernel(
          Int(SYS_recvfrom), channel, Int(bitPattern: $0.baseAddress), $0.count, Int(MSG_DONTWAIT),
          0, 0)
      }
      guard sentCount >= 0, count >= 20 else { return nil }
      // nlmsghdr: the length in 4 bytes, the type in 2; an error has its number behind the 16 bytes of the header.
      return (Int32(answer[4]) | Int32(answer[5]) << 8, Int8(bitPattern: answer[16]))
    }

    /// A question for the socket with this port and address that has no peer: nlmsghdr, then inet_diag_req_v2.
    private static func question(_ port: UInt16, _ family: Int32) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 72)
      bytes[0] = 72  // the length
      bytes[4] = UInt8(SOCK_DIAG_BY_FAMILY)
      bytes[6] = UInt8(NLM_F_REQUEST)
      bytes[16] = UInt8(family)
      bytes[17] = UInt8(IPPROTO_TCP)
      bytes[24] = UInt8(port >> 8)
      bytes[25] = UInt8(port & 0xFF)
      bytes.replaceSubrange(28..<32, with: family == AF_INET ? [127, 0, 0, 1] : [0, 0, 0, 0])
      bytes[43] = family == AF_INET ? 0 : 1
      bytes[60] = 1  // the loopback device, for sockets that are bound to it
      bytes.replaceSubrange(64..<72, with: repeatElement(0xFF, count: 8))  // no cookie
      return bytes
    }

    /// A question for all sockets in no state.
    private static func emptyList(_ family: Int32) -> [UInt8] {
      var bytes = question(0, family)
      bytes[7] = 3  // NLM_F_DUMP
      return bytes
    }
  }
#endif
