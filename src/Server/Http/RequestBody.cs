using System.Buffers;
using System.Security.Cryptography;
using Treepie.Server.Limits;

namespace Treepie.Server.Http;

/// <summary>
/// A request body in one buffer, which counts towards the memory shared by all requests; disposing returns both. Batches copy
/// the data they take from it.
/// </summary>
internal sealed class RequestBody : IDisposable
{
    /// <summary>
    /// The maximum size of a pooled buffer: larger ones would stay in the pool long after the one request that needed them.
    /// </summary>
    private const int MostPooledBytes = 1 << 20;

    /// <summary>The initial size of a buffer. It grows with the received data, not to the announced length.</summary>
    private const int FirstBytes = 16 * 1024;

    private readonly BufferLease? _lease;
    private byte[] _buffer;
    private bool _pooled;
    private bool _disposed;

    /// <summary>Creates a body from existing bytes.</summary>
    public RequestBody(byte[] bytes, int length)
    {
        _buffer = bytes;
        Length = length;
    }

    /// <summary>Creates an empty body to append to.</summary>
    public RequestBody(BufferLease lease)
    {
        _lease = lease;
        _buffer = [];
    }

    public static RequestBody Empty { get; } = new([], 0);

    public ReadOnlyMemory<byte> Memory => _buffer.AsMemory(0, Length);

    public ReadOnlySpan<byte> Span => _buffer.AsSpan(0, Length);

    public int Length { get; private set; }

    /// <summary>Counts additional memory until this is disposed, for what the body is parsed or copied to.</summary>
    /// <exception cref="WireException">All requests together would exceed the limit.</exception>
    public void Hold(long bytes) => _lease?.Grow(bytes);

    /// <summary>Appends received data.</summary>
    /// <param name="bytes">The bytes.</param>
    /// <param name="expected">
    /// The announced length, which limits the growth of the buffer; null if none was announced.
    /// </param>
    public void Append(ReadOnlySequence<byte> bytes, long? expected)
    {
        int needed = checked(Length + (int)bytes.Length);
        if (needed > _buffer.Length)
            Grow(needed, expected);
        bytes.CopyTo(_buffer.AsSpan(Length));
        Length = needed;
    }

    /// <summary>Zeroes the buffer, if it contained a secret.</summary>
    public void Wipe() => CryptographicOperations.ZeroMemory(_buffer);

    public void Dispose()
    {
        if (_disposed || _buffer.Length == 0)
        {
            _lease?.Dispose();
            return;
        }

        _disposed = true;
        Return();
        _lease?.Dispose();
    }

    private void Grow(int needed, long? expected)
    {
        const int Doubling = 2;
        long wanted = Math.Max(Math.Max(needed, FirstBytes), (long)_buffer.Length * Doubling);
        if (expected is { } end && end >= needed)
            wanted = Math.Min(wanted, end);
        wanted = Math.Min(wanted, Array.MaxLength);
        _lease?.Grow(wanted - _buffer.Length);
        bool isPooled = wanted <= MostPooledBytes;
        byte[] larger = isPooled ? ArrayPool<byte>.Shared.Rent((int)wanted) : GC.AllocateUninitializedArray<byte>((int)wanted);
        _lease?.Grow(larger.Length - wanted); // the pool may return a larger buffer
        _buffer.AsSpan(0, Length).CopyTo(larger);
        Return();
        _buffer = larger;
        _pooled = isPooled;
    }

    private void Return()
    {
        if (_pooled)
            ArrayPool<byte>.Shared.Return(_buffer);
        _pooled = false;
    }
}
