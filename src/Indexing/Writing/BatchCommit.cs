using System.Buffers;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Terms;
using Treepie.Indexing.Vectors;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Applies one batch in one write transaction. It does not change the batch, so storage may run it again from the start.
/// Every tree is traversed once, in order. Removed entries leave every list at once: counts, frequencies and results are
/// exact after each commit, and nothing needs to be merged later. Invariants:
/// 1. New ids ascend by place in the batch and are greater than all earlier ids.
/// 2. An entry has an id only if it is the last one of its key in the batch.
/// </summary>
internal sealed class BatchCommit
{
    private readonly WriteTransaction _transaction;
    private readonly IndexSchema _schema;
    private readonly IndexBatch _batch;
    private readonly CancellationToken _cancellationToken;
    private readonly Tree _index;
    private readonly IndexState _state;
    private readonly CommitMemory _memory;
    private readonly RemovalSet _removals;
    private readonly CompoundWriter _compounds;
    private bool _isBackfill;

    /// <summary>
    /// The id of the first entry if all entries of the batch have consecutive ids; otherwise -1.
    /// </summary>
    private long _firstId = -1;

    private BatchCommit(
        WriteTransaction transaction, IndexSchema schema, IndexBatch batch, CommitMemory memory,
        CancellationToken cancellationToken)
    {
        _transaction = transaction;
        _schema = schema;
        _batch = batch;
        _cancellationToken = cancellationToken;
        _index = transaction.GetOrCreateTree(TreeNames.Index);
        _state = IndexState.Read(_index);
        _memory = memory;
        _compounds = new CompoundWriter(transaction, CompoundRecord.Read(_index));
        _removals = memory.Removals;
        _removals.Clear();
    }

    /// <summary>Ids by place in the batch; -1 for an entry that a later one of the batch replaced.</summary>
    private Span<long> IdOf => _memory.Ids(_batch.Entries.Count);

    private EntryIds EntryIds => new(IdOf, _firstId);

    /// <summary>Applies a batch; returns the number of entries of the index afterwards.</summary>
    public static long Run(
        WriteTransaction transaction, IndexSchema schema, IndexBatch batch, long etag, CommitMemory memory,
        CancellationToken cancellationToken)
    {
        var commit = new BatchCommit(transaction, schema, batch, memory, cancellationToken);
        if (batch.Count > 0)
        {
            commit.AssignIds();
            commit.ApplyKeys();
            BatchErrors.Apply(transaction, batch);
            batch.Stored.Apply(transaction, commit.IdOf, commit._removals.Ids);
            commit.ApplyLists();
            foreach (int field in commit.ChangedFields())
                commit.ApplyField(field);
            commit.AppendEntries(); // after the fields: records refer to words by the numbers assigned there
            commit._compounds.Apply(commit.IdOf, cancellationToken); // last: keys are derived from entries and sort values
        }

        commit._state.Etag = etag;
        commit._state.Write(commit._index);
        return commit._state.EntryCount;
    }

    /// <summary>
    /// Adds the fields of the batch to existing entries that lack them, and records the progress. A key without an entry is
    /// skipped: its document will arrive as a change.
    /// </summary>
    public static void RunBackfill(
        WriteTransaction transaction, IndexSchema schema, IndexBatch batch, Backfill reached, CommitMemory memory,
        CancellationToken cancellationToken)
    {
        var commit = new BatchCommit(transaction, schema, batch, memory, cancellationToken);
        List<Backfill> groups = BackfillRecord.Read(commit._index);
        Debug.Assert(groups.Count > 0 && groups[0].FirstField == reached.FirstField, "groups are filled in order");
        if (batch.Count > 0)
        {
            commit._isBackfill = true;
            commit.FindIds();
            BatchErrors.Add(transaction, batch);
            commit.ApplyLists();
            foreach (int field in commit.ChangedFields())
                commit.ApplyField(field);
            commit.ExtendEntries();
        }

        groups[0] = reached;
        if (reached.Etag >= commit._state.Etag)
            groups.RemoveAt(0);
        BackfillRecord.Write(commit._index, groups);
        commit._state.Write(commit._index);
    }

