using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Several terms of a dictionary and their values in one value of its tree, read in place, because a key and a cell for each
/// term would take more space than most terms do. The common prefix and suffix are stored once, so that a number takes two or
/// three bytes.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       2     n, number of terms, little-endian
/// 2       1     p, length of the common prefix: up to 255
/// 3       1     s, length of the common suffix, after the prefix: up to 255
/// 4       4     total weight of the terms, which is their number of entries if they have any, little-endian; 2³² − 1: unknown
/// 8       2·g   start of each group of 16 terms but the first, relative to the first, little-endian; g = (n − 1) / 16
/// 8+2g    p, s  prefix and suffix
/// …             per term: a byte, length of its middle · 16 + length of its value, where 15 means 15 or more; the excess of each
///               such length (varint); the middle, which is the term without prefix and suffix; the value
/// </code>
/// A lookup binary-searches the groups and scans one of them. Invariants:
/// 1. Terms of a block ascend strictly.
/// 2. All terms have the block's prefix and suffix, which do not overlap.
/// 3. Groups start at ascending places, 16 terms apart.
/// </summary>
internal readonly ref struct TermBlock
{
    /// <summary>Longest block of more than one term: a leaf holds eight.</summary>
    public const int MaxBytes = 990;

    public const int GroupBits = 4;
    public const int HeaderBytes = 8;
    public const int PrefixOffset = 2;
    public const int SuffixOffset = 3;
    public const int WeightOffset = 4;

    /// <summary>Most bytes of the lengths before the middle of a term.</summary>
    public const int MaxHeadBytes = 1 + (2 * Varint.MaxBytes);

    /// <summary>Longest common prefix or suffix.</summary>
    public const int MaxCommon = byte.MaxValue;

    /// <summary>For lengths from this value on, the excess follows as a varint.</summary>
    public const int LongLength = 15;

    private readonly ReadOnlySpan<byte> _bytes;
    private readonly int _start;

    /// <param name="bytes">The value.</param>
    /// <exception cref="CorruptionException">The bytes are not a block.</exception>
    public TermBlock(ReadOnlySpan<byte> bytes)
    {
        _bytes = bytes;
        if (bytes.Length <= HeaderBytes)
            throw Damaged();
        Count = BinaryPrimitives.ReadUInt16LittleEndian(bytes);
        int table = HeaderBytes + (2 * ((Count - 1) >> GroupBits));
        _start = table + bytes[PrefixOffset] + bytes[SuffixOffset];
        if (Count == 0 || _start >= bytes.Length)
            throw Damaged();
        Prefix = bytes.Slice(table, bytes[PrefixOffset]);
        Suffix = bytes.Slice(table + bytes[PrefixOffset], bytes[SuffixOffset]);
    }

    /// <summary>Number of terms.</summary>
    public int Count { get; }

    /// <summary>Total weight of the terms, which is their number of entries if they have any; null if unknown.</summary>
    public long? Weight =>
        BinaryPrimitives.ReadUInt32LittleEndian(_bytes[WeightOffset..]) is var weight && weight < uint.MaxValue ? weight : null;

    /// <summary>
    /// Like <see cref="Weight"/>, but -1 if unknown; also returns the number of terms. Reads only the header.
    /// </summary>
    /// <exception cref="CorruptionException">The bytes are too short for a block.</exception>
    public static long WeightOf(ReadOnlySpan<byte> bytes, out int count)
    {
        if (bytes.Length <= HeaderBytes)
            throw Damaged();
        count = BinaryPrimitives.ReadUInt16LittleEndian(bytes);
        return BinaryPrimitives.ReadUInt32LittleEndian(bytes[WeightOffset..]) is var weight && weight < uint.MaxValue
            ? weight
            : -1;
    }

    /// <summary>The common prefix.</summary>
    public ReadOnlySpan<byte> Prefix { get; }

    /// <summary>The common suffix, after the prefix.</summary>
    public ReadOnlySpan<byte> Suffix { get; }

    /// <summary>The place of the first term.</summary>
    public int First => _start;

    /// <summary>Reads the term at a place; returns the place of the next term.</summary>
    /// <exception cref="CorruptionException">The term does not end within the block.</exception>
    public int Read(int place, out TermPlace term) => Read(_bytes, place, out term);

    /// <summary>Reads the term at a place of a sequence of terms; returns the place of the next term.</summary>
    /// <exception cref="CorruptionException">The term does not end within the bytes.</exception>
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
    /// Writes the lengths that precede a term into at least <see cref="MaxHeadBytes"/> bytes; returns the bytes written.
    /// </summary>
    public static int WriteHead(Span<byte> output, int middleBytes, int valueBytes)
    {
        Debug.Assert(middleBytes >= 0 && valueBytes >= 0, "2: prefix and suffix are part of each term");
        int middle = Math.Min(middleBytes, LongLength), value = Math.Min(valueBytes, LongLength), length = 1;
        output[0] = (byte)((middle << 4) | value);
        if (middle == LongLength)
            length += Varint.Write(output[length..], middleBytes - LongLength);
        if (value == LongLength)
            length += Varint.Write(output[length..], valueBytes - LongLength);
        return length;
    }

    /// <summary>The bytes of a term between prefix and suffix.</summary>
    public ReadOnlySpan<byte> Middle(TermPlace term) => _bytes.Slice(term.Start, term.MiddleBytes);

    /// <summary>The value of a term.</summary>
    public ReadOnlySpan<byte> Value(TermPlace term) => _bytes.Slice(term.Start + term.MiddleBytes, term.ValueBytes);

    /// <summary>Length of a whole term in bytes.</summary>
    public int LengthOf(TermPlace term) => Prefix.Length + term.MiddleBytes + Suffix.Length;

    /// <summary>Writes a whole term; returns its length.</summary>
    public int CopyTerm(TermPlace term, Span<byte> output)
    {
        Prefix.CopyTo(output);
        Middle(term).CopyTo(output[Prefix.Length..]);
        Suffix.CopyTo(output[(Prefix.Length + term.MiddleBytes)..]);
        return Prefix.Length + term.MiddleBytes + Suffix.Length;
    }

    /// <summary>The place of the first term of a group.</summary>
    public int Group(int group) =>
        group == 0 ? _start : _start + BinaryPrimitives.ReadUInt16LittleEndian(_bytes[(HeaderBytes + (2 * (group - 1)))..]);

    /// <summary>Reads a term by its index.</summary>
    /// <param name="index">Its index in the block.</param>
    /// <param name="term">The term.</param>
    /// <returns>The place of the next term.</returns>
    public int At(int index, out TermPlace term)
    {
        Debug.Assert((uint)index < (uint)Count, "the index is one of the block");
        int place = Group(index >> GroupBits);
        for (int i = index & ~((1 << GroupBits) - 1); i < index; i++)
            place = Read(place, out _);
        return Read(place, out term);
    }

    /// <summary>
    /// Finds the first term that is not before <paramref name="key"/>; returns its index, <see cref="Count"/> if there is none.
    /// </summary>
    public int LowerBound(scoped ReadOnlySpan<byte> key, out TermPlace term, out int next, out bool isExact)
    {
        term = default;
        isExact = false;
        next = _start;
        if (!key.StartsWith(Prefix))
        {
            if (key.SequenceCompareTo(Prefix) > 0)
                return Count;
            next = Read(_start, out term);
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

    /// <summary>Compares a term with a key, both without the prefix.</summary>
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

/// <summary>The location of a term in a <see cref="TermBlock"/>.</summary>
/// <param name="Start">Where its middle begins.</param>
/// <param name="MiddleBytes">Length of its middle.</param>
/// <param name="ValueBytes">Length of its value, which follows.</param>
internal readonly record struct TermPlace(int Start, int MiddleBytes, int ValueBytes);
