using System.Buffers.Binary;
using Treepie.Storage;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Several terms of a dictionary with what stands beside them, in one value of its tree, read in place: a key and a cell for each
/// would take more room than most have themselves. What all of them begin and end with is there once, so that numbers are two or
/// three bytes.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       2     n, terms, little-endian
/// 2       1     p, bytes that all begin with: up to 255
/// 3       1     s, bytes that all end with, behind those: up to 255
/// 4       4     what the terms weigh together, which is the number of their entries where they have any, little-endian; 2³² − 1: not known
/// 8       2·g   where each group of 16 terms but the first begins, behind the first, little-endian; g = (n − 1) / 16
/// 8+2g    p, s  these bytes
/// …             by term: a byte, bytes of it in between · 16 + bytes of its value, 15 of either for 15 and more; the rest of those that are (varints); the bytes in
///               between; the value
/// </code>
/// A look-up divides the groups and reads one of them.
/// </summary>
internal readonly ref struct TermBlock
{
    /// <summary>Longest block of more than one term: eight of them fill a leaf.</summary>
    public const int MaxBytes = 990;

    public const int GroupBits = 4;
    public const int HeaderBytes = 8;
    public const int PrefixOffset = 2;
    public const int SuffixOffset = 3;
    public const int WeightOffset = 4;

    /// <summary>Most bytes in front of those of a term.</summary>
    public const int MaxHeadBytes = 1 + (2 * Varint.MaxBytes);

    /// <summary>Longest beginning and end.</summary>
    public const int MaxCommon = byte.MaxValue;

    /// <summary>From this length on, the rest of it stands behind.</summary>
    public const int LongLength = 15;

    private readonly ReadOnlySpan<byte> bytes;
    private readonly int start;

    /// <param name="bytes">The value.</param>
    /// <exception cref="CorruptionException">It is none.</exception>
    public TermBlock(ReadOnlySpan<byte> bytes)
    {
        this.bytes = bytes;
        if (bytes.Length <= HeaderBytes)
            throw Damaged();
        Count = BinaryPrimitives.ReadUInt16LittleEndian(bytes);
        int table = HeaderBytes + (2 * ((Count - 1) >> GroupBits));
        start = table + bytes[PrefixOffset] + bytes[SuffixOffset];
        if (Count == 0 || start >= bytes.Length)
            throw Damaged();
        Prefix = bytes.Slice(table, bytes[PrefixOffset]);
        Suffix = bytes.Slice(table + bytes[PrefixOffset], bytes[SuffixOffset]);
    }

    /// <summary>Terms.</summary>
    public int Count { get; }

    /// <summary>What the terms weigh together: entries, where they have any; null where that is not known.</summary>
    public long? Weight =>
        BinaryPrimitives.ReadUInt32LittleEndian(bytes[WeightOffset..]) is var weight && weight < uint.MaxValue ? weight : null;

    /// <summary>
    /// As <see cref="Weight"/>, -1 where it is not known, and how many terms there are, without a look at anything else.
    /// </summary>
    /// <exception cref="CorruptionException">It is no block.</exception>
    public static long WeightOf(ReadOnlySpan<byte> bytes, out int count)
    {
        if (bytes.Length <= HeaderBytes)
            throw Damaged();
        count = BinaryPrimitives.ReadUInt16LittleEndian(bytes);
        return BinaryPrimitives.ReadUInt32LittleEndian(bytes[WeightOffset..]) is var weight && weight < uint.MaxValue
            ? weight
            : -1;
    }

    /// <summary>What all terms begin with.</summary>
    public ReadOnlySpan<byte> Prefix { get; }

    /// <summary>What all terms end with, behind that.</summary>
    public ReadOnlySpan<byte> Suffix { get; }

    /// <summary>Where the first term is.</summary>
    public int First => start;

    /// <summary>Reads the term at a place; returns the place of the next.</summary>
    /// <exception cref="CorruptionException">It does not end within the block.</exception>
    public int Read(int place, out TermPlace term) => Read(bytes, place, out term);

    /// <summary>Reads the term at a place of bytes that have terms; returns the place of the next.</summary>
    /// <exception cref="CorruptionException">It does not end within them.</exception>
    public static int Read(ReadOnlySpan<byte> bytes, int place, out TermPlace term)
    {
        if ((uint)place >= (uint)bytes.Length)
            throw Damaged();
        int middle = bytes[place] >> 4, value = bytes[place] & 15;
        place++;
        if (middle == LongLength || value == LongLength)
        {
            ReadOnlySpan<byte> rest = bytes[place..];
            int before = rest.Length;
            if (middle == LongLength)
                middle += Length(ref rest);
            if (value == LongLength)
                value += Length(ref rest);
            place += before - rest.Length;
        }

        term = new TermPlace(place, middle, value);
        int next = place + middle + value;
        return next <= bytes.Length ? next : throw Damaged();
    }

    /// <summary>
    /// Writes what is in front of a term's bytes, into <see cref="MaxHeadBytes"/> at least; returns how many bytes that is.
    /// </summary>
    public static int WriteHead(Span<byte> output, int middleBytes, int valueBytes)
    {
        int middle = Math.Min(middleBytes, LongLength), value = Math.Min(valueBytes, LongLength), length = 1;
        output[0] = (byte)((middle << 4) | value);
        if (middle == LongLength)
            length += Varint.Write(output[length..], middleBytes - LongLength);
        if (value == LongLength)
            length += Varint.Write(output[length..], valueBytes - LongLength);
        return length;
    }

    /// <summary>The bytes of a term that are its own.</summary>
    public ReadOnlySpan<byte> Middle(TermPlace term) => bytes.Slice(term.Start, term.MiddleBytes);

    /// <summary>What stands beside it.</summary>
    public ReadOnlySpan<byte> Value(TermPlace term) => bytes.Slice(term.Start + term.MiddleBytes, term.ValueBytes);

    /// <summary>Bytes of a whole term.</summary>
    public int LengthOf(TermPlace term) => Prefix.Length + term.MiddleBytes + Suffix.Length;

    /// <summary>Writes a whole term; returns its length.</summary>
    public int CopyTerm(TermPlace term, Span<byte> output)
    {
        Prefix.CopyTo(output);
        Middle(term).CopyTo(output[Prefix.Length..]);
        Suffix.CopyTo(output[(Prefix.Length + term.MiddleBytes)..]);
        return Prefix.Length + term.MiddleBytes + Suffix.Length;
    }

    /// <summary>Where a group of terms begins.</summary>
    public int Group(int group) =>
        group == 0 ? start : start + BinaryPrimitives.ReadUInt16LittleEndian(bytes[(HeaderBytes + (2 * (group - 1)))..]);

    /// <summary>The place of a term by its number.</summary>
    /// <param name="index">Which.</param>
    /// <param name="term">It.</param>
    /// <returns>The place of the next.</returns>
    public int At(int index, out TermPlace term)
    {
        int place = Group(index >> GroupBits);
        for (int i = index & ~((1 << GroupBits) - 1); i < index; i++)
            place = Read(place, out _);
        return Read(place, out term);
    }

    /// <summary>
    /// The first term that is not before <paramref name="key"/>: its number, which is <see cref="Count"/> where there is none,
    /// it, the place of the next.
    /// </summary>
    public int LowerBound(scoped ReadOnlySpan<byte> key, out TermPlace term, out int next, out bool isExact)
    {
        term = default;
        isExact = false;
        next = start;
        if (!key.StartsWith(Prefix))
        {
            if (key.SequenceCompareTo(Prefix) > 0)
                return Count;
            next = Read(start, out term);
            return 0;
        }

        key = key[Prefix.Length..];
        int low = 0, high = (Count - 1) >> GroupBits;
        while (low < high)
        {
            int middle = (low + high + 1) >> 1;
            Read(Group(middle), out TermPlace first);
            if (Compare(first, key) <= 0)
                low = middle;
            else
                high = middle - 1;
        }

        int index = low << GroupBits;
        next = Group(low);
        for (; index < Count; index++)
        {
            next = Read(next, out term);
            int order = Compare(term, key);
            if (order < 0)
                continue;
            isExact = order == 0;
            return index;
        }

        return Count;
    }

    /// <summary>The order of a term to a key, both behind the prefix.</summary>
    private int Compare(TermPlace term, scoped ReadOnlySpan<byte> key)
    {
        ReadOnlySpan<byte> middle = Middle(term);
        if (key.Length < middle.Length)
            return middle.SequenceCompareTo(key);
        int order = middle.SequenceCompareTo(key[..middle.Length]);
        return order != 0 ? order : Suffix.SequenceCompareTo(key[middle.Length..]);
    }

    private static int Length(ref ReadOnlySpan<byte> rest)
    {
        if (rest.IsEmpty)
            throw Damaged();
        int length = Varint.Read(ref rest);
        return length is >= 0 and < short.MaxValue ? length : throw Damaged();
    }

    private static CorruptionException Damaged() =>
        new("A block of terms in the index is damaged. Reset the index to build it again.");
}

/// <summary>Where a term lies in a <see cref="TermBlock"/>.</summary>
/// <param name="Start">Where its own bytes begin.</param>
/// <param name="MiddleBytes">How many they are.</param>
/// <param name="ValueBytes">Bytes of its value, which is behind them.</param>
internal readonly record struct TermPlace(int Start, int MiddleBytes, int ValueBytes);
