using System.Buffers.Binary;

namespace Treepie.Indexing.Terms;

/// <summary>
/// The different terms of a batch, each with an ordinal in order of appearance, and who has them. An occurrence costs one
/// probe of a hash table; only different terms are sorted.
/// </summary>
/// <remarks>
/// Owners (entries of the batch, or entries being removed) come in ascending order, one after the other. Where positions are kept, every
/// addition has one, ascending within an owner.
/// </remarks>
internal sealed class TermTable
{
    private const int KeepBytes = 4 << 20;

    private readonly ByteArena arena = new();
    private int[] buckets = new int[64];
    private Term[] terms = new Term[32];
    private Occurrence[] occurrences = new Occurrence[64];
    private Place[] places = [];
    private int placeCount;

    private struct Term
    {
        public ulong Head;
        public int Start;
        public int Length;
        public uint Hash;
        public int LastOccurrence;
        public int OccurrenceCount;
    }

    private struct Occurrence
    {
        public int Term;
        public int Owner;
        public int Frequency;
    }

    /// <summary>A position, and the occurrence it belongs to.</summary>
    private readonly record struct Place(int Occurrence, int Position);

    /// <summary>Different terms.</summary>
    public int Count { get; private set; }

    /// <summary>Pairs of term and owner.</summary>
    public int OccurrenceCount { get; private set; }

    public ReadOnlySpan<byte> this[int ordinal] => arena.Slice(terms[ordinal].Start, terms[ordinal].Length);

    /// <summary>Owners that have a term.</summary>
    public int OccurrencesOf(int ordinal) => terms[ordinal].OccurrenceCount;

    /// <summary>Notes that an owner has the term once more; true if it is the first time for this owner.</summary>
    public bool Add(ReadOnlySpan<byte> term, int owner, out int ordinal)
    {
        ordinal = Intern(term);
        ref Term entry = ref terms[ordinal];
        if (entry.OccurrenceCount > 0 && occurrences[entry.LastOccurrence].Owner == owner)
        {
            occurrences[entry.LastOccurrence].Frequency++;
            return false;
        }

        if (OccurrenceCount == occurrences.Length)
            Array.Resize(ref occurrences, occurrences.Length * 2);
        occurrences[OccurrenceCount] = new Occurrence { Term = ordinal, Owner = owner, Frequency = 1 };
        entry.LastOccurrence = OccurrenceCount++;
        entry.OccurrenceCount++;
        return true;
    }

    /// <summary>As <see cref="Add(ReadOnlySpan{byte}, int, out int)"/>, at a position.</summary>
    public bool Add(ReadOnlySpan<byte> term, int owner, int position, out int ordinal)
    {
        bool isFirst = Add(term, owner, out ordinal);
        if (placeCount == places.Length)
            Array.Resize(ref places, Math.Max(64, placeCount * 2));
        places[placeCount++] = new Place(terms[ordinal].LastOccurrence, position);
        return isFirst;
    }

    /// <summary>The ordinal of a term, new or not.</summary>
    public int Intern(ReadOnlySpan<byte> term)
    {
        uint hash = Hash(term);
        int mask = buckets.Length - 1;
        int bucket = (int)hash & mask;
        for (int found = buckets[bucket]; found != 0; found = buckets[bucket])
        {
            ref Term candidate = ref terms[found - 1];
            if (candidate.Hash == hash && arena.Slice(candidate.Start, candidate.Length).SequenceEqual(term))
                return found - 1;
            bucket = (bucket + 1) & mask;
        }

        if (Count == terms.Length)
            Array.Resize(ref terms, terms.Length * 2);
        terms[Count] = new Term { Head = HeadOf(term), Start = arena.Add(term), Length = term.Length, Hash = hash };
        buckets[bucket] = ++Count;
        if (Count * 2 > buckets.Length)
            Rehash();
        return Count - 1;
    }

