using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching.Views;

/// <summary>
/// An index in one state: its statistics and trees, each looked up on first use. One thread at a time. Apart from speed,
/// nothing depends on earlier queries, so a view is kept for the next reader of the same state; see <see cref="KeptViews"/>.
/// </summary>
internal sealed class IndexView
{
    /// <summary>Number of bits, a power of 2, that remember which lists were announced.</summary>
    private const int AnnouncedLists = 32 * 1024;

    /// <summary>Number of queries for which pages are announced ahead.</summary>
    private const int QueriesAhead = 16;

    private readonly PageVisits _visits = new();
    private readonly Dictionary<string, Tree?> _trees = new(StringComparer.Ordinal);
    private readonly Dictionary<string, DictionaryTrees> _dictionaries = new(StringComparer.Ordinal);
    private readonly List<ChunkPlaces?> _norms = [];
    private FieldStatistics?[] _statistics = [];
    private bool?[] _hasEntries = [];
    private bool?[] _hasValueAlways = [];
    private ReadTransaction _transaction;
    private FieldAnalyzers? _analyzers;
    private EntryReader? _entries;
    private Cursor? _stored;
    private readonly List<QueryScratch> _running = [];
    private QueryScratch? _scratch;
    private readonly ulong[] _announced = new ulong[AnnouncedLists >> 6];
    private readonly IndexSchema? _known;
    private IndexState? _state;
    private IndexSchema? _schema;
    private int _queriesAhead = QueriesAhead;
    private long _visitsOnce;
    private int _completeFields = -1;
    private long? _allEntries;
    private List<CompoundRecord>? _compounds;
    private readonly Cursor?[] _compoundCursors = new Cursor?[IndexWriter.MaxCompounds];

    private IndexView(ReadTransaction transaction, AnalyzerSet analyzerSet, IndexSchema? known)
    {
        _transaction = transaction;
        _known = known;
        AnalyzerSet = analyzerSet;
        if (known is null)
            Read();
    }

    /// <summary>The analyzers available to the fields.</summary>
    public AnalyzerSet AnalyzerSet { get; }

    /// <summary>The fields. Read with the state on first use if the view was opened with known fields.</summary>
    public IndexSchema Schema
    {
        get
        {
            if (_schema is null)
                Read();
            return _schema!; // read above
        }
    }

    /// <summary>
    /// Returns the actual fields, or the expected ones if they have not been read yet, for announcing pages; see
    /// <c>QueryAhead</c>. Null if announcing is pointless: the fields are unknown, or enough queries have run that
    /// pages are likely to be in memory.
    /// </summary>
    public IndexSchema? TakeExpected() => _queriesAhead > 0 && _queriesAhead-- > 0 ? _schema ?? _known : null;

    /// <summary>The analyzers of actual or expected fields.</summary>
    /// <exception cref="IndexSchemaException">A field names an analyzer that this searcher was not given.</exception>
    public FieldAnalyzers AnalyzersOf(IndexSchema expected) =>
        ReferenceEquals(expected, _schema) ? Analyzers : new FieldAnalyzers(expected, AnalyzerSet);

    /// <summary>Reads the records of the entries.</summary>
    public EntryReader Entries => _entries ??= new EntryReader(Tree);

