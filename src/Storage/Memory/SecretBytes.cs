namespace Treepie.Storage.Memory;

/// <summary>
/// A few bytes that must not be found anywhere later: in memory of their own, kept out of swap and core dumps where the system
/// allows, zeroed when disposed. What the system's cryptography library copies of them while it computes is not in reach.
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
    /// <exception cref="ObjectDisposedException">They are zeroed.</exception>
    public Span<byte> Span
    {
        get
        {
            ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed) != 0, this);
            return _range.Span(0, _length);
        }
    }

    /// <summary>
    /// Zeroes them. Where nobody does, the system does so before it gives the memory, which goes with this object, to anyone.
    /// </summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return;

        _range.Span(0, _length).Clear();
        _range.Dispose();
    }
}
