using System.Buffers;
using System.Security.Cryptography;

namespace Treepie.Server.Http;

/// <summary>A request's body in one pooled buffer; disposing gives it back. Batches copy what they take from it.</summary>
internal sealed class RequestBody(byte[] buffer, int length, bool pooled) : IDisposable
{
    private bool disposed;

    public static RequestBody Empty { get; } = new([], 0, pooled: false);

    public ReadOnlyMemory<byte> Memory => buffer.AsMemory(0, length);

    public ReadOnlySpan<byte> Span => buffer.AsSpan(0, length);

    public int Length => length;

    /// <summary>Zeroes it, where it was a secret.</summary>
    public void Wipe() => CryptographicOperations.ZeroMemory(buffer);

    public void Dispose()
    {
        if (pooled && !disposed)
            ArrayPool<byte>.Shared.Return(buffer);

        disposed = true;
    }
}
