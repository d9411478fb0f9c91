using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Maps;

namespace Treepie.Indexing.Terms;

/// <summary>
/// The distinct terms of a batch, each with an ordinal in order of appearance, and their owners. An occurrence costs one
/// hash-table probe; only distinct terms are sorted. Invariants:
/// 1. Owners of occurrences never descend.
/// 2. A term has at most one occurrence for each owner.
/// 3. At most half of the buckets are used; their number is a power of 2.
/// 4. Where positions are kept, an occurrence has as many as its frequency.
/// </summary>
/// <remarks>
/// Owners (entries of the batch, or entries being removed) arrive in ascending order. Where positions are kept, every addition
/// has one, ascending within an owner. Memory is kept for the next batch, up to the limit given to <see cref="Clear"/>.
/// </remarks>
internal sealed class TermTable
{
    /// <summary>Leading bytes of a term that are kept as an integer beside it.</summary>
    private const int HeadBytes = sizeof(ulong);

    private const int FirstBuckets = 64, FirstTerms = 32, FirstOccurrences = 64;

    /// <summary>
    /// From the seed that the runtime draws for each process, so that nobody can craft a document whose terms all collide.
    /// </summary>
    private readonly ulong seed = (uint)HashCode.Combine(nameof(TermTable));

    private readonly ByteArena arena = new();
    private readonly TermOccurrences grouped = new();
    private readonly HeadSort headSort = new();
    private readonly IComparer<int> byTerm;
    private Bucket[] buckets = new Bucket[FirstBuckets];
    private Term[] terms = new Term[FirstTerms];
    private Occurrence[] occurrences = new Occurrence[FirstOccurrences];
    private Place[] places = [];
    private ulong[] sortKeys = [];
    private int[] sorted = [];

    /// <summary>
    /// The terms in sorted order and where each ends, so that enumerating them in order reads memory sequentially.
    /// </summary>
    private readonly ByteArena inOrder = new();
    private int[] ends = [];

    /// <summary>Number of terms sorted, and of occurrences grouped; -1 if none.</summary>
    private int sortedCount = -1, groupedCount = -1;
    private int placeCount;

    public TermTable() => byTerm = new ByTerm(this);

    /// <summary>A term by its hash; comparing hashes first avoids reading other terms of the same bucket.</summary>
    private struct Bucket
    {
        public uint Hash;

        /// <summary>Ordinal plus one; 0 if the bucket is free.</summary>
        public int Number;
    }

    private struct Term
    {
        public ulong Head;
        public int Start;
        public int Length;
        public uint Hash;
        public int LastOccurrence;
        public int LastOwner;
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

    /// <summary>Number of distinct terms.</summary>
    public int Count { get; private set; }

    /// <summary>Number of pairs of term and owner.</summary>
    public int OccurrenceCount { get; private set; }

    public ReadOnlySpan<byte> this[int ordinal] => arena.Slice(terms[ordinal].Start, terms[ordinal].Length);

    /// <summary>A term by its place in sorted order; after <see cref="SortedOrdinals"/> and until the next change.</summary>
    public ReadOnlySpan<byte> InOrder(int place)
    {
        Debug.Assert(sortedCount == Count, "terms are sorted and unchanged since");
        int start = place == 0 ? 0 : ends[place - 1];
        return inOrder.Slice(start, ends[place] - start);
    }

    /// <summary>Number of owners of a term.</summary>
    public int OccurrencesOf(int ordinal) => terms[ordinal].OccurrenceCount;

    /// <summary>Adds a term of an owner; true if it is the owner's first occurrence of the term.</summary>
    public bool Add(ReadOnlySpan<byte> term, int owner, out int ordinal) => Add(term, Hash(term), owner, out ordinal);

    private bool Add(ReadOnlySpan<byte> term, uint hash, int owner, out int ordinal)
    {
        ordinal = Intern(term, hash, HeadOf(term));
        ref Term entry = ref terms[ordinal];
        if (entry.OccurrenceCount > 0 && entry.LastOwner == owner)
        {
            occurrences[entry.LastOccurrence].Frequency++;
            groupedCount = -1;
            return false;
        }

        Add(ref entry, new Occurrence { Term = ordinal, Owner = owner, Frequency = 1 });
        return true;
    }

