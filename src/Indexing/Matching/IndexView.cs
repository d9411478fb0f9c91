using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching;

/// <summary>An index in one snapshot: its state, and its trees, each looked up when first asked for. One thread at a time.</summary>
internal sealed class IndexView
{
    private readonly ReadTransaction transaction;
    private readonly AnalyzerSet analyzerSet;
    private FieldAnalyzers? analyzers;
    private EntryReader? entries;
    private readonly Dictionary<string, Tree?> trees = new(StringComparer.Ordinal);
    private readonly Dictionary<string, TermTree?> dictionaries = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Tree?> postings = new(StringComparer.Ordinal);
    private FieldStatistics?[] statistics = [];
    private long visitsOnce;

    public IndexView(ReadTransaction transaction, AnalyzerSet analyzerSet, IndexSchema? known = null)
    {
        this.transaction = transaction;
        this.analyzerSet = analyzerSet;
        Tree? index = Tree(TreeNames.Index);
        State = IndexState.Read(index); // first, as it refuses other formats
        Schema = SchemaRecord.Read(index, known) ?? new IndexSchema([]);
    }

    public IndexSchema Schema { get; }

    /// <summary>The records of its entries.</summary>
    public EntryReader Entries => entries ??= new EntryReader(Tree);

    /// <summary>Pages entered so far, see <see cref="ReadTransaction.PageVisits"/>; those of what is read once and kept left out, so that every query on a view has the same count.</summary>
    public long PageVisits => transaction.PageVisits - visitsOnce;

    public IndexState State { get; }

    /// <summary>Windows from the first entry to the last that was ever added.</summary>
    public long WindowCount => (State.NextEntryId + PostingWindow.Size - 1) >> PostingWindow.SizeBits;

    /// <summary>The analyzers of its full-text fields.</summary>
    /// <exception cref="IndexSchemaException">A field names one that this searcher was not given.</exception>
    public FieldAnalyzers Analyzers => analyzers ??= new FieldAnalyzers(Schema, analyzerSet);

    /// <summary>Sums over a field, read when first asked for. Nobody changes them.</summary>
    public FieldStatistics Statistics(int field)
    {
        if (statistics.Length == 0)
            statistics = new FieldStatistics?[Schema.Fields.Count];
        return statistics[field] ??= ReadStatistics(field);
    }

    private FieldStatistics ReadStatistics(int field)
    {
        long before = transaction.PageVisits;
        var read = FieldStatistics.Read(Tree(TreeNames.Index), field);
        visitsOnce += transaction.PageVisits - before;
        return read;
    }

    /// <summary>The tree of that name; null if nothing was ever put into it.</summary>
    public Tree? Tree(string name)
    {
        if (!trees.TryGetValue(name, out Tree? tree))
            trees.Add(name, tree = transaction.FindTree(name));
        return tree;
    }

    /// <summary>The dictionary of that name; null if nothing was ever put into it.</summary>
    public TermTree? Dictionary(string name)
    {
        if (!dictionaries.TryGetValue(name, out TermTree? dictionary))
            dictionaries.Add(name, dictionary = transaction.FindTree(name) is { } tree ? new TermTree(tree) : null);
        return dictionary;
    }

    /// <summary>The segments of the long lists of a dictionary.</summary>
    public Tree? Postings(string dictionary)
    {
        if (!postings.TryGetValue(dictionary, out Tree? tree))
            postings.Add(dictionary, tree = transaction.FindTree(TreeNames.Postings(dictionary)));
        return tree;
    }

    /// <summary>Position of a field.</summary>
    /// <exception cref="UnknownFieldException">There is none of that name.</exception>
    public int Field(string name)
    {
        int field = Schema.IndexOf(name);
        return field >= 0
            ? field
            : throw new UnknownFieldException(
                $"The index has no field '{name}'. Its fields are: {string.Join(", ", Schema.Fields.Select(known => known.Name))}.");
    }

    /// <summary>The entry of a key; -1 if there is none.</summary>
    public long Find(ReadOnlySpan<byte> key) =>
        key.Length is > 0 and <= IndexBatch.MaxKeyBytes && Dictionary(TreeNames.Keys) is { } keys && keys.TryGet(key, out ReadOnlySpan<byte> id) ? EntryKey.Read(id) : -1;

    /// <summary>Entries that have the term.</summary>
    public bool TryGetTerm(string dictionary, ReadOnlySpan<byte> term, out TermPayload payload)
    {
        if (Dictionary(dictionary) is { } terms && terms.TryGet(term, out ReadOnlySpan<byte> value))
        {
            payload = new TermPayload(value);
            return true;
        }

        payload = default;
        return false;
    }
}
