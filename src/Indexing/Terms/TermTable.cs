using System.Buffers.Binary;
using System.Security.Cryptography;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Maps;

namespace Treepie.Indexing.Terms;

/// <summary>
/// The different terms of a batch, each with an ordinal in order of appearance, and who has them. An occurrence costs one
/// probe of a hash table; only different terms are sorted.
/// </summary>
/// <remarks>
/// Owners (entries of the batch, or entries being removed) come in ascending order, one after the other. Where positions are
/// kept, every addition has one, ascending within an owner. All memory is kept for the next batch, until <see cref="Clear"/> is
/// told to keep less.
/// </remarks>
internal sealed class TermTable
{
    /// <summary>Bytes of a term that are beside it as a number.</summary>
    private const int HeadBytes = sizeof(ulong);

    private const int FirstBuckets = 64, FirstTerms = 32, FirstOccurrences = 64;

    /// <summary>Drawn by the process, so that no document can be written to make all its terms collide.</summary>
    private static readonly ulong s_seed = BinaryPrimitives.ReadUInt64LittleEndian(RandomNumberGenerator.GetBytes(sizeof(ulong)));

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
    /// The terms in order, one after the other, and where each ends: who goes through them in order waits for no memory.
    /// </summary>
    private readonly ByteArena inOrder = new();
    private int[] ends = [];

    /// <summary>Of how many terms, and occurrences, the order is known; -1: of none.</summary>
    private int sortedCount = -1, groupedCount = -1;
    private int placeCount;

    public TermTable() => byTerm = new ByTerm(this);

    /// <summary>A term by its hash: of those that meet in a bucket, only the one that is meant is looked at.</summary>
    private struct Bucket
    {
        public uint Hash;

        /// <summary>Ordinal plus one; 0: nothing is here.</summary>
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

    /// <summary>Different terms.</summary>
    public int Count { get; private set; }

    /// <summary>Pairs of term and owner.</summary>
    public int OccurrenceCount { get; private set; }

    public ReadOnlySpan<byte> this[int ordinal] => arena.Slice(terms[ordinal].Start, terms[ordinal].Length);

    /// <summary>A term by its place in the order, after <see cref="SortedOrdinals"/> and until the next change.</summary>
    public ReadOnlySpan<byte> InOrder(int place)
    {
        int start = place == 0 ? 0 : ends[place - 1];
        return inOrder.Slice(start, ends[place] - start);
    }

    /// <summary>Owners that have a term.</summary>
    public int OccurrencesOf(int ordinal) => terms[ordinal].OccurrenceCount;

    /// <summary>Notes that an owner has the term once more; true if it is the first time for this owner.</summary>
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

    /// <summary>As <see cref="Add(ReadOnlySpan{byte}, int, out int)"/>, at a position.</summary>
    /// <param name="term">The term.</param>
    /// <param name="hash">Its <see cref="Hash"/>.</param>
    /// <param name="owner">Who has it.</param>
    /// <param name="position">Where.</param>
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
    /// Adds what another table has behind what this one has, as if it had been added here one by one: its owners are numbered on
    /// from <paramref name="firstOwner"/>, behind all that are here.
    /// </summary>
    /// <param name="other">The other, which stays as it is.</param>
    /// <param name="firstOwner">What its owner 0 is here.</param>
    /// <param name="ordinals">By ordinal there: the ordinal here. At least as many as it has terms.</param>
    /// <param name="bytesBeside">What each term that both have counts in the answer beside its bytes.</param>
    /// <returns>Bytes of the terms that both have.</returns>
    public long Append(TermTable other, int firstOwner, Span<int> ordinals, int bytesBeside)
    {
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
    /// Takes what two tables have, of which one has keys of numbers, which become their texts. Both stay as they are.
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

    /// <summary>The hash by which a term is looked for.</summary>
    public static uint Hash(ReadOnlySpan<byte> term)
    {
        ulong hash = MapHash.Compute(term, s_seed);
        return (uint)(hash ^ (hash >> 32));
    }

    /// <summary>Asks for the memory in which a term of that hash is looked for first.</summary>
    public void Prefetch(uint hash) => PrefetchKernels.Prefetch(in buckets[hash & (uint)(buckets.Length - 1)]);

    /// <summary>Asks for what is known of a term of that hash, if there is one; after <see cref="Prefetch"/>.</summary>
    public void PrefetchTerm(uint hash)
    {
        Bucket bucket = buckets[hash & (uint)(buckets.Length - 1)];
        if (bucket.Number != 0)
            PrefetchKernels.Prefetch(in terms[bucket.Number - 1]);
    }

    /// <summary>The ordinal of a term, new or not.</summary>
    public int Intern(ReadOnlySpan<byte> term) => Intern(term, Hash(term), HeadOf(term));

    /// <summary>All ordinals in byte order of their terms. They live until the next change.</summary>
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
    /// Occurrences by term in the order of <see cref="SortedOrdinals"/>, owners ascending. They live until the next change.
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

    /// <summary>Forgets everything, and of its memory what is more than so many bytes in one piece.</summary>
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

    /// <summary>Room for so many; what is there stays.</summary>
    internal static void GrowTo<T>(ref T[] array, int length)
    {
        if (array.Length < length)
            Array.Resize(ref array, Math.Max(length, (int)Math.Min(Array.MaxLength, array.Length * 2L)));
    }

    private void Add(ref Term entry, Occurrence occurrence)
    {
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
        return Count - 1;
    }

    private bool IsTerm(in Term candidate, ReadOnlySpan<byte> term, ulong head) =>
        candidate.Head == head && candidate.Length == term.Length
            && (term.Length <= HeadBytes || arena.Slice(candidate.Start, candidate.Length).SequenceEqual(term));

    /// <summary>
    /// By the first bytes as a number first, which needs no look at the terms; then those that begin alike by all their bytes.
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

        foreach (ref readonly Place place in places.AsSpan(0, placeCount))
            positions[next[placeOf[place.Occurrence]]++] = place.Position;
    }

    private void Rehash()
    {
        buckets = new Bucket[buckets.Length * 2];
        int mask = buckets.Length - 1;
        for (int i = 0; i < Count; i++)
        {
            int bucket = (int)terms[i].Hash & mask;
            while (buckets[bucket].Number != 0)
                bucket = (bucket + 1) & mask;
            buckets[bucket] = new Bucket { Hash = terms[i].Hash, Number = i + 1 };
        }
    }

    /// <summary>The first eight bytes as a number that orders as they do.</summary>
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
