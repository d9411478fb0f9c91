using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching;

/// <summary>A range of keys of a dictionary.</summary>
/// <param name="Dictionary">Name of the dictionary.</param>
/// <param name="Low">The lowest key; null if unbounded.</param>
/// <param name="LowInclusive">Whether the lowest key belongs to the range.</param>
/// <param name="High">The highest key; null if unbounded.</param>
/// <param name="HighInclusive">Whether the highest key belongs to the range.</param>
internal readonly record struct KeyRange(string Dictionary, byte[]? Low, bool LowInclusive, byte[]? High, bool HighInclusive)
{
    /// <summary>
    /// Whether a bound is longer than the truncated keys of the dictionary, so that keys cannot decide the range. The bounds
    /// are then whole texts and must be compared with whole texts.
    /// </summary>
    public bool IsLong { get; init; }

    /// <summary>Positions a cursor on the first key at or after the lower bound; false if there is none.</summary>
    public bool MoveFirst(TermCursor cursor)
    {
        if (Low is null)
            return cursor.MoveFirst();
        return cursor.Seek(Low) && (LowInclusive || !cursor.Key.SequenceEqual(Low) || cursor.MoveNext());
    }

    /// <summary>Positions a cursor on the last key at or before the upper bound; false if there is none.</summary>
    public bool MoveLast(TermCursor cursor)
    {
        if (High is null)
            return cursor.MoveLast();
        if (!cursor.Seek(High))
            return cursor.MoveLast();
        return (HighInclusive && cursor.Key.SequenceEqual(High)) || cursor.MovePrevious();
    }

    /// <summary>Whether a key is not above the upper bound.</summary>
    public bool IsUpTo(ReadOnlySpan<byte> key)
    {
        int order = High is null ? -1 : key.SequenceCompareTo(High);
        return order < 0 || (order == 0 && HighInclusive);
    }

    /// <summary>Whether a key is not below the lower bound.</summary>
    public bool IsFrom(ReadOnlySpan<byte> key)
    {
        int order = Low is null ? 1 : key.SequenceCompareTo(Low);
        return order > 0 || (order == 0 && LowInclusive);
    }

    /// <summary>Returns the part of the range between the first and the last key of the dictionary.</summary>
    public KeyRange Within(byte[] first, byte[] last)
    {
        KeyRange part = this;
        if (IsFrom(first))
            part = part with { Low = first, LowInclusive = true };
        if (IsUpTo(last))
            part = part with { High = last, HighInclusive = true };
        return part;
    }

    /// <summary>
    /// Returns the range as a half-open interval of keys if both ends are given and have the same length, as keys of numbers
    /// do; otherwise null.
    /// </summary>
    public (byte[] From, byte[] To)? TryGetEnds() =>
        Low is not null && High is not null && Low.Length == High.Length
            && (LowInclusive ? Low : Successor(Low)) is { } from && (HighInclusive ? Successor(High) : High) is { } to
            ? (from, to)
            : null;

    /// <summary>Returns the next key of the same length, or null after the last.</summary>
    private static byte[]? Successor(byte[] key)
    {
        byte[] next = [.. key];
        for (int i = next.Length - 1; i >= 0; i--)
        {
            if (++next[i] != 0)
                return next;
        }

        return null;
    }
}
