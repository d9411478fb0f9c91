using System.Diagnostics;
using Treepie.Indexing.Terms;
using Treepie.Storage;

namespace Treepie.Indexing.Postings;

/// <summary>
/// The champion list of a long posting list, stored in the value of its term, with limits for all other entries. It determines
/// the highest-scoring entries for any average text length without reading the list. Champion lists are usually inexact (Manning,
/// Raghavan, Schütze, Introduction to Information Retrieval, 7.1.3); the limits make this one exact.
/// <code>
/// number of limits (varint)
/// per limit, frequencies and lengths descending: frequency, length (varints)
/// then to the end, per group of entries with equal frequency and length: frequency, length, number of entries, first id,
///   distances of ids (varints)
/// </code>
/// </summary>
/// <remarks>
/// Invariants: 1. Every entry of the list that is not in the head has, for one of the limits, at most its frequency and at least
/// its length; so no such entry scores more than a limit does. 2. Of entries with the same frequency and length, those of the
/// head have smaller ids than those outside: the first one left out creates a limit that excludes all later ones. 3. Every entry
/// of the head is in the list. 4. There are at most <see cref="MaxLimits"/> limits, of which none covers another, and at most
/// <see cref="MaxEntries"/> entries. Removals do not change limits, which can only leave them too high.
/// </remarks>
internal static class ListHead
{
    /// <summary>
    /// Most entries: enough for a page of ten with its ties even after the average length has changed. Half as many would save a
    /// third of the space.
    /// </summary>
    public const int MaxEntries = 32;

    /// <summary>
    /// The head is rebuilt when it has fewer entries than this although the list has more. At least half of its entries must
    /// have been removed by then, which amortizes the scan of the list over these removals.
    /// </summary>
    public const int MinEntries = MaxEntries / 2;

    /// <summary>Most limits: few lists have a different best frequency for each length.</summary>
    public const int MaxLimits = 16;

    /// <summary>Longest head: every entry has a different frequency and length.</summary>
    public const int MaxBytes = 1 + (MaxLimits * 2 * Varint.MaxBytes)
        + (MaxEntries * ((2 * Varint.MaxBytes) + 1 + Varint.MaxLongBytes));

    /// <summary>Reads a head and returns the number of its entries.</summary>
    /// <param name="bytes">The encoded head; empty if there is none.</param>
    /// <param name="best">Receives up to <see cref="MaxEntries"/> entries.</param>
    /// <param name="limits">Receives up to <see cref="MaxLimits"/> limits, which have no ids.</param>
    /// <param name="limitCount">Number of limits.</param>
    /// <exception cref="CorruptionException">The head is damaged.</exception>
    public static int Read(ReadOnlySpan<byte> bytes, Span<HeadEntry> best, Span<HeadEntry> limits, out int limitCount)
    {
        limitCount = 0;
        if (bytes.IsEmpty)
            return 0;
        limitCount = ReadLimits(ref bytes, limits);
        return ReadEntries(bytes, best);
    }

    /// <summary>Reads the limits and moves the span to the entries that follow.</summary>
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

    /// <summary>Reads the entries after the limits.</summary>
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
        Debug.Assert(best.Length <= MaxEntries && limits.Length <= MaxLimits, "4: a head is bounded");
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

    /// <summary>The exception for a damaged head.</summary>
    public static CorruptionException Damaged() =>
        new("The head of a list of entries in the index is damaged. Reset the index to build it again.");
}

/// <summary>
/// An entry of a list with everything its score depends on, or a limit (see <see cref="ListHead"/>), which has no id.
/// </summary>
internal readonly record struct HeadEntry(long Id, int Frequency, int Length)
{
    public bool IsLike(HeadEntry other) => Frequency == other.Frequency && Length == other.Length;

    /// <summary>
    /// Whether it scores at least as much as an entry with this frequency and length, for any average length.
    /// </summary>
    public bool Covers(int frequency, int length) => Frequency >= frequency && Length <= length;
}
