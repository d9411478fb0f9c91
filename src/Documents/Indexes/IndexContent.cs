using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Reducing;
using Treepie.Indexes.States;
using Treepie.Indexing;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>Inspects the contents of one index, to find out why documents match or do not match. Thread-safe.</summary>
public sealed class IndexContent
{
    /// <summary>The maximum number of terms returned by one call.</summary>
    public const int MaxTerms = 10_000;

    /// <summary>The maximum number of nodes that <see cref="GroupsOf"/> returns; a large node counts several times.</summary>
    private const int MaxPartialResults = 1_024;

    private readonly DocumentIndex _index;
    private readonly Func<DatabaseSnapshot>? _beginRead;
    private readonly TimeProvider _timeProvider;

    /// <param name="index">The index.</param>
    /// <param name="timeProvider">The clock.</param>
    /// <param name="beginRead">If given, documents that the index has not processed yet are included.</param>
    internal IndexContent(DocumentIndex index, TimeProvider timeProvider, Func<DatabaseSnapshot>? beginRead)
    {
        _index = index;
        _timeProvider = timeProvider;
        _beginRead = beginRead;
    }

    /// <summary>Returns terms of a field as stored in the index, in byte order.</summary>
    /// <param name="field">The field by its name in the definition, or an internal field: <c>Name</c>, <c>search(Name)</c>.
    /// If a field is indexed both as words and as whole values, <c>Name</c> refers to the values.</param>
    /// <param name="after">The term after which to start. Null: at the first.</param>
    /// <param name="count">The maximum number of terms to return; at most <see cref="MaxTerms"/> are.</param>
    /// <param name="etag">The etag up to which the terms are complete.</param>
    /// <exception cref="InvalidQueryException">The index has no such field.</exception>
    /// <exception cref="TimeoutException">A non-stale view was requested, but the index is too far behind, or the field is still
    /// being added to it.</exception>
    public IReadOnlyList<string> Terms(string field, string? after, int count, out long etag)
    {
        ArgumentNullException.ThrowIfNull(field);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        int most = Math.Min(count, MaxTerms);
        if (_index.Definition.Schema.IndexOf(field) < 0)
            field = _index.Definition.Resolve(new AutoIndexField(field))?.SchemaName ?? field;
        (IReadOnlyList<IndexTerm> terms, etag) = Look((searcher, tail, upTo) =>
        {
            if (tail is not null && searcher.Schema.IndexOf(field) >= 0 && !searcher.IsComplete(field))
                throw TooFarBehind();
            return (tail is null ? searcher.Terms(field, after, most) : searcher.Terms(field, after, most, tail), upTo);
        });
        return [.. terms.Select(term => term.Text)];
    }

    /// <summary>
    /// Returns the size of each structure of the index, largest first. Reads every page of the index once, so it should not be
    /// called frequently.
    /// </summary>
    public IReadOnlyList<IndexStructure> Structures(CancellationToken cancellationToken = default)
    {
        using IndexSearcher searcher = Open(_index);
        try
        {
            return [
                .. searcher.MeasureStructures(cancellationToken)
                    .Select(size => new IndexStructure(size.Structure, size.Field, size.SizeBytes, size.UsedBytes, size.Keys))];
        }
        finally
        {
            _index.Release();
        }
    }

    /// <summary>Returns what the index stores for a document; null if it stores nothing.</summary>
    /// <param name="id">The id of the document, case-insensitive.</param>
    /// <exception cref="TimeoutException">A non-stale view was requested, but the index is too far behind.</exception>
    public IReadOnlyList<IndexedValues>? Entry(string id)
    {
        ArgumentException.ThrowIfNullOrEmpty(id);
        byte[] key = new byte[DocumentId.MaxFoldedBytes];
        if (!DocumentId.TryFold(id, key, out int length))
            return null;
        IReadOnlyList<IndexEntryField>? fields = Look(
            (searcher, tail, _) => tail is null
                ? searcher.Entry(key.AsSpan(0, length))
                : searcher.Entry(key.AsSpan(0, length), tail));
        return fields is null
            ? null
            : [
                .. fields.Select(
                    field => new IndexedValues(field.Field, field.Terms, field.Numbers, field.HasNull)
                    {
                        Positions = field.Positions,
                        Places = field.Places,
                        Vectors = field.Vectors
                    })];
    }