    /// <summary>Like <see cref="Add(ReadOnlySpan{byte}, int, out int)"/>, with a position.</summary>
    /// <param name="term">The term.</param>
    /// <param name="hash">Its <see cref="Hash"/>.</param>
    /// <param name="owner">Its owner.</param>
    /// <param name="position">Its position.</param>
    /// <param name="ordinal">Its ordinal.</param>
    public bool Add(ReadOnlySpan<byte> term, uint hash, int owner, int position, out int ordinal)
    {
        bool isFirst = Add(term, hash, owner, out ordinal);
        if (placeCount == places.Length)
            Array.Resize(ref places, Math.Max(FirstOccurrences, placeCount * 2));
        places[placeCount++] = new Place(terms[ordinal].LastOccurrence, position);
        return isFirst;
    }

    /// <summary>
    /// Appends the content of another table as if it had been added here one by one. Its owners are renumbered from
    /// <paramref name="firstOwner"/>, which is after all owners here.
    /// </summary>
    /// <param name="other">The other table, which does not change.</param>
    /// <param name="firstOwner">Number here of its owner 0.</param>
    /// <param name="ordinals">Receives the ordinal here for each ordinal there. At least as long as it has terms.</param>
    /// <param name="bytesBeside">Overhead in bytes to count for each shared term.</param>
    /// <returns>Bytes of the terms that both tables have, with the overhead.</returns>
    public long Append(TermTable other, int firstOwner, Span<int> ordinals, int bytesBeside)
    {
        Debug.Assert(ordinals.Length >= other.Count, "each term there gets an ordinal here");
        long known = 0;
        for (int i = 0; i < other.Count; i++)
        {
            int before = Count;
            ref readonly Term term = ref other.terms[i];
            ordinals[i] = Intern(other.arena.Slice(term.Start, term.Length), term.Hash, term.Head);
            if (Count == before)
                known += term.Length + bytesBeside;
        }

        int firstOccurrence = OccurrenceCount;
        GrowTo(ref occurrences, OccurrenceCount + other.OccurrenceCount);
        foreach (ref readonly Occurrence occurrence in other.occurrences.AsSpan(0, other.OccurrenceCount))
        {
            int ordinal = ordinals[occurrence.Term];
            Add(
                ref terms[ordinal],
                new Occurrence { Term = ordinal, Owner = firstOwner + occurrence.Owner, Frequency = occurrence.Frequency });
        }

        GrowTo(ref places, placeCount + other.placeCount);
        foreach (ref readonly Place place in other.places.AsSpan(0, other.placeCount))
            places[placeCount++] = new Place(firstOccurrence + place.Occurrence, place.Position);
        return known;
    }

    /// <summary>
    /// Adds the content of two tables, one of texts and one of number keys, which become texts. Neither table changes.
    /// </summary>
    public void Unite(TermTable texts, TermTable numbers)
    {
        Span<byte> room = stackalloc byte[NumberKey.MaxTextBytes];
        for (int t = 0, n = 0; t < texts.OccurrenceCount || n < numbers.OccurrenceCount;)
        {
            bool isText = n == numbers.OccurrenceCount
                || (t < texts.OccurrenceCount && texts.occurrences[t].Owner <= numbers.occurrences[n].Owner);
            Occurrence next = isText ? texts.occurrences[t++] : numbers.occurrences[n++];
            ReadOnlySpan<byte> text = isText ? texts[next.Term] : room[..NumberKey.Format(numbers[next.Term], room)];
            for (int i = 0; i < next.Frequency; i++)
                Add(text, next.Owner, out _);
        }
    }

    /// <summary>The hash of a term in this process, the same in every table.</summary>
    public uint Hash(ReadOnlySpan<byte> term)
    {
        ulong hash = MapHash.Compute(term, seed);
        return (uint)(hash ^ (hash >> 32));
    }

    /// <summary>Prefetches the first bucket of a hash.</summary>
    public void Prefetch(uint hash) => PrefetchKernels.Prefetch(in buckets[hash & (uint)(buckets.Length - 1)]);

