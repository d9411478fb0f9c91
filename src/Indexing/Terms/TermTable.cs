using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Maps;

namespace Treepie.Indexing.Terms;

/// <summary>
/// The distinct terms of a batch, each with an ordinal in order of first appearance, and their owners. An occurrence costs
/// one hash-table probe; only distinct terms are sorted. Invariants:
/// 1. Owners of occurrences never descend.
/// 2. A term has at most one occurrence for each owner.
/// 3. At most half of the buckets are used; their number is a power of 2.
/// 4. If positions are kept, an occurrence has as many as its frequency.
/// </summary>
/// <remarks>
/// Owners (entries of the batch, or entries being removed) arrive in ascending order. If positions are kept, every addition
/// has one, ascending within an owner. Memory is kept for the next batch, up to the limit given to <see cref="Clear"/>.
/// </remarks>
internal sealed class TermTable
{
    /// <summary>Leading bytes of a term that are kept as an integer beside it.</summary>
    private const int HeadBytes = sizeof(ulong);

    private const int FirstBuckets = 64, FirstTerms = 32, FirstOccurrences = 64;

    /// <summary>
    /// Derived from the seed that the runtime draws for each process, so that nobody can craft a document whose terms all
    /// collide.
    /// </summary>
    private readonly ulong _seed = (uint)HashCode.Combine(nameof(TermTable));

    private readonly ByteArena _arena = new();
    private readonly TermOccurrences _grouped = new();
    private readonly HeadSort _headSort = new();
    private readonly Comparison<int> _byTerm;
    private Bucket[] _buckets = new Bucket[FirstBuckets];
    private Term[] _terms = new Term[FirstTerms];
    private Occurrence[] _occurrences = new Occurrence[FirstOccurrences];
    private Place[] _places = [];
    private ulong[] _sortKeys = [];
    private int[] _sorted = [];

    /// <summary>
    /// The terms in sorted order and the end of each, so that enumerating them in order reads memory sequentially.
    /// </summary>
    private readonly ByteArena _inOrder = new();
    private int[] _ends = [];

    /// <summary>
    /// Number of terms sorted and of occurrences grouped; -1 if that has not been done since the last change.
    /// </summary>
    private int _sortedCount = -1, _groupedCount = -1;
    private int _placeCount;

    public TermTable() => _byTerm = (x, y) => this[x].SequenceCompareTo(this[y]);

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

    public ReadOnlySpan<byte> this[int ordinal] => _arena.Slice(_terms[ordinal].Start, _terms[ordinal].Length);

    /// <summary>A term by its place in sorted order; after <see cref="SortedOrdinals"/> and until the next change.</summary>
    public ReadOnlySpan<byte> InOrder(int place)
    {
        Debug.Assert(_sortedCount == Count, "terms are sorted and unchanged since");
        int start = place == 0 ? 0 : _ends[place - 1];
        return _inOrder.Slice(start, _ends[place] - start);
    }

    /// <summary>Number of owners of a term.</summary>
    public int OccurrencesOf(int ordinal) => _terms[ordinal].OccurrenceCount;

    /// <summary>Adds a term of an owner; true if it is the first occurrence of the term for that owner.</summary>
    public bool Add(ReadOnlySpan<byte> term, int owner, out int ordinal) => Add(term, Hash(term), owner, out ordinal);

