#if os(Linux)
  import CLinuxProcess

  /// Says whether the machine is a virtual one, and whether the process lives in a container.
  ///
  /// Many servers, laptops and test machines are, so that these weigh nothing unless ``IntegritySettings/weights`` say so.
  public struct EmulatorGuard: Guard {
    /// `emulator`.
    public let name = "emulator"

    /// A guard of this machine.
    public init() {}

    /// Says where the process lives.
    public func examine() -> [Evidence] {
      var evidence: [Evidence] = []
      if let hypervisor = Self.hypervisor() {
        evidence.append(Evidence(.hypervisor, "the machine is a virtual one (\(hypervisor))"))
      }
      if let emulator = Self.emulator() {
        evidence.append(Evidence(.emulator, "the machine's instructions are carried out by \(emulator)"))
      }
      if let container = Self.container() {
        evidence.append(Evidence(.container, "the process lives in a container (\(container))"))
      }
      return evidence
    }

    private static func hypervisor() -> String? {
      var name: InlineArray<13, CChar> = .init(repeating: 0)
      var span = name.mutableSpan
      let isVirtual = unsafe span.withUnsafeMutableBufferPointer {
        guard let start = $0.baseAddress else { return false }
        return unsafe signet_hypervisor(start) == 1
      }
      if isVirtual {
        let letters = (0..<13).map { UInt8(bitPattern: name[$0]) }.prefix { $0 != 0 }
        return letters.isEmpty ? "without a name" : String(decoding: letters, as: UTF8.self)
      }
      let products = ["product_name", "sys_vendor"].compactMap { firmware($0) }
      return products.first { product in
        ["QEMU", "KVM", "VirtualBox", "VMware", "Virtual Machine", "Xen", "Bochs", "Parallels"].contains {
          product.contains($0)
        }
      }
    }

    private static func emulator() -> String? {
      guard let vendor = KernelFile.text("/proc/cpuinfo", limit: 4096) else { return nil }
      // QEMU without hardware's help shows its own processor; so does an Android emulator ("goldfish").
      return ["TCGTCGTCGTCG", "QEMU Virtual CPU", "Goldfish", "goldfish", "ranchu"].first {
        vendor.contains($0)
      }
    }

    private static func firmware(_ name: String) -> String? {
      KernelFile.text("/sys/class/dmi/id/\(name)", limit: 256)?.trimmingSuffix { $0.isNewline }
    }

    private static func container() -> String? {
      for (path, engine) in [("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")]
      where FileStatus(path) != nil {
        return engine
      }
      if let engine = KernelFile.text("/run/systemd/container", limit: 64), !engine.isEmpty {
        return engine.trimmingSuffix { $0.isNewline }
      }
      let groups = KernelFile.text("/proc/1/cgroup", limit: 4096) ?? ""
      return ["docker", "kubepods", "containerd", "lxc", "libpod"].first { groups.contains($0) }
    }
  }
#endif
