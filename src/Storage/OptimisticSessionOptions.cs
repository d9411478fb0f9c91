namespace Treepie.Storage;

/// <summary>Limits of an optimistic session. Immutable; the defaults suit most uses.</summary>
public sealed record OptimisticSessionOptions
{
    /// <summary>
    /// The memory in bytes for tracking reads: each key read individually uses its length plus 64 bytes, each range read by a
    /// cursor the length of both ends plus 128 bytes, however many keys it contains. Default: 16 MiB.
    /// </summary>
    public long MaxReadBytes { get; init; } = 16L << 20;

    /// <summary>
    /// The memory in bytes for the writes of the session: keys, values, and 96 bytes per key. Default: 64 MiB.
    /// </summary>
    public long MaxWriteBytes { get; init; } = 64L << 20;

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxReadBytes, 1L << 10);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxWriteBytes, 1L << 10);
    }
}
