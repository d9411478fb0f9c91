using System.Buffers;
using System.Security.Cryptography;

namespace Treepie.Encryption;

/// <summary>
/// Room for a secret on its way from where it is kept to the key made of it: never moved by the garbage collector, zeroed when
/// disposed.
/// </summary>
internal sealed class SecretBuffer(int capacityBytes) : IBufferWriter<byte>, IDisposable
{
    private readonly byte[] _bytes = GC.AllocateArray<byte>(capacityBytes, pinned: true);

    /// <summary>Bytes filled so far.</summary>
    public int Length { get; private set; }

    /// <summary>What is filled.</summary>
    public Span<byte> Span => _bytes.AsSpan(0, Length);

    /// <summary>What is still free.</summary>
    public Memory<byte> Free => _bytes.AsMemory(Length);

    /// <summary>Counts the first bytes of <see cref="Free"/> as filled.</summary>
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