    private bool Add(ReadOnlySpan<byte> term, uint hash, int owner, out int ordinal)
    {
        Debug.Assert(owner >= 0, "an owner is numbered");
        ordinal = Intern(term, hash, HeadOf(term));
        ref Term entry = ref _terms[ordinal];
        if (entry.OccurrenceCount > 0 && entry.LastOwner == owner)
        {
            _occurrences[entry.LastOccurrence].Frequency++;
            _groupedCount = -1;
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
        if (_placeCount == _places.Length)
            Array.Resize(ref _places, Math.Max(FirstOccurrences, _placeCount * 2));
        Debug.Assert(position >= 0, "a position is not negative");
        _places[_placeCount++] = new Place(_terms[ordinal].LastOccurrence, position);
        return isFirst;
    }

    /// <summary>
    /// Appends the content of another table as if it had been added to this one term by term. Its owners are renumbered from
    /// <paramref name="firstOwner"/>, which must be greater than all owners here.
    /// </summary>
    /// <param name="other">The other table, which does not change.</param>
    /// <param name="firstOwner">The owner here that corresponds to owner 0 there.</param>
    /// <param name="ordinals">Receives the ordinal here for each ordinal there. Must have at least as many elements as the
    /// other table has terms.</param>
    /// <param name="bytesBeside">Overhead in bytes to count for each term that both tables have.</param>
    /// <returns>Bytes of the terms that both tables have, with the overhead.</returns>
    public long Append(TermTable other, int firstOwner, Span<int> ordinals, int bytesBeside)
    {
        Debug.Assert(ordinals.Length >= other.Count, "each term there gets an ordinal here");
        long known = 0;
        for (int i = 0; i < other.Count; i++)
        {
            int before = Count;
            ref readonly Term term = ref other._terms[i];
            ordinals[i] = Intern(other._arena.Slice(term.Start, term.Length), term.Hash, term.Head);
            if (Count == before)
                known += term.Length + bytesBeside;
        }

        Debug.Assert(other != this, "a table is not appended to itself");
        int firstOccurrence = OccurrenceCount;
        GrowTo(ref _occurrences, OccurrenceCount + other.OccurrenceCount);
        foreach (ref readonly Occurrence occurrence in other._occurrences.AsSpan(0, other.OccurrenceCount))
        {
            int ordinal = ordinals[occurrence.Term];
            Add(
                ref _terms[ordinal],
                new Occurrence { Term = ordinal, Owner = firstOwner + occurrence.Owner, Frequency = occurrence.Frequency });
        }

        GrowTo(ref _places, _placeCount + other._placeCount);
        foreach (ref readonly Place place in other._places.AsSpan(0, other._placeCount))
            _places[_placeCount++] = new Place(firstOccurrence + place.Occurrence, place.Position);
        return known;
    }

    /// <summary>
    /// Adds the content of two tables, one of texts and one of number keys, which are converted to texts. Neither table
    /// changes.
    /// </summary>
    public void Unite(TermTable texts, TermTable numbers)
    {
        Span<byte> room = stackalloc byte[NumberKey.MaxTextBytes];
        for (int t = 0, n = 0; t < texts.OccurrenceCount || n < numbers.OccurrenceCount;)
        {
            bool isText = n == numbers.OccurrenceCount
                || (t < texts.OccurrenceCount && texts._occurrences[t].Owner <= numbers._occurrences[n].Owner);
            Occurrence next = isText ? texts._occurrences[t++] : numbers._occurrences[n++];
            ReadOnlySpan<byte> text = isText ? texts[next.Term] : room[..NumberKey.Format(numbers[next.Term], room)];
            for (int i = 0; i < next.Frequency; i++)
                Add(text, next.Owner, out _);
        }
    }

    /// <summary>The hash of a term in this process, the same in every table.</summary>
    public uint Hash(ReadOnlySpan<byte> term)
    {
        ulong hash = MapHash.Compute(term, _seed);
        return (uint)(hash ^ (hash >> 32));
    }

    /// <summary>Prefetches the first bucket of a hash.</summary>
    public void Prefetch(uint hash) => PrefetchKernels.Prefetch(in _buckets[hash & (uint)(_buckets.Length - 1)]);

    /// <summary>
    /// Prefetches the term in the first bucket of a hash, if there is one. Call it some time after <see cref="Prefetch"/>.
    /// </summary>
    public void PrefetchTerm(uint hash)
    {
        Bucket bucket = _buckets[hash & (uint)(_buckets.Length - 1)];
        if (bucket.Number != 0)
            PrefetchKernels.Prefetch(in _terms[bucket.Number - 1]);
    }

    /// <summary>Returns the ordinal of a term; a new term is added.</summary>
    public int Intern(ReadOnlySpan<byte> term) => Intern(term, Hash(term), HeadOf(term));

    /// <summary>Returns all ordinals in byte order of their terms; valid until the next change.</summary>
    public ReadOnlySpan<int> SortedOrdinals()
    {
        if (_sortedCount != Count)
        {
            Sort();
            _sortedCount = Count;
        }

        return _sorted.AsSpan(0, Count);
    }

    /// <summary>
    /// Returns the occurrences by term in the order of <see cref="SortedOrdinals"/>, with ascending owners; valid until the
    /// next change.
    /// </summary>
    public TermOccurrences GroupByTerm()
    {
        if (_groupedCount != OccurrenceCount)
        {
            Group();
            _groupedCount = OccurrenceCount;
        }

        return _grouped;
    }

    /// <summary>Removes everything and releases arrays larger than <paramref name="keepBytes"/>.</summary>
    public void Clear(int keepBytes)
    {
        _arena.Clear(keepBytes);
        if (_buckets.Length > Math.Max(FirstBuckets, keepBytes / 8))
            _buckets = new Bucket[FirstBuckets];
        else
            Array.Clear(_buckets);
        if (_occurrences.Length > Math.Max(FirstOccurrences, keepBytes / 12))
            _occurrences = new Occurrence[FirstOccurrences];
        if (_terms.Length > Math.Max(FirstTerms, keepBytes / 32))
            _terms = new Term[FirstTerms];
        if (_places.Length > keepBytes / 8)
            _places = [];
        if (_sortKeys.Length > keepBytes / 8)
            (_sortKeys, _sorted, _ends) = ([], [], []);
        _inOrder.Clear(keepBytes);
        _headSort.Trim(keepBytes);
        _grouped.Trim(keepBytes);
        Count = 0;
        OccurrenceCount = 0;
        _placeCount = 0;
        _sortedCount = _groupedCount = -1;
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
            OccurrenceCount == 0 || _occurrences[OccurrenceCount - 1].Owner <= occurrence.Owner, "1: owners never descend");
        Debug.Assert(entry.OccurrenceCount == 0 || entry.LastOwner < occurrence.Owner, "2: one occurrence per term and owner");
        if (OccurrenceCount == _occurrences.Length)
            Array.Resize(ref _occurrences, _occurrences.Length * 2);
        _occurrences[OccurrenceCount] = occurrence;
        entry.LastOccurrence = OccurrenceCount++;
        entry.LastOwner = occurrence.Owner;
        entry.OccurrenceCount++;
    }