    /// <summary>Returns the lowercase ids of the documents from which groups were built, in byte order.</summary>
    /// <param name="prefix">The prefix of the ids, case-insensitive.</param>
    /// <param name="after">The id after which to start. Null: at the first.</param>
    /// <param name="count">The maximum number of ids to return; at most <see cref="MaxTerms"/> are.</param>
    /// <exception cref="NotSupportedException">The entries of the index are not groups of documents.</exception>
    public IReadOnlyList<string> Sources(string prefix, string? after, int count)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (_index.Definition.Reduction is null || _index.Definition.Source != IndexSourceType.Documents)
            throw new NotSupportedException($"The entries of the index '{_index.Name}' are no groups of documents.");
        byte[] first = CollectionName.Fold(prefix);
        byte[] from = after is null ? first : [.. CollectionName.Fold(after), 0];
        var ids = new List<string>();
        if (!_index.TryHold())
            throw new IndexNotFoundException(_index.Name);
        try
        {
            using ReadTransaction read = _index.Store.BeginRead();
            using Cursor? cursor = read.FindTree(ReduceState.SourcesName)?.OpenCursor();
            if (cursor is null)
                return ids;
            bool isMore = cursor.Seek(first.AsSpan().SequenceCompareTo(from) > 0 ? first : from);
            for (; isMore && ids.Count < Math.Min(count, MaxTerms) && cursor.Key.StartsWith(first); isMore = cursor.MoveNext())
                if (cursor.Value.Length > 1) // it has groups
                    ids.Add(Encoding.UTF8.GetString(cursor.Key));
            return ids;
        }
        finally
        {
            _index.Release();
        }
    }

    /// <summary>Returns the groups that contain results of a document, with their trees of partial results.</summary>
    /// <param name="id">The id of the document, case-insensitive.</param>
    /// <exception cref="NotSupportedException">The entries of the index are not groups of documents.</exception>
    public IReadOnlyList<ReducedGroup> GroupsOf(string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        if (_index.Definition.Reduction is not { } reduction || _index.Definition.Source != IndexSourceType.Documents)
            throw new NotSupportedException($"The entries of the index '{_index.Name}' are no groups of documents.");
        IndexSearcher searcher = Open(_index);
        try
        {
            using (searcher)
                return GroupsOfFolded(
                    CollectionName.Fold(id), ReduceState.Over(searcher.FindTree), reduction);
        }
        finally
        {
            _index.Release();
        }
    }

    private static List<ReducedGroup> GroupsOfFolded(byte[] foldedId, ReduceState state, Reduction reduction)
    {
        var tree = new GroupTree(state, reduction.Reduce, new ReduceCounters());
        var groups = new List<ReducedGroup>();
        int most = MaxPartialResults;
        foreach (byte[] group in Reducer.Sources(state, ResultWriter.KeyOf(foldedId)).Groups.DistinctBy(Convert.ToHexString))
        {
            if (most <= 0)
            {
                groups[^1] = groups[^1] with { IsCut = true }; // the first group is always described
                break;
            }

            PartialResult root = tree.Describe(group, ref most);
            groups.Add(new ReducedGroup(Reducer.Label(group), root, IsCut: most < 0));
        }

        return groups;
    }

    /// <summary>Inspects one view of the index, including documents that it has not processed yet if requested.</summary>
    private T Look<T>(Func<IndexSearcher, IndexTail?, long, T> look)
    {
        IndexSearcher searcher = Open(_index);
        try
        {
            using (searcher)
            {
                if (_beginRead is null)
                    return look(searcher, null, searcher.LastEtag);
                // Opened after the view, so it contains everything the index has processed.
                using DatabaseSnapshot snapshot = _beginRead();
                using IndexTail tail = _index.TryBuildTail(searcher, snapshot, _timeProvider, out _, CancellationToken.None)
                    ?? throw TooFarBehind();
                return look(searcher, tail, snapshot.LastEtag);
            }
        }
        catch (UnknownFieldException error)
        {
            throw new InvalidQueryException(error.Message);
        }
        finally
        {
            _index.Release();
        }
    }

    private TimeoutException TooFarBehind() => new(
        $"The index '{_index.Name}' is more than {DocumentIndex.MaxTailChanges:N0} changes behind or being built, which is too "
            + $"much to index within a query (neverStale). Ask again, or ask without it.");

    /// <summary>Holds the index and opens it; the caller must release it.</summary>
    private static IndexSearcher Open(DocumentIndex index)
    {
        if (!index.TryHold())
            throw new IndexNotFoundException(index.Name);
        try
        {
            return index.OpenSearcher();
        }
        catch
        {
            index.Release();
            throw;
        }
    }
}

/// <summary>What an index stores for one field of one document.</summary>
/// <param name="Field">The field.</param>
/// <param name="Terms">The terms; numbers are included as text.</param>
/// <param name="Numbers">The numbers.</param>
/// <param name="HasNull">Whether an explicit null is indexed.</param>
public sealed record IndexedValues(string Field, IReadOnlyList<string> Terms, IReadOnlyList<double> Numbers, bool HasNull)
{
    /// <summary>
    /// For full-text fields, the positions of each term, starting at 0, ascending; one list per term. Empty for other fields.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<int>> Positions { get; init; } = [];

    /// <summary>For spatial fields, the points and shapes as WKT, as stored in the index (points rounded to 7
    /// decimals).</summary>
    public IReadOnlyList<string> Places { get; init; } = [];

    /// <summary>
    /// For vector fields, the vectors as stored in the index. Quantized vectors, with one byte per number, are returned as the
    /// values they represent.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<float>> Vectors { get; init; } = [];
}

/// <summary>The size of one structure of an index.</summary>
/// <param name="Name">The name of the structure: <c>terms</c>, <c>terms.postings</c>, <c>terms.positions</c>, <c>numbers</c>,
/// <c>sort</c>, <c>entries</c>, <c>keys</c>, …</param>
/// <param name="Field">The field it belongs to; null if it belongs to none.</param>
/// <param name="SizeBytes">The size in the file, in bytes.</param>
/// <param name="UsedBytes">The part of it that is in use, in bytes.</param>
/// <param name="Keys">The number of keys: terms, blocks or chunks.</param>
public sealed record IndexStructure(string Name, string? Field, long SizeBytes, long UsedBytes, long Keys);
