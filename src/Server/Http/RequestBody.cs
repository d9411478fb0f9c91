using System.Buffers;
using System.Security.Cryptography;
using Treepie.Server.Limits;

namespace Treepie.Server.Http;

/// <summary>
/// A request's body in one buffer, with what it holds of the memory that all requests share; disposing gives both back.
/// Batches copy what they take from it.
/// </summary>
internal sealed class RequestBody : IDisposable
{
    /// <summary>
    /// Largest buffer that is pooled: larger ones would stay in the pool long after the one request that needed them.
    /// </summary>
    private const int MostPooledBytes = 1 << 20;

    /// <summary>First size of a buffer. It grows with what comes, not with what is announced.</summary>
    private const int FirstBytes = 16 * 1024;

    private readonly BufferLease? _lease;
    private byte[] _buffer;
    private bool _pooled;
    private bool _disposed;

    /// <summary>Over bytes that are there.</summary>
    public RequestBody(byte[] bytes, int length)
    {
        _buffer = bytes;
        Length = length;
    }

    /// <summary>Empty, to be appended to.</summary>
    public RequestBody(BufferLease lease)
    {
        _lease = lease;
        _buffer = [];
    }

    public static RequestBody Empty { get; } = new([], 0);

    public ReadOnlyMemory<byte> Memory => _buffer.AsMemory(0, Length);

    public ReadOnlySpan<byte> Span => _buffer.AsSpan(0, Length);

    public int Length { get; private set; }

    /// <summary>
    /// Holds so many bytes more of the shared memory until this is disposed: what the body is parsed to, or copied to.
    /// </summary>
    /// <exception cref="WireException">All requests together would hold more than they may.</exception>
    public void Hold(long bytes) => _lease?.Grow(bytes);

    /// <summary>Appends what has come.</summary>
    /// <param name="bytes">The bytes.</param>
    /// <param name="expected">The length that was announced, beyond which no buffer grows; null: none was.</param>
    public void Append(ReadOnlySequence<byte> bytes, long? expected)
    {
        int needed = checked(Length + (int)bytes.Length);
        if (needed > _buffer.Length)
            Grow(needed, expected);
        bytes.CopyTo(_buffer.AsSpan(Length));
        Length = needed;
    }

    /// <summary>Zeroes it, where it was a secret.</summary>
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
        _lease?.Grow(larger.Length - wanted); // a pool gives what it has
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