    private void FindIds()
    {
        Debug.Assert(_isBackfill, "only a backfill adds to entries that have ids");
        var keys = new TermTree(_transaction.GetOrCreateTree(TreeNames.Keys));
        Span<long> idOf = IdOf;
        long last = -1;
        for (int i = 0; i < idOf.Length; i++)
        {
            int key = _batch.Entries[i].Key;
            bool isThere = keys.TryGet(_batch.Keys[key], out ReadOnlySpan<byte> id);
            idOf[i] = isThere && _batch.LastOfKey[key] == i ? EntryKey.Read(id) : -1;
            if (idOf[i] < 0)
                continue;
            if (idOf[i] <= last)
                throw new CorruptionException(
                    $"Entry {idOf[i]} of the index stands behind entry {last} in the documents' log. Reset the index to build it "
                        + $"again.");
            last = idOf[i];
        }
    }

    private void ExtendEntries()
    {
        Debug.Assert(_isBackfill, "only a backfill extends the records of entries");
        var entries = new EntryBlockWriter(_transaction.GetOrCreateTree(TreeNames.Entries));
        RecordEncoder records = _memory.Records;
        Span<long> idOf = IdOf;
        for (int i = 0; i < idOf.Length; i++)
        {
            if (idOf[i] < 0)
                continue;
            BatchEntry entry = _batch.Entries[i];
            records.Encode(_batch.Records.Slice(entry.RecordStart, entry.RecordLength));
            if (!records.Heads.IsEmpty)
                entries.Extend(idOf[i], records.Heads, records.Items);
        }

        entries.Flush();
    }

    private IEnumerable<int> ChangedFields() => _batch.UsedFields.Union(_removals.UsedFields).Order();

    /// <summary>Assigns ids, in order of appearance, to the entries that are not replaced within the batch.</summary>
    private void AssignIds()
    {
        Debug.Assert(!_isBackfill && _firstId < 0, "1: a batch assigns ids once");
        Span<long> idOf = IdOf;
        long first = _state.NextEntryId;
        for (int i = 0; i < idOf.Length; i++)
        {
            bool isLast = _batch.LastOfKey[_batch.Entries[i].Key] == i;
            idOf[i] = isLast ? _state.NextEntryId++ : -1;
            _state.EntryCount += isLast ? 1 : 0;
        }

        Debug.Assert(_state.NextEntryId - first <= idOf.Length, "1: an entry takes one id");
        if (_state.NextEntryId - first == idOf.Length)
            _firstId = first;
    }

    /// <summary>Sets the entry of each key to its new entry and collects the old ones for removal.</summary>
    private void ApplyKeys()
    {
        Debug.Assert(!_isBackfill, "a backfill leaves the keys as they are");
        TermTreeWriter keys = _memory.Keys;
        keys.Begin(_transaction.GetOrCreateTree(TreeNames.Keys));
        Span<long> idOf = IdOf;
        Span<byte> value = stackalloc byte[EntryKey.Bytes];
        ReadOnlySpan<int> order = _batch.Keys.SortedOrdinals();
        for (int i = 0; i < order.Length; i++)
        {
            int ordinal = order[i];
            ReadOnlySpan<byte> key = _batch.Keys.InOrder(i);
            bool existed = keys.TryGet(key, out ReadOnlySpan<byte> oldId);
            if (existed)
                _removals.Add(EntryKey.Read(oldId));
            int last = _batch.LastOfKey[ordinal];
            Debug.Assert(last < 0 || idOf[last] >= 0, "2: the last entry of a key has an id");
            if (last >= 0)
            {
                keys.Put(key, EntryKey.WriteValue(value, idOf[last]));
            }
            else if (existed)
            {
                keys.Delete(key);
            }
        }

        keys.Flush();
        _removals.Take(_transaction, _compounds, _cancellationToken);
        _state.EntryCount -= _removals.Ids.Length;
        Debug.Assert(_removals.Ids.IsEmpty || _removals.Ids[^1] < _state.NextEntryId, "1: removed entries had an id before");
    }

