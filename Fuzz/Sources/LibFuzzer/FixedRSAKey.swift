/// An RSA key for signers such as the account of a push service: made for fuzz targets, and used nowhere else.
public enum FixedRSAKey {
  /// The private key in PEM.
  public static let pem = """
    -----BEGIN RSA PRIVATE KEY-----
    MIIEowIBAAKCAQEApZn25Em58a18fNnoU51B447/X9yQJZOC7atxAt3dkkNA1Tr2
    0xq8EscSIRjrpx+PNzFD1PcVobVqA6pkOFU43BQwh3pFDMiaKSTVBzytp84RYg0V
    1jKPTtk/e0XoNjobDyxFuepWkAXze92sCJikIbN1gk/tL3AIOcPFvKNnO4FzNV7U
    I+vRGm7Wey4Lx02TQHPgHQFyvC7/CiL9K9ZN9aswSLNuPes5o2MIc8i8EPF469vi
    8qM514UvlxxE+4QR2RvqtLFw3gwode5bRoXWkJzNY5oXRCO/FtCF3K6ZiITF5oZm
    Q84lteFmMcYXjlPs1q9v6sWDXbmQlsflkJM7ewIDAQABAoIBABin1zv/BBnJAC9g
    jDgiwkQcrsX5g1as40H6lA1ethYIQFde+4/Lu7O6Aud9m9xalQqdIaHMFeLpLTsV
    e+1tNtWBhgYtvKkeFuHIU5VLwfkpc6obE6S8C10seEikzGGCfjPgnhMDola4JBvN
    kccH3uwLmZPIzaIR9o+PJ9ohpAWWT5C4GhMjMHdQELgHMjueH+y55quUvTzKtepe
    QhQsRaTBEpl0EvAlHw6bfFrxGDgB5q9MVUA+wmQYU9RL8DJEWMF8rIAqRwIBDjER
    dzV2AtRVBfLYbBDImHJqpMeGahulrZ/1FxvbJJ0uzZC0QoN3uklFxUd+yINfLftw
    iYzSTykCgYEA1sVIVi/9YZQ+6T4wh97v4+NWOHC8MTkIfu5HaNJqZsWJ9AmwxxDx
    nWqbTZf/QAnBTkvF41OEJFgCmwMu6RUycLuFi2Hmt3cB0q3iM1syzLZrs24vKXqJ
    OZkbovAEahQHn2sGr+9NnPF7bLupQPTcxp70+aKyBw6TY8VQO/H5z1MCgYEAxWRN
    rBU+laiRp+S4gdOn/CKFlFL9s4wZKr9HVUQfIKhkGioiiGvLz0IlOUQ/du+BvjZG
    VmVV+s55s49AB47VQYPfBVMB8mtoNAMdPddueVWLmI1KHBNw9QwTOgzxgUwd7pHH
    6Z+SCNtlhZ14uZbf9NP2r5nJhoLQ+gxJ3hUjZjkCgYBhWxSrXR2y+gx6lqJRNRHx
    b8BJ3XCxr3TWdRURwzBQXgNnCG2GD3w3K3gy+E/Qq5tg7qBJqDYic3La6dp99gnj
    aF3lDQAU8nF1GzWKqjCg86Bmue/PEaja3zjT55FYtLOv5EgnwIaiOiUE6RyUQWtC
    7hOGheXFpSnS9EKmqc3f2QKBgANUyALJcP7xk1O0BnEac1FL+9ke9W0cRih0he2o
    cqYIcXgHkgGfYBclVJ98yV1meVgObm1y1FqhNWiUWE5IWMz8Pr1GQ1gl++I00z+B
    7Tla+joe2EtVAKkCBSkLot+9uxuVljwZF0vS+AmjOLBZHXpyQU2BWOdOOdyebHi0
    /p3xAoGBAKikWY6eohbr6vLYDuLHO+hsQGGTWccjwkxUMC1EDbCMFWrvtuFPN9Vm
    MS/L8rDVtHqDzdYSSvpNmGdN2lrx1N50R+L3VuF5PJIJxLDxPLoGQdImO6cLj7Zs
    NYZKNjc4ztcFx6doe6yiJRQ+EKRYaW0M/ugU5a6e8eI1IBCPJMF6
    -----END RSA PRIVATE KEY-----

    """
}