    /// <summary>All ordinals in byte order of their terms.</summary>
    public int[] SortedOrdinals()
    {
        var keys = new (ulong Head, int Ordinal)[Count];
        for (int i = 0; i < keys.Length; i++)
            keys[i] = (terms[i].Head, i);
        keys.AsSpan().Sort(new ByTerm(this));
        return Array.ConvertAll(keys, key => key.Ordinal);
    }

    /// <summary>Occurrences by term, owners ascending.</summary>
    public TermOccurrences GroupByTerm()
    {
        var starts = new int[Count + 1];
        for (int i = 0; i < Count; i++)
            starts[i + 1] = starts[i] + terms[i].OccurrenceCount;
        var next = starts.AsSpan(0, Count).ToArray();
        var owners = new int[OccurrenceCount];
        var frequencies = new int[OccurrenceCount];
        var placeOf = new int[placeCount > 0 ? OccurrenceCount : 0];
        for (int i = 0; i < OccurrenceCount; i++)
        {
            ref Occurrence occurrence = ref occurrences[i];
            int place = next[occurrence.Term]++;
            owners[place] = occurrence.Owner;
            frequencies[place] = occurrence.Frequency;
            if (placeCount > 0)
                placeOf[i] = place;
        }

        return placeCount == 0
            ? new TermOccurrences(starts, owners, frequencies, [], [])
            : GroupPositions(starts, owners, frequencies, placeOf);
    }

    private TermOccurrences GroupPositions(int[] starts, int[] owners, int[] frequencies, int[] placeOf)
    {
        var positionStarts = new int[OccurrenceCount + 1];
        for (int i = 0; i < OccurrenceCount; i++)
            positionStarts[i + 1] = positionStarts[i] + frequencies[i];
        var next = positionStarts.AsSpan(0, OccurrenceCount).ToArray();
        var positions = new int[placeCount];
        foreach (Place place in places.AsSpan(0, placeCount))
            positions[next[placeOf[place.Occurrence]]++] = place.Position;
        return new TermOccurrences(starts, owners, frequencies, positionStarts, positions);
    }

    /// <summary>Forgets everything and keeps moderate memory for the next batch.</summary>
    public void Clear()
    {
        arena.Clear(KeepBytes);
        if (buckets.Length > KeepBytes / sizeof(int))
            buckets = new int[64];
        Array.Clear(buckets);
        if (occurrences.Length > KeepBytes / 12)
            occurrences = new Occurrence[64];
        if (terms.Length > KeepBytes / 32)
            terms = new Term[32];
        if (places.Length > KeepBytes / 8)
            places = [];
        Count = 0;
        OccurrenceCount = 0;
        placeCount = 0;
    }

    private void Rehash()
    {
        buckets = new int[buckets.Length * 2];
        int mask = buckets.Length - 1;
        for (int i = 0; i < Count; i++)
        {
            int bucket = (int)terms[i].Hash & mask;
            while (buckets[bucket] != 0)
                bucket = (bucket + 1) & mask;
            buckets[bucket] = i + 1;
        }
    }

    /// <summary>The first eight bytes as a number that orders as they do.</summary>
    private static ulong HeadOf(ReadOnlySpan<byte> term)
    {
        if (term.Length >= 8)
            return BinaryPrimitives.ReadUInt64BigEndian(term);

        Span<byte> padded = stackalloc byte[8];
        padded.Clear();
        term.CopyTo(padded);
        return BinaryPrimitives.ReadUInt64BigEndian(padded);
    }

    /// <summary>Seeded by the process, so that no document can be written to make all its terms collide.</summary>
    private static uint Hash(ReadOnlySpan<byte> term)
    {
        var hash = new HashCode();
        hash.AddBytes(term);
        return (uint)hash.ToHashCode();
    }

    private readonly struct ByTerm(TermTable table) : IComparer<(ulong Head, int Ordinal)>
    {
        public int Compare((ulong Head, int Ordinal) x, (ulong Head, int Ordinal) y)
        {
            int order = x.Head.CompareTo(y.Head);
            return order != 0 || x.Ordinal == y.Ordinal ? order : table[x.Ordinal].SequenceCompareTo(table[y.Ordinal]);
        }
    }
}