    private void AppendEntries()
    {
        Debug.Assert(!_isBackfill, "a backfill adds no entries");
        var entries = new EntryBlockWriter(_transaction.GetOrCreateTree(TreeNames.Entries));
        RecordEncoder records = _memory.Records;
        Span<long> idOf = IdOf;
        for (int i = 0; i < idOf.Length; i++)
        {
            BatchEntry entry = _batch.Entries[i];
            if (idOf[i] < 0)
                continue;
            ReadOnlySpan<byte> key = records.Encode(_batch.Records.Slice(entry.RecordStart, entry.RecordLength));
            entries.Append(idOf[i], key, records.Heads, records.Items);
        }

        entries.Flush();
    }

    private void ApplyLists()
    {
        using PostingWriter lists = OpenDictionary(TreeNames.Lists);
        Span<byte> key = stackalloc byte[ListKey.Bytes];
        if (!_isBackfill)
            lists.Apply(ListKey.Write(key, -1, ListKind.All), Run(NewEntries()), _removals.Ids);
        foreach (int field in ChangedFields())
        {
            BatchField? added = _batch.UsedFields.BinarySearch(field) >= 0 ? _batch.Field(field) : null;
            BatchField? removed = _removals.Field(field);
            Apply(lists, ListKey.Write(key, field, ListKind.Exists), added?.Exists, removed?.Exists);
            Apply(lists, ListKey.Write(key, field, ListKind.Null), added?.Nulls, removed?.Nulls);
        }

        lists.Finish();
    }

    private void Apply(PostingWriter lists, ReadOnlySpan<byte> key, List<int>? added, List<int>? removed)
    {
        ReadOnlySpan<Posting> additions = Additions(CollectionsMarshal.AsSpan(added));
        ReadOnlySpan<int> owners = CollectionsMarshal.AsSpan(removed);
        Span<long> taken = _memory.Gone(owners.Length);
        for (int i = 0; i < owners.Length; i++)
            taken[i] = _removals.Ids[owners[i]];
        if (additions.Length + taken.Length > 0)
            lists.Apply(key, Run(additions), taken);
    }

    private static PostingRun Run(ReadOnlySpan<Posting> postings) => new(postings, default, default);

    private ReadOnlySpan<Posting> NewEntries()
    {
        Debug.Assert(!_isBackfill, "a backfill adds no entries");
        Span<Posting> postings = _memory.Postings(_batch.Entries.Count);
        int count = 0;
        foreach (long id in IdOf)
            if (id >= 0)
                postings[count++] = new Posting(id, 1);
        return postings[..count];
    }

    private ReadOnlySpan<Posting> Additions(ReadOnlySpan<int> owners)
    {
        Span<Posting> postings = _memory.Postings(owners.Length);
        ReadOnlySpan<long> idOf = IdOf;
        int count = 0;
        foreach (int owner in owners)
            if (idOf[owner] >= 0)
                postings[count++] = new Posting(idOf[owner], 1);
        return postings[..count];
    }

    private void ApplyField(int field)
    {
        BatchField? added = _batch.UsedFields.BinarySearch(field) >= 0 ? _batch.Field(field) : null;
        BatchField? removed = _removals.Field(field);
        bool isFullText = _schema.Fields[field].Analysis == FieldAnalysis.FullText;
        var statistics = FieldStatistics.Read(_index, field);
        if (_schema.Fields[field].Analysis == FieldAnalysis.Spatial)
        {
            ApplyPlaces(field, added, removed, statistics);
        }
        else if (_schema.Fields[field].Analysis == FieldAnalysis.Vector)
        {
            ApplyVectors(field, added, removed);
        }
        else if (isFullText)
        {
            // Lengths first: impacts are computed from them.
            ApplyNorms(field, added, removed, statistics);
            using NormImpacts impacts = OpenImpacts(field, added, statistics);
            using PostingWriter terms = OpenDictionary(
                TreeNames.Terms(field), impacts, _transaction.GetOrCreateTree(TreeNames.Words(field)));
            Span<long> wordOf = added is null ? [] : ReserveWords(field, added.Terms);
            _memory.Merge.Run(terms, added?.Terms, EntryIds, removed?.Terms, _removals.Ids, wordOf, _cancellationToken);
        }
        else
        {
            ApplyTexts(field, added, removed);
            if (added?.Numbers.Count > 0 || removed?.Numbers.Count > 0)
            {
                using PostingWriter numbers = OpenDictionary(TreeNames.Numbers(field));
                _memory.Merge.Run(numbers, added?.Numbers, EntryIds, removed?.Numbers, _removals.Ids, [], _cancellationToken);
            }

            ApplySortValues(field, added, removed);
            statistics.EverHadSeveralValues |= added?.HasSeveralValues ?? false;
            statistics.EverHadTextValue |= added?.HasTextValue ?? false;
            statistics.AreNumbersExact &= added is not { IsInexact: true };
        }

        statistics.Write(_index, field);
    }