    private int Intern(ReadOnlySpan<byte> term, uint hash, ulong head)
    {
        Debug.Assert(BitOperations.IsPow2(_buckets.Length) && Count <= _terms.Length, "3: buckets are a power of 2");
        int mask = _buckets.Length - 1;
        int bucket = (int)hash & mask;
        for (Bucket found = _buckets[bucket]; found.Number != 0; found = _buckets[bucket])
        {
            if (found.Hash == hash && IsTerm(in _terms[found.Number - 1], term, head))
                return found.Number - 1;
            bucket = (bucket + 1) & mask;
        }

        if (Count == _terms.Length)
            Array.Resize(ref _terms, _terms.Length * 2);
        _terms[Count] = new Term { Head = head, Start = _arena.Add(term), Length = term.Length, Hash = hash };
        _buckets[bucket] = new Bucket { Hash = hash, Number = ++Count };
        if (Count * 2L > _buckets.Length)
            Rehash();
        Debug.Assert(Count * 2L <= _buckets.Length, "3: half of the buckets are free");
        return Count - 1;
    }

    private bool IsTerm(in Term candidate, ReadOnlySpan<byte> term, ulong head) =>
        candidate.Head == head && candidate.Length == term.Length
            && (term.Length <= HeadBytes || _arena.Slice(candidate.Start, candidate.Length).SequenceEqual(term));

    /// <summary>
    /// Sorts by the heads first, without reading the terms, and then sorts terms with equal heads by all their bytes.
    /// </summary>
    private void Sort()
    {
        GrowTo(ref _sortKeys, Count);
        GrowTo(ref _sorted, Count);
        Span<ulong> heads = _sortKeys.AsSpan(0, Count);
        Span<int> ordinals = _sorted.AsSpan(0, Count);
        for (int i = 0; i < Count; i++)
            (heads[i], ordinals[i]) = (_terms[i].Head, i);
        _headSort.Sort(heads, ordinals);
        for (int first = 0, end; first < Count; first = end)
        {
            for (end = first + 1; end < Count && heads[end] == heads[first];)
                end++;
            if (end - first > 1)
                ordinals[first..end].Sort(_byTerm);
        }

        _inOrder.Clear(int.MaxValue);
        GrowTo(ref _ends, Count);
        for (int i = 0; i < ordinals.Length; i++)
        {
            _inOrder.Add(this[ordinals[i]]);
            _ends[i] = _inOrder.Length;
        }
    }

    private void Group()
    {
        ReadOnlySpan<int> order = SortedOrdinals();
        _grouped.Begin(Count, OccurrenceCount, _placeCount);
        Span<int> starts = _grouped.Starts,
            next = _grouped.Next,
            owners = _grouped.Owners,
            frequencies = _grouped.Frequencies,
            placeOf = _grouped.PlaceOf;
        starts[0] = 0;
        for (int i = 0; i < order.Length; i++)
        {
            next[order[i]] = starts[i];
            starts[i + 1] = starts[i] + _terms[order[i]].OccurrenceCount;
        }

        Debug.Assert(starts[order.Length] == OccurrenceCount, "each occurrence is counted at its term");
        for (int i = 0; i < OccurrenceCount; i++)
        {
            ref readonly Occurrence occurrence = ref _occurrences[i];
            int place = next[occurrence.Term]++;
            owners[place] = occurrence.Owner;
            frequencies[place] = occurrence.Frequency;
            if (_placeCount > 0)
                placeOf[i] = place;
        }

        if (_placeCount > 0)
            GroupPositions();
    }

    private void GroupPositions()
    {
        Span<int> starts = _grouped.PositionStarts,
            next = _grouped.Next,
            frequencies = _grouped.Frequencies,
            placeOf = _grouped.PlaceOf,
            positions = _grouped.Positions;
        starts[0] = 0;
        for (int i = 0; i < OccurrenceCount; i++)
        {
            next[i] = starts[i];
            starts[i + 1] = starts[i] + frequencies[i];
        }

        Debug.Assert(starts[OccurrenceCount] == _placeCount, "4: an occurrence has as many positions as its frequency");
        foreach (ref readonly Place place in _places.AsSpan(0, _placeCount))
            positions[next[placeOf[place.Occurrence]]++] = place.Position;
    }

    private void Rehash()
    {
        _buckets = new Bucket[_buckets.Length * 2];
        Debug.Assert(BitOperations.IsPow2(_buckets.Length), "3: the number of buckets is a power of 2");
        int mask = _buckets.Length - 1;
        for (int i = 0; i < Count; i++)
        {
            int bucket = (int)_terms[i].Hash & mask;
            while (_buckets[bucket].Number != 0)
                bucket = (bucket + 1) & mask;
            _buckets[bucket] = new Bucket { Hash = _terms[i].Hash, Number = i + 1 };
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
}