    /// <summary>Prefetches the term in the first bucket of a hash, if any; after <see cref="Prefetch"/>.</summary>
    public void PrefetchTerm(uint hash)
    {
        Bucket bucket = buckets[hash & (uint)(buckets.Length - 1)];
        if (bucket.Number != 0)
            PrefetchKernels.Prefetch(in terms[bucket.Number - 1]);
    }

    /// <summary>The ordinal of a term, which is added if new.</summary>
    public int Intern(ReadOnlySpan<byte> term) => Intern(term, Hash(term), HeadOf(term));

    /// <summary>All ordinals in byte order of their terms; valid until the next change.</summary>
    public ReadOnlySpan<int> SortedOrdinals()
    {
        if (sortedCount != Count)
        {
            Sort();
            sortedCount = Count;
        }

        return sorted.AsSpan(0, Count);
    }

    /// <summary>
    /// Occurrences by term in the order of <see cref="SortedOrdinals"/>, owners ascending; valid until the next change.
    /// </summary>
    public TermOccurrences GroupByTerm()
    {
        if (groupedCount != OccurrenceCount)
        {
            Group();
            groupedCount = OccurrenceCount;
        }

        return grouped;
    }

    /// <summary>Removes everything and releases arrays larger than <paramref name="keepBytes"/>.</summary>
    public void Clear(int keepBytes)
    {
        arena.Clear(keepBytes);
        if (buckets.Length > Math.Max(FirstBuckets, keepBytes / 8))
            buckets = new Bucket[FirstBuckets];
        else
            Array.Clear(buckets);
        if (occurrences.Length > Math.Max(FirstOccurrences, keepBytes / 12))
            occurrences = new Occurrence[FirstOccurrences];
        if (terms.Length > Math.Max(FirstTerms, keepBytes / 32))
            terms = new Term[FirstTerms];
        if (places.Length > keepBytes / 8)
            places = [];
        if (sortKeys.Length > keepBytes / 8)
            (sortKeys, sorted, ends) = ([], [], []);
        inOrder.Clear(keepBytes);
        headSort.Trim(keepBytes);
        grouped.Trim(keepBytes);
        Count = 0;
        OccurrenceCount = 0;
        placeCount = 0;
        sortedCount = groupedCount = -1;
    }

    /// <summary>Grows an array to at least a length; keeps its content.</summary>
    internal static void GrowTo<T>(ref T[] array, int length)
    {
        if (array.Length < length)
            Array.Resize(ref array, Math.Max(length, (int)Math.Min(Array.MaxLength, array.Length * 2L)));
    }

    private void Add(ref Term entry, Occurrence occurrence)
    {
        Debug.Assert(
            OccurrenceCount == 0 || occurrences[OccurrenceCount - 1].Owner <= occurrence.Owner, "1: owners never descend");
        Debug.Assert(entry.OccurrenceCount == 0 || entry.LastOwner < occurrence.Owner, "2: one occurrence per term and owner");
        if (OccurrenceCount == occurrences.Length)
            Array.Resize(ref occurrences, occurrences.Length * 2);
        occurrences[OccurrenceCount] = occurrence;
        entry.LastOccurrence = OccurrenceCount++;
        entry.LastOwner = occurrence.Owner;
        entry.OccurrenceCount++;
    }

    private int Intern(ReadOnlySpan<byte> term, uint hash, ulong head)
    {
        int mask = buckets.Length - 1;
        int bucket = (int)hash & mask;
        for (Bucket found = buckets[bucket]; found.Number != 0; found = buckets[bucket])
        {
            if (found.Hash == hash && IsTerm(in terms[found.Number - 1], term, head))
                return found.Number - 1;
            bucket = (bucket + 1) & mask;
        }

        if (Count == terms.Length)
            Array.Resize(ref terms, terms.Length * 2);
        terms[Count] = new Term { Head = head, Start = arena.Add(term), Length = term.Length, Hash = hash };
        buckets[bucket] = new Bucket { Hash = hash, Number = ++Count };
        if (Count * 2L > buckets.Length)
            Rehash();
        Debug.Assert(Count * 2L <= buckets.Length, "3: half of the buckets are free");
        return Count - 1;
    }

