namespace Treepie.Storage.Sessions;

/// <summary>A stretch of keys that a cursor has looked through. Null: without an end on that side.</summary>
internal readonly record struct ReadRange(ReadOnlyMemory<byte>? Low, ReadOnlyMemory<byte>? High, bool IsHighExcluded)
{
    /// <summary>Whether a key lies above the stretch.</summary>
    public bool EndsBefore(ReadOnlySpan<byte> key)
    {
        if (High is not { } high)
            return false;

        int order = key.SequenceCompareTo(high.Span);
        return order > 0 || (order == 0 && IsHighExcluded);
    }
}