    /// <summary>
    /// Applies the texts of whole values. Texts of numbers are stored only if they are needed to have all texts in order,
    /// see <see cref="NumberTexts"/>: from the first text, or the first number without plain text, until the field is empty.
    /// </summary>
    private void ApplyTexts(int field, BatchField? added, BatchField? removed)
    {
        string name = TreeNames.Terms(field);
        bool areKept = _transaction.FindTree(name) is { } tree && TermTree.ReadCount(tree) > 0;
        if (!areKept && !NumberTexts.AreNeeded(added) && removed is not { Terms.Count: > 0 })
            return;

        if (!areKept && _transaction.FindTree(TreeNames.Numbers(field)) is { } numbers)
        {
            using PostingWriter all = OpenDictionary(name);
            _memory.NumberTexts.Copy(
                new TermTree(numbers), _transaction.GetOrCreateTree(TreeNames.Postings(TreeNames.Numbers(field))), all,
                _cancellationToken);
        }

        using PostingWriter terms = OpenDictionary(name);
        _memory.Merge.Run(
            terms, _memory.NumberTexts.Added(added), EntryIds, _memory.NumberTexts.Removed(removed), _removals.Ids, [],
            _cancellationToken);
        _memory.NumberTexts.Clear();
        LongTexts.Apply(_transaction, field, added, removed);
    }

    private void ApplyPlaces(int field, BatchField? added, BatchField? removed, FieldStatistics statistics)
    {
        var writer = new SpatialFieldWriter(_transaction, field);
        writer.Remove((removed?.Exists ?? []).Select(owner => _removals.Ids[owner]));
        var record = new ArrayBufferWriter<byte>();
        List<BatchField.Place> places = added?.Places ?? [];
        for (int first = 0, end; first < places.Count; first = end)
        {
            for (end = first + 1; end < places.Count && places[end].Owner == places[first].Owner;)
                end++;
            long id = IdOf[places[first].Owner];
            if (id < 0)
                continue;
            if (end == first + 1 && places[first].Shape is null)
            {
                writer.AddPoint(id, places[first].Point);
                continue;
            }

            record.ResetWrittenCount();
            for (int i = first; i < end; i++)
            {
                if (places[i].Shape is { } shape)
                    record.Write(shape);
                else
                    GeometryRecord.Write(places[i].Point, record);
            }

            writer.AddShapes(id, record.WrittenSpan);
            statistics.EverHadSeveralValues = true;
        }

        writer.Flush();
    }

    private void ApplyVectors(int field, BatchField? added, BatchField? removed)
    {
        var writer = new VectorFieldWriter(_transaction, field, _schema.Fields[field].Vector ?? new VectorFieldOptions());
        writer.Remove((removed?.Exists ?? []).Select(owner => _removals.Ids[owner]), _cancellationToken);
        List<(int Owner, float[] Numbers)> vectors = added?.Vectors ?? [];
        var ofEntry = new List<float[]>();
        for (int i = 0; i < vectors.Count; i++)
        {
            ofEntry.Add(vectors[i].Numbers);
            if (i + 1 < vectors.Count && vectors[i + 1].Owner == vectors[i].Owner)
                continue;
            if (IdOf[vectors[i].Owner] >= 0)
                writer.Add(IdOf[vectors[i].Owner], ofEntry, _cancellationToken);
            ofEntry.Clear();
        }

        writer.Flush();
    }

    private void ApplySortValues(int field, BatchField? added, BatchField? removed)
    {
        SortColumnWriter column = _memory.SortValues;
        column.Begin(_transaction, TreeNames.Sort(field), TreeNames.SortTexts(field), TreeNames.SortNumbers(field));
        foreach (int owner in removed?.Exists ?? [])
            column.Remove(_removals.Ids[owner]);
        ReadOnlySpan<long> idOf = IdOf;
        foreach (BatchField.SortValue value in added?.SortValues ?? [])
        {
            if (idOf[value.Owner] < 0)
                continue;
            if (value.Tag == SortTag.Number)
                column.SetNumber(idOf[value.Owner], added!.Numbers[value.Ordinal]); // its values are being enumerated
            else
                column.SetText(idOf[value.Owner], added!.Terms[value.Ordinal]); // its values are being enumerated
        }

        column.Flush();
    }

