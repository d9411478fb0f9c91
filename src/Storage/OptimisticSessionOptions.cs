namespace Treepie.Storage;

/// <summary>Bounds of an optimistic session. Immutable; defaults are right for most uses.</summary>
public sealed record OptimisticSessionOptions
{
    /// <summary>
    /// Memory for what the session remembers of its reads, in bytes: each key read alone counts with its length and 64 bytes
    /// more, each stretch read by a cursor with both its ends and 128 bytes more, however many keys it has. 16 MiB unless told
    /// otherwise.
    /// </summary>
    public long MaxReadBytes { get; init; } = 16L << 20;

    /// <summary>
    /// Memory for the session's writes, in bytes: keys, values, and 96 bytes more for each key. 64 MiB unless told otherwise.
    /// </summary>
    public long MaxWriteBytes { get; init; } = 64L << 20;

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxReadBytes, 1L << 10);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxWriteBytes, 1L << 10);
    }
}
