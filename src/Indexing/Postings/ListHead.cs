using Treepie.Indexing.Terms;
using Treepie.Storage;

namespace Treepie.Indexing.Postings;

/// <summary>
/// The best entries of a long list of a word, kept beside the term, and what is known of the others: enough to say, whatever the
/// average length of a text has become, which entries score highest, without a look at the list. It is known as a champion list
/// (Manning, Raghavan, Schütze, Introduction to Information Retrieval, 7.1.3), which is inexact; this one is not, by its limits.
/// <code>
/// number of limits (varint)
/// by limit, frequencies and lengths descending: frequency, length (varints)
/// then, up to the end, entries that share frequency and length: frequency, length, how many they are, the first id, distances of ids (varints)
/// </code>
/// </summary>
/// <remarks>
/// Invariants: 1. Every entry of the list that is not in the head has, for one of the limits, at most its frequency and at least
/// its length; so no such entry scores more than a limit does. 2. Of entries with the same frequency and length, those of the
/// head have smaller ids than those outside: with the first that goes out, or stays out, such a limit comes to be, and keeps all
/// later ones out. 3. An entry of the head is one of the list. 4. Limits are at most <see cref="MaxLimits"/>, entries at most
/// <see cref="MaxEntries"/>. Removals leave limits as they are, which only makes them too high.
/// </remarks>
internal static class ListHead
{
    /// <summary>
    /// Most entries: a page of ten finds its ties here even where the average length is no more what it was. Half as many would
    /// save a third of the room.
    /// </summary>
    public const int MaxEntries = 32;

    /// <summary>
    /// With fewer, though the list has more, it is made anew: half of it must have gone, so that the list is walked once in so
    /// many removals that each has paid for a few steps.
    /// </summary>
    public const int MinEntries = MaxEntries / 2;

    /// <summary>Most limits: texts with a frequency of its own for each length are rare.</summary>
    public const int MaxLimits = 16;

    /// <summary>Longest head: each entry with a frequency and a length of its own.</summary>
    public const int MaxBytes = 1 + (MaxLimits * 2 * Varint.MaxBytes)
        + (MaxEntries * ((2 * Varint.MaxBytes) + 1 + Varint.MaxLongBytes));

    /// <summary>Reads a head; returns how many entries it has.</summary>
    /// <param name="bytes">It; empty: there is none.</param>
    /// <param name="best">Room for <see cref="MaxEntries"/>.</param>
    /// <param name="limits">Room for <see cref="MaxLimits"/>, without ids.</param>
    /// <param name="limitCount">How many there are.</param>
    /// <exception cref="CorruptionException">It is not as it was written.</exception>
    public static int Read(ReadOnlySpan<byte> bytes, Span<HeadEntry> best, Span<HeadEntry> limits, out int limitCount)
    {
        limitCount = 0;
        if (bytes.IsEmpty)
            return 0;
        limitCount = ReadLimits(ref bytes, limits);
        return ReadEntries(bytes, best);
    }

    /// <summary>Reads the limits, which stand first; the entries are left.</summary>
    public static int ReadLimits(ref ReadOnlySpan<byte> bytes, Span<HeadEntry> limits)
    {
        int count = Varint.Read(ref bytes);
        if ((uint)count > MaxLimits)
            throw Damaged();
        for (int i = 0; i < count; i++)
        {
            (int frequency, int length) = ReadPair(ref bytes);
            limits[i] = new HeadEntry(0, frequency, length);
            if (i > 0 && (frequency >= limits[i - 1].Frequency || length >= limits[i - 1].Length))
                throw Damaged();
        }

        return count;
    }

    /// <summary>Reads the entries behind the limits.</summary>
    public static int ReadEntries(ReadOnlySpan<byte> bytes, Span<HeadEntry> best)
    {
        int count = 0;
        while (!bytes.IsEmpty)
        {
            (int frequency, int length) = ReadPair(ref bytes);
            int alike = Varint.Read(ref bytes);
            if (alike <= 0 || alike > MaxEntries - count)
                throw Damaged();
            long id = -1;
            for (int end = count + alike; count < end; count++)
                best[count] = new HeadEntry(id = ReadId(ref bytes, id), frequency, length);
        }

        return count;
    }

    /// <summary>Writes a head into <see cref="MaxBytes"/>; returns its length.</summary>
    public static int Write(ReadOnlySpan<HeadEntry> best, ReadOnlySpan<HeadEntry> limits, Span<byte> output)
    {
        int length = Varint.Write(output, limits.Length);
        foreach (HeadEntry limit in limits)
        {
            length += Varint.Write(output[length..], limit.Frequency);
            length += Varint.Write(output[length..], limit.Length);
        }

        for (int first = 0, end; first < best.Length; first = end)
        {
            HeadEntry entry = best[first];
            for (end = first + 1; end < best.Length && best[end].IsLike(entry) && best[end].Id > best[end - 1].Id;)
                end++;
            length += Varint.Write(output[length..], entry.Frequency);
            length += Varint.Write(output[length..], entry.Length);
            length += Varint.Write(output[length..], end - first);
            length += Varint.WriteLong(output[length..], entry.Id);
            for (int i = first + 1; i < end; i++)
                length += Varint.WriteLong(output[length..], best[i].Id - best[i - 1].Id);
        }

        return length;
    }

    private static (int Frequency, int Length) ReadPair(ref ReadOnlySpan<byte> bytes)
    {
        int frequency = Varint.Read(ref bytes), length = Varint.Read(ref bytes);
        return frequency > 0 && length >= 0 ? (frequency, length) : throw Damaged();
    }

    private static long ReadId(ref ReadOnlySpan<byte> bytes, long before)
    {
        long step = Varint.ReadLong(ref bytes), id = Math.Max(0, before) + step;
        return step >= 0 && id > before ? id : throw Damaged();
    }

    /// <summary>What is thrown where a head is not as it was written.</summary>
    public static CorruptionException Damaged() =>
        new("The head of a list of entries in the index is damaged. Reset the index to build it again.");
}

/// <summary>
/// An entry of a list with all that its score depends on; or a limit, see <see cref="ListHead"/>, which has no id.
/// </summary>
internal readonly record struct HeadEntry(long Id, int Frequency, int Length)
{
    public bool IsLike(HeadEntry other) => Frequency == other.Frequency && Length == other.Length;

    /// <summary>Whether it scores at least what the other does, whatever lengths are on average.</summary>
    public bool Covers(int frequency, int length) => Frequency >= frequency && Length <= length;
}