    private void ApplyNorms(int field, BatchField? added, BatchField? removed, FieldStatistics statistics)
    {
        NormColumnWriter column = _memory.Norms;
        column.Begin(_transaction.GetOrCreateTree(TreeNames.Norms(field)));
        foreach (int owner in removed?.Exists ?? [])
        {
            int length = column.Set(_removals.Ids[owner], 0);
            statistics.TotalTerms -= length;
            statistics.EntriesWithTerms -= length > 0 ? 1 : 0;
        }

        ReadOnlySpan<long> idOf = IdOf;
        foreach (BatchField.Length length in added?.Lengths ?? [])
        {
            if (idOf[length.Owner] < 0)
                continue;
            column.Set(idOf[length.Owner], length.Terms);
            statistics.TotalTerms += length.Terms;
            statistics.EntriesWithTerms++;
        }

        column.Flush();
    }

    private NormImpacts OpenImpacts(int field, BatchField? added, FieldStatistics statistics)
    {
        if (statistics.ReferenceLength == 0 && statistics.EntriesWithTerms > 0)
            statistics.ReferenceLength = (double)statistics.TotalTerms / statistics.EntriesWithTerms;

        if (_isBackfill)
            return new NormImpacts(
                _transaction.GetOrCreateTree(TreeNames.Norms(field)), statistics.ReferenceLength, long.MaxValue, [], []);

        // Entries of a batch have consecutive ids; those replaced within it have none.
        ReadOnlySpan<long> idOf = IdOf;
        int count = 0;
        foreach (long id in idOf)
            count += id >= 0 ? 1 : 0;
        long first = _state.NextEntryId - count;
        (int[] lengths, byte[] ofOne) = _memory.Lengths(count);
        foreach (BatchField.Length length in added?.Lengths ?? [])
        {
            if (idOf[length.Owner] is var id and >= 0)
                (lengths[id - first], ofOne[id - first]) =
                    (length.Terms, Bm25.Impact(1, length.Terms, statistics.ReferenceLength));
        }

        return new NormImpacts(
            _transaction.GetOrCreateTree(TreeNames.Norms(field)), statistics.ReferenceLength, first, lengths, ofOne);
    }

    /// <summary>
    /// Reserves a number for each word of the batch in case it is new. More frequent words get smaller numbers, because
    /// entry records contain the numbers of all their words. Reserved numbers that turn out not to be needed are never used.
    /// </summary>
    private Span<long> ReserveWords(int field, TermTable terms)
    {
        Span<long> next = _memory.NextWords();
        for (int i = 0; i < terms.Count; i++)
            next[CountClass(terms, i)]++;
        for (int i = next.Length - 1; i >= 0; i--)
            (next[i], _state.NextWord) = (_state.NextWord, _state.NextWord + next[i]);
        Span<long> numbers = _memory.Words(field, terms.Count);
        for (int i = 0; i < numbers.Length; i++)
            numbers[i] = next[CountClass(terms, i)]++;
        return numbers;
    }

    /// <summary>
    /// Number of entries of the batch with a word, limited, because the order among the most frequent words does not matter.
    /// </summary>
    private static int CountClass(TermTable terms, int word) =>
        Math.Min(terms.OccurrencesOf(word), CommitMemory.CountClasses - 1);

    private PostingWriter OpenDictionary(string name, IImpacts? impacts = null, Tree? names = null) => new(
        name,
        _transaction.GetOrCreateTree(name),
        _transaction.GetOrCreateTree(TreeNames.Postings(name)),
        impacts is null ? null : _transaction.GetOrCreateTree(TreeNames.Positions(name)),
        impacts is null ? null : _transaction.GetOrCreateTree(TreeNames.Impacts(name)),
        impacts,
        names,
        () => _state.NextListId++,
        _memory.Dictionaries);
}
