namespace Treepie.Storage.Memory;

/// <summary>
/// A few secret bytes in memory of their own, excluded from swap and core dumps if the system allows it, and zeroed when
/// disposed. Copies that the system's cryptography library makes while it computes cannot be controlled.
/// </summary>
internal sealed class SecretBytes : IDisposable
{
    private readonly AddressRange _range;
    private readonly int _length;
    private int _disposed;

    public SecretBytes(int lengthBytes)
    {
        _length = lengthBytes;
        _range = AddressRange.Reserve(Environment.SystemPageSize);
        _range.Commit(0, _range.Length);
        _range.ExcludeFromDumps(0, _range.Length);
        _ = _range.TryLock(0, _range.Length);
    }

    /// <summary>The bytes.</summary>
    /// <exception cref="ObjectDisposedException">They have been zeroed.</exception>
    public Span<byte> Span
    {
        get
        {
            ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
            return _range.Span(0, _length);
        }
    }

    /// <summary>
    /// Zeroes and frees the bytes. If it is not called, the system zeroes the memory, which is freed with this object, before
    /// reusing it.
    /// </summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return;

        _range.Span(0, _length).Clear();
        _range.Dispose();
    }
}
