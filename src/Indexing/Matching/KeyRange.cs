using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching;

/// <summary>The keys of a dictionary between two bounds.</summary>
/// <param name="Dictionary">Its name.</param>
/// <param name="Low">The lowest key; null: open.</param>
/// <param name="LowInclusive">Whether it belongs to the range.</param>
/// <param name="High">The highest key; null: open.</param>
/// <param name="HighInclusive">Whether it belongs to the range.</param>
internal readonly record struct KeyRange(string Dictionary, byte[]? Low, bool LowInclusive, byte[]? High, bool HighInclusive)
{
    /// <summary>
    /// Whether a bound is so long that keys, which are cut, do not say what is between the bounds: these are whole texts then,
    /// to be compared with whole texts.
    /// </summary>
    public bool IsLong { get; init; }

    /// <summary>Puts a cursor on the first key that is not before the range; false if there is none.</summary>
    public bool MoveFirst(TermCursor cursor)
    {
        if (Low is null)
            return cursor.MoveFirst();
        return cursor.Seek(Low) && (LowInclusive || !cursor.Key.SequenceEqual(Low) || cursor.MoveNext());
    }

    /// <summary>Puts a cursor on the last key that is not behind the range; false if there is none.</summary>
    public bool MoveLast(TermCursor cursor)
    {
        if (High is null)
            return cursor.MoveLast();
        if (!cursor.Seek(High))
            return cursor.MoveLast();
        return (HighInclusive && cursor.Key.SequenceEqual(High)) || cursor.MovePrevious();
    }

    /// <summary>Whether a key is not behind the range.</summary>
    public bool IsUpTo(ReadOnlySpan<byte> key)
    {
        int order = High is null ? -1 : key.SequenceCompareTo(High);
        return order < 0 || (order == 0 && HighInclusive);
    }

    /// <summary>Whether a key is not before the range.</summary>
    public bool IsFrom(ReadOnlySpan<byte> key)
    {
        int order = Low is null ? 1 : key.SequenceCompareTo(Low);
        return order > 0 || (order == 0 && LowInclusive);
    }

    /// <summary>
    /// The first key and the first one behind the last, where both ends are given and all keys have one length, as those of
    /// numbers have; null elsewhere.
    /// </summary>
    public (byte[] From, byte[] To)? TryGetEnds() =>
        Low is not null && High is not null && Low.Length == High.Length
            && (LowInclusive ? Low : Successor(Low)) is { } from && (HighInclusive ? Successor(High) : High) is { } to
            ? (from, to)
            : null;

    /// <summary>The next key of the same length; null behind the last.</summary>
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