    private bool IsTerm(in Term candidate, ReadOnlySpan<byte> term, ulong head) =>
        candidate.Head == head && candidate.Length == term.Length
            && (term.Length <= HeadBytes || arena.Slice(candidate.Start, candidate.Length).SequenceEqual(term));

    /// <summary>
    /// Sorts by the heads first, without reading the terms, and then terms with equal heads by all their bytes.
    /// </summary>
    private void Sort()
    {
        GrowTo(ref sortKeys, Count);
        GrowTo(ref sorted, Count);
        Span<ulong> heads = sortKeys.AsSpan(0, Count);
        Span<int> ordinals = sorted.AsSpan(0, Count);
        for (int i = 0; i < Count; i++)
            (heads[i], ordinals[i]) = (terms[i].Head, i);
        headSort.Sort(heads, ordinals);
        for (int first = 0, end; first < Count; first = end)
        {
            for (end = first + 1; end < Count && heads[end] == heads[first];)
                end++;
            if (end - first > 1)
                ordinals[first..end].Sort(byTerm);
        }

        inOrder.Clear(int.MaxValue);
        GrowTo(ref ends, Count);
        for (int i = 0; i < ordinals.Length; i++)
        {
            inOrder.Add(this[ordinals[i]]);
            ends[i] = inOrder.Length;
        }
    }

    private void Group()
    {
        ReadOnlySpan<int> order = SortedOrdinals();
        grouped.Begin(Count, OccurrenceCount, placeCount);
        Span<int> starts = grouped.Starts,
            next = grouped.Next,
            owners = grouped.Owners,
            frequencies = grouped.Frequencies,
            placeOf = grouped.PlaceOf;
        starts[0] = 0;
        for (int i = 0; i < order.Length; i++)
        {
            next[order[i]] = starts[i];
            starts[i + 1] = starts[i] + terms[order[i]].OccurrenceCount;
        }

        Debug.Assert(starts[order.Length] == OccurrenceCount, "each occurrence is counted at its term");
        for (int i = 0; i < OccurrenceCount; i++)
        {
            ref readonly Occurrence occurrence = ref occurrences[i];
            int place = next[occurrence.Term]++;
            owners[place] = occurrence.Owner;
            frequencies[place] = occurrence.Frequency;
            if (placeCount > 0)
                placeOf[i] = place;
        }

        if (placeCount > 0)
            GroupPositions();
    }

    private void GroupPositions()
    {
        Span<int> starts = grouped.PositionStarts,
            next = grouped.Next,
            frequencies = grouped.Frequencies,
            placeOf = grouped.PlaceOf,
            positions = grouped.Positions;
        starts[0] = 0;
        for (int i = 0; i < OccurrenceCount; i++)
        {
            next[i] = starts[i];
            starts[i + 1] = starts[i] + frequencies[i];
        }

        Debug.Assert(starts[OccurrenceCount] == placeCount, "4: an occurrence has as many positions as its frequency");
        foreach (ref readonly Place place in places.AsSpan(0, placeCount))
            positions[next[placeOf[place.Occurrence]]++] = place.Position;
    }

    private void Rehash()
    {
        buckets = new Bucket[buckets.Length * 2];
        Debug.Assert(BitOperations.IsPow2(buckets.Length), "3: the number of buckets is a power of 2");
        int mask = buckets.Length - 1;
        for (int i = 0; i < Count; i++)
        {
            int bucket = (int)terms[i].Hash & mask;
            while (buckets[bucket].Number != 0)
                bucket = (bucket + 1) & mask;
            buckets[bucket] = new Bucket { Hash = terms[i].Hash, Number = i + 1 };
        }
    }

    /// <summary>The first eight bytes as an integer with the same order.</summary>
    private static ulong HeadOf(ReadOnlySpan<byte> term)
    {
        if (term.Length >= HeadBytes)
            return BinaryPrimitives.ReadUInt64BigEndian(term);

        ulong head = 0;
        for (int i = 0; i < term.Length; i++)
            head |= (ulong)term[i] << (56 - (8 * i));
        return head;
    }

    private sealed class ByTerm(TermTable table) : IComparer<int>
    {
        public int Compare(int x, int y) => table[x].SequenceCompareTo(table[y]);
    }
}
