namespace Treepie.Storage.Sessions;

/// <summary>A range of keys read by a cursor; a null bound is unbounded. The lower bound is included.</summary>
internal readonly record struct ReadRange(ReadOnlyMemory<byte>? Low, ReadOnlyMemory<byte>? High, bool IsHighExcluded)
{
    /// <summary>Whether the range ends before a key.</summary>
    public bool EndsBefore(ReadOnlySpan<byte> key)
    {
        if (High is not { } high)
            return false;

        int order = key.SequenceCompareTo(high.Span);
        return order > 0 || (order == 0 && IsHighExcluded);
    }
}