    /// <summary>Gets what is stored with an entry; false if nothing is.</summary>
    public bool TryGetStored(long id, out ReadOnlySpan<byte> record)
    {
        record = default;
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, id);
        _stored ??= Tree(TreeNames.Stored)?.OpenCursor();
        return _stored is not null && _stored.TryMoveTo(key, out record);
    }

    /// <summary>
    /// Pages visited so far, see <see cref="ReadTransaction.PageVisits"/>. Excludes pages read once and cached, so that
    /// every query on a view reports the same count.
    /// </summary>
    public long PageVisits => _visits.Count - _visitsOnce;

    public IndexState State
    {
        get
        {
            if (_state is null)
                Read();
            return _state!; // read above
        }
    }

    /// <summary>
    /// Number of leading fields that are complete: fields before the first one that is still being backfilled.
    /// </summary>
    public int CompleteFields
    {
        get
        {
            if (_completeFields < 0)
            {
                int fields = Schema.Fields.Count;
                long before = _visits.Count;
                List<Backfill> pending = BackfillRecord.Read(Tree(TreeNames.Index));
                _completeFields = pending.Count == 0 ? fields : pending[0].FirstField;
                _visitsOnce += _visits.Count - before;
            }

            return _completeFields;
        }
    }

    /// <summary>Number of windows from the first entry to the last ever added.</summary>
    public long WindowCount => (State.NextEntryId + PostingWindow.Size - 1) >> PostingWindow.SizeBits;

    /// <summary>The analyzers of the full-text fields.</summary>
    /// <exception cref="IndexSchemaException">A field names an analyzer that this searcher was not given.</exception>
    public FieldAnalyzers Analyzers => _analyzers ??= new FieldAnalyzers(Schema, AnalyzerSet);

    /// <summary>
    /// Opens the state that a transaction reads: takes a kept view or creates one. The owner of the transaction must return
    /// it with <see cref="Close"/>.
    /// </summary>
    public static IndexView Open(ReadTransaction transaction, AnalyzerSet analyzerSet, IndexSchema? known)
    {
        if (transaction.Derived<KeptViews>().Take(analyzerSet) is not { } kept)
            return new IndexView(transaction, analyzerSet, known);

        kept._transaction = transaction;
        kept.ResetReaders();
        return kept;
    }

    /// <summary>
    /// Keeps the view for the next reader of the same state, unless a query on it was not ended and may still be used.
    /// </summary>
    public void Close()
    {
        if (_running.Count == 0)
            _transaction.Derived<KeptViews>().Give(this);
    }

    /// <summary>
    /// Takes the temporary state for a query; return it with <see cref="Return"/>. One instance is kept for the next query,
    /// and others are created for queries that run at the same time.
    /// </summary>
    public QueryScratch RentScratch()
    {
        if (_running.Count == 0)
            ResetReaders(); // what they have kept of another query would not be counted for this one
        QueryScratch rented = _scratch ?? new QueryScratch();
        _scratch = null;
        _running.Add(rented);
        return rented;
    }

    public void Return(QueryScratch rented)
    {
        _running.Remove(rented);
        _scratch = rented;
    }

    /// <summary>
    /// Makes running queries forget page addresses, which may become invalid. They look the pages up again.
    /// </summary>
    public void ForgetPages()
    {
        foreach (QueryScratch rented in _running)
            rented.ForgetPages();
        ResetReaders();
    }

    private void ResetReaders()
    {
        _entries?.Reset();
        _stored?.Reset();
    }

    /// <summary>
    /// Announces the pages of a long list, so that the operating system reads them ahead, if it has several and was not
    /// announced before. Pages that a query did not need would otherwise be announced again each time, which takes longer
    /// than such a query. (If lists share a bit, all but the first are read page by page.)
    /// </summary>
    public void Announce(Tree postings, long listId, long entries)
    {
        ref ulong word = ref _announced[(int)((listId & (AnnouncedLists - 1)) >> 6)];
        if (entries < WindowImpacts.MinEntries || (word >> (int)listId & 1) != 0)
            return;
        word |= 1UL << (int)listId;
        Span<byte> from = stackalloc byte[PostingKey.Bytes], to = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(from, listId, 0);
        PostingKey.Write(to, listId, long.MaxValue);
        postings.Announce(from, to);
    }

    /// <summary>Reads the state. The page visits are not counted for the query that causes it.</summary>
    private void Read()
    {
        long before = _visits.Count;
        Tree? index = Tree(TreeNames.Index);
        _state = IndexState.Read(index); // read first, since it rejects other formats
        _schema = SchemaRecord.Read(index, _known) ?? new IndexSchema([]);
        _visitsOnce += _visits.Count - before;
    }

    /// <summary>Statistics of a field, read on first use. Immutable.</summary>
    public FieldStatistics Statistics(int field)
    {
        if (_statistics.Length == 0)
            _statistics = new FieldStatistics?[Schema.Fields.Count];
        return _statistics[field] ??= ReadStatistics(field);
    }

    private FieldStatistics ReadStatistics(int field)
    {
        long before = _visits.Count;
        var read = FieldStatistics.Read(Tree(TreeNames.Index), field);
        _visitsOnce += _visits.Count - before;
        return read;
    }

    /// <summary>The lengths of a full-text field.</summary>
    public ChunkPlaces Norms(int field)
    {
        while (_norms.Count <= field)
            _norms.Add(null);
        return _norms[field] ??= new ChunkPlaces(Tree(TreeNames.Norms(field)));
    }

    /// <summary>Returns the tree of a name, or null if nothing was ever stored in it.</summary>
    public Tree? Tree(string name)
    {
        if (!_trees.TryGetValue(name, out Tree? tree))
            _trees.Add(name, tree = _transaction.FindTree(name, _visits));
        return tree;
    }

    /// <summary>Returns the dictionary of a name, or null if nothing was ever stored in it.</summary>
    public TermTree? Dictionary(string name) => Of(name).Terms;

    /// <summary>Number of terms of a dictionary, read on first use.</summary>
    public long TermCount(string dictionary)
    {
        DictionaryTrees of = Of(dictionary);
        if (of.Count < 0)
        {
            long before = _visits.Count;
            of.Count = of.Terms?.Count ?? 0;
            _visitsOnce += _visits.Count - before;
        }

        return of.Count;
    }

    /// <summary>The first and the last term of a dictionary, read on first use; null if it has none.</summary>
    public (byte[] First, byte[] Last)? TermEnds(string dictionary)
    {
        DictionaryTrees of = Of(dictionary);
        if (of.Ends is null && of.Terms is not null)
        {
            long before = _visits.Count;
            using TermCursor cursor = of.Terms.OpenCursor();
            if (cursor.MoveFirst())
            {
                byte[] first = cursor.Key.ToArray();
                of.Ends = cursor.MoveLast() ? (first, cursor.Key.ToArray()) : null;
            }

            _visitsOnce += _visits.Count - before;
        }

        return of.Ends;
    }

    /// <summary>
    /// Whether the texts of a field are those of its numbers and are not stored: a field of whole values that never had a
    /// text, and whose numbers all have plain text forms, has no dictionary of texts. Texts are then looked up among the
    /// numbers, see <see cref="TryGetText"/> and <see cref="FieldTexts"/>.
    /// </summary>
    public bool HasNumbersAlone(int field) => TermCount(TreeNames.Terms(field)) == 0 && TermCount(TreeNames.Numbers(field)) > 0;

    /// <summary>Whether a field has numbers.</summary>
    public bool HasNumbers(int field) => TermCount(TreeNames.Numbers(field)) > 0;

    /// <summary>Name of the dictionary that holds the texts of a field, as texts or as numbers.</summary>
    public string TextDictionary(int field) => HasNumbersAlone(field) ? TreeNames.Numbers(field) : TreeNames.Terms(field);

    /// <summary>Number of distinct texts of a field, as texts or as numbers.</summary>
    public long TextCount(int field) => TermCount(TextDictionary(field));

    /// <summary>
    /// Whether some values of a field are so long that its dictionary holds them truncated, and so not fully in order.
    /// </summary>
    public bool HasLongTexts(int field) => Tree(TreeNames.LongTexts(field)) is { Count: > 0 };

    /// <summary>
    /// Returns the whole text of a stored form, which is the form itself unless it was truncated. A word of a full-text
    /// field, of which no more is stored, stays truncated. Valid as long as the form and the pages of the transaction.
    /// </summary>
    public ReadOnlySpan<byte> WholeText(int field, ReadOnlySpan<byte> form)
    {
        if (!TermForm.IsCut(form) || Tree(TreeNames.LongTexts(field)) is not { } texts)
            return form;

        return texts.TryGet(TermForm.HashOf(form), out ReadOnlySpan<byte> whole)
            ? whole
            : throw new CorruptionException($"The index tree '{TreeNames.LongTexts(field)}' misses a text that a term names. "
                + "Reset the index to build it again.");
    }

    /// <summary>Returns the list of all entries if it is a long list. Read on first use.</summary>
    public bool TryGetAll(out long listId)
    {
        if (_allEntries is not { } known)
        {
            long before = _visits.Count;
            Span<byte> key = stackalloc byte[ListKey.Bytes];
            known = TryGetTerm(TreeNames.Lists, ListKey.Write(key, -1, ListKind.All), out TermPayload payload)
                && payload.Kind == PostingKind.Long ? payload.ListId : -1;
            _allEntries = known;
            _visitsOnce += _visits.Count - before;
        }

        listId = known;
        return known >= 0;
    }

    /// <summary>Whether any entry has a field. Read on first use.</summary>
    public bool HasEntries(int field)
    {
        if (_hasEntries.Length == 0)
            _hasEntries = new bool?[Schema.Fields.Count];
        if (_hasEntries[field] is { } known)
            return known;

        long before = _visits.Count;
        Span<byte> key = stackalloc byte[ListKey.Bytes];
        bool found = TryGetTerm(TreeNames.Lists, ListKey.Write(key, field, ListKind.Exists), out TermPayload payload)
            && payload.EntryCount > 0;
        _hasEntries[field] = found;
        _visitsOnce += _visits.Count - before;
        return found;
    }

    /// <summary>Whether every entry has a field, and none a null in it. Read on first use.</summary>
    public bool HasValueAlways(int field)
    {
        if (_hasValueAlways.Length == 0)
            _hasValueAlways = new bool?[Schema.Fields.Count];
        if (_hasValueAlways[field] is { } known)
            return known;

        long before = _visits.Count;
        Span<byte> key = stackalloc byte[ListKey.Bytes];
        bool isAlways = TryGetTerm(TreeNames.Lists, ListKey.Write(key, field, ListKind.Exists), out TermPayload exists)
            && exists.EntryCount == State.EntryCount
            && !(TryGetTerm(TreeNames.Lists, ListKey.Write(key, field, ListKind.Null), out TermPayload nulls)
                && nulls.EntryCount > 0);
        _hasValueAlways[field] = isAlways;
        _visitsOnce += _visits.Count - before;
        return isAlways;
    }

    /// <summary>
    /// Returns the number of the compound key of two fields, or -1 if there is none that has all entries. Read on first use.
    /// </summary>
    public int Compound(int equal, int order, CompoundOrder kind)
    {
        if (_compounds is null)
        {
            long before = _visits.Count;
            _compounds = CompoundRecord.Read(Tree(TreeNames.Index));
            _visitsOnce += _visits.Count - before;
        }

        for (int i = 0; i < _compounds.Count; i++)
            if (_compounds[i].IsComplete
                && _compounds[i].Equal == equal
                && _compounds[i].Order == order
                && _compounds[i].Kind == kind)
                return i;

        return -1;
    }

    /// <summary>
    /// Returns the cursor over the tree of a compound key, as if it had just been opened; null if there is no such tree. It is
    /// kept with the view, and is for the walk that has asked last.
    /// </summary>
    public Cursor? OpenCompound(int number)
    {
        if (_compoundCursors[number] is { } kept)
            kept.Reset();
        else
            _compoundCursors[number] = Tree(TreeNames.Compound(number))?.OpenCursor();
        return _compoundCursors[number];
    }

    /// <summary>The segments of the long lists of a dictionary.</summary>
    public Tree? Postings(string dictionary)
    {
        DictionaryTrees of = Of(dictionary);
        return of.Postings ??= Tree(TreeNames.Postings(dictionary));
    }

    /// <summary>The positions of the long lists of a dictionary of words.</summary>
    public PositionPlaces? Positions(string dictionary)
    {
        DictionaryTrees of = Of(dictionary);
        return of.Positions ??= Tree(TreeNames.Positions(dictionary)) is { } tree ? new PositionPlaces(tree) : null;
    }

    /// <summary>The largest impacts of the longest lists of a dictionary of words.</summary>
    public Tree? Impacts(string dictionary)
    {
        DictionaryTrees of = Of(dictionary);
        return of.Impacts ??= Tree(TreeNames.Impacts(dictionary));
    }

    private DictionaryTrees Of(string dictionary)
    {
        if (!_dictionaries.TryGetValue(dictionary, out DictionaryTrees? of))
            _dictionaries.Add(dictionary, of = new DictionaryTrees(Tree(dictionary) is { } tree ? new TermTree(tree) : null));
        return of;
    }

    /// <summary>Returns the index of a field.</summary>
    /// <exception cref="UnknownFieldException">There is no field of that name.</exception>
    public int Field(string name)
    {
        int field = Schema.IndexOf(name);
        return field >= 0
            ? field
            : throw new UnknownFieldException(
                $"The index has no field '{name}'. Its fields are: "
                    + $"{string.Join(", ", Schema.Fields.Select(known => known.Name))}.");
    }

    /// <summary>Returns the entry with a key, or -1.</summary>
    public long Find(ReadOnlySpan<byte> key) =>
        key.Length is > 0 and <= IndexBatch.MaxKeyBytes
            && Dictionary(TreeNames.Keys) is { } keys
            && keys.TryGet(key, out ReadOnlySpan<byte> id) ? EntryKey.Read(id) : -1;

    /// <summary>Finds the entries that have a term.</summary>
    public bool TryGetTerm(string dictionary, scoped ReadOnlySpan<byte> term, out TermPayload payload)
    {
        if (Dictionary(dictionary) is { } terms && terms.TryGet(term, out ReadOnlySpan<byte> value))
        {
            payload = new TermPayload(value);
            return true;
        }

        payload = default;
        return false;
    }

    /// <summary>Finds the entries that have a text, given in its stored form, as a text or as a number.</summary>
    public bool TryGetText(int field, scoped ReadOnlySpan<byte> form, out TermPayload payload)
    {
        if (!HasNumbersAlone(field))
            return TryGetTerm(TreeNames.Terms(field), form, out payload);

        payload = default;
        Span<byte> key = stackalloc byte[NumberKey.Bytes];
        return NumberKey.TryParse(form, key) && TryGetTerm(TreeNames.Numbers(field), key, out payload);
    }

    /// <summary>
    /// The trees of a dictionary, looked up on first use. A missing tree is looked up again each time, which is rare.
    /// </summary>
    private sealed class DictionaryTrees(TermTree? terms)
    {
        public TermTree? Terms => terms;

        /// <summary>Number of terms; -1 if not read yet.</summary>
        public long Count { get; set; } = -1;

        public (byte[] First, byte[] Last)? Ends { get; set; }

        public Tree? Postings { get; set; }

        public PositionPlaces? Positions { get; set; }

        public Tree? Impacts { get; set; }
    }
}
