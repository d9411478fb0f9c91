using System.Buffers;
using System.Security.Cryptography;

namespace Treepie.Encryption;

/// <summary>
/// A buffer for a secret between its source and the key created from it: pinned, so that the garbage collector does not copy
/// it, and zeroed when disposed.
/// </summary>
internal sealed class SecretBuffer(int capacityBytes) : IBufferWriter<byte>, IDisposable
{
    private readonly byte[] _bytes = GC.AllocateArray<byte>(capacityBytes, pinned: true);

    /// <summary>The number of bytes filled.</summary>
    public int Length { get; private set; }

    /// <summary>The filled part.</summary>
    public Span<byte> Span => _bytes.AsSpan(0, Length);

    /// <summary>The free part.</summary>
    public Memory<byte> Free => _bytes.AsMemory(Length);

    /// <summary>Marks the first bytes of <see cref="Free"/> as filled.</summary>
    public void Advance(int count) => Length += count;

    /// <inheritdoc/>
    public Memory<byte> GetMemory(int sizeHint = 0) =>
        sizeHint <= Free.Length ? Free : throw new InvalidOperationException("The room for a secret is fixed.");

    /// <inheritdoc/>
    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public void Dispose()
    {
        CryptographicOperations.ZeroMemory(_bytes);
        Length = 0;
    }
}
